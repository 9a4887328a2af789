import { watchConfig } from "../../../config.ts";
import type { Workspace } from "../../../config.ts";
import type { Hub, LoadedConfig, PlugboardEvent } from "../../../index.ts";
import { findingLines } from "../finding.ts";
import { drawWhile } from "../../terminal/live-area.ts";
import type { Line } from "../../terminal/live-area.ts";
import { onlyServers, withHub } from "../../with-hub.ts";
import { noServersText } from "../server.ts";
import { jsonLine, painter, safe } from "../../terminal/print.ts";
import { wrapText } from "../../terminal/text-width.ts";
import type { ServerOptions } from "../../server-verb.ts";
import { StatusBoard } from "./board.ts";
import type { StatusRow } from "./board.ts";
import { statusLines, summaryLine } from "./lines.ts";
import { describeRow } from "./words.ts";
import { whenAborted } from "../../terminal/signals.ts";
import type { Terminal } from "../../terminal/terminal.ts";

/** Keeps all connections open and shows every change to the servers and the configuration until interrupted. */
export async function watchStatus(
  workspace: Workspace,
  config: LoadedConfig,
  names: readonly string[],
  options: ServerOptions,
  terminal: Terminal,
): Promise<void> {
  const shown = (whole: LoadedConfig) => onlyServers(whole, names);
  const use = {
    config: shown(config),
    eager: true,
    tolerant: true,
    profile: options.profile,
    insight: options,
  };
  await withHub(terminal, use, workspace, async (hub, signal) => {
    const board = new StatusBoard(hub, { keepsTrying: true });
    const show = options.json ? jsonLines : terminal.isLive ? liveTable : changeLines;
    await show({ hub, board, terminal, signal }, async (onProblem) => {
      let reloading = Promise.resolve();
      const watch = await watchConfig(workspace, {
        current: config,
        onChange: (changed) => {
          reloading = reloading.then(() => board.reload(shown(changed)));
        },
        onProblem,
      });
      void board.connect();
      await whenAborted(signal);
      await watch.close();
      await reloading.catch(() => undefined);
    });
  });
}

interface Show {
  hub: Hub;
  board: StatusBoard;
  terminal: Terminal;
  signal: AbortSignal;
}

type Run = (onProblem: (message: string | undefined) => void) => Promise<void>;

async function liveTable({ board, terminal, signal }: Show, run: Run): Promise<void> {
  let problem: string | undefined;
  const frame = (): Line[] => {
    const rows = board.rows();
    const width = terminal.columns - 1;
    const entry = (name: string) => board.entry(name);
    const lines =
      rows.length === 0 ? textLines(noServersText) : statusLines({ rows, entry, width, now: Date.now() });
    const warning = problem === undefined ? [] : [[], ...findingLines(invalidConfigFinding(problem), width)];
    const footer = `${rows.length === 0 ? "" : `${summaryLine(rows)} `}Press Ctrl-C to exit.`;
    const wrapped = wrapText(footer, Math.max(20, width)).map((text): Line => [{ text, style: "dim" }]);
    return [...lines, ...warning, [], ...wrapped];
  };
  await drawWhile(terminal, { frame, signal, keep: true }, (redraw) => {
    board.onChange = redraw;
    return run((message) => {
      problem = message;
      redraw();
    });
  });
}

function invalidConfigFinding(message: string) {
  return {
    level: "problem" as const,
    about: "configuration",
    message: `${message}. The previous configuration stays in use.`,
  };
}

/** Writes a line for every change of a server that is worth one. Returns how to write what is known already. */
export function followChanges(
  hub: Hub,
  board: StatusBoard,
  write: (line: string) => void,
  isWorthALine: (row: StatusRow) => boolean = () => true,
): () => void {
  const printed = new Map<string, string>();
  const say = () => {
    const rows = board.rows();
    for (const row of rows) {
      const isComplete = row.state !== "ready" && (row.state !== "connected" || row.toolCount !== undefined);
      const line = describeRow(row);
      if (!isComplete || printed.get(row.name) === line || !isWorthALine(row)) continue;
      printed.set(row.name, line);
      write(line);
    }
  };
  board.onChange = say;
  hub.on("config-changed", ({ removed }) => {
    for (const name of removed) {
      printed.delete(name);
      write(`${safe(name)}  removed`);
    }
    // One that may not be used any more has no connection that could say so.
    say();
  });
  return say;
}

async function changeLines({ hub, board, terminal }: Show, run: Run): Promise<void> {
  const say = followChanges(hub, board, (line) => terminal.out(`${time()}  ${line}\n`));
  if (board.rows().length === 0) terminal.out(noServersText);
  say();
  const paint = painter(terminal, "err");
  await run((message) => {
    if (message !== undefined)
      terminal.err(`${paint("yellow", "warning:")} ${safe(invalidConfigFinding(message).message)}\n`);
  });
}

async function jsonLines({ hub, board, terminal }: Show, run: Run): Promise<void> {
  const line = (value: object) => terminal.out(jsonLine(value));
  const types = ["config-changed", "connection-changed", "catalog-changed", "server-log"] as const;
  const counted = new Map<string, number>();
  board.onChange = () => {
    for (const { name, toolCount } of board.rows()) {
      if (toolCount === undefined) counted.delete(name);
      else if (counted.get(name) !== toolCount) {
        counted.set(name, toolCount);
        line({ type: "status", at: Date.now(), servers: board.rows().filter((row) => row.name === name) });
      }
    }
  };
  for (const type of types) hub.on(type, (event: PlugboardEvent) => line(event));
  line({ type: "status", at: Date.now(), servers: board.rows() });
  await run((problem) => {
    const nothing = { added: [], removed: [], changed: [] };
    if (problem !== undefined) line({ type: "config-changed", ...nothing, problem, at: Date.now() });
  });
}

function textLines(text: string): Line[] {
  return text
    .trimEnd()
    .split("\n")
    .map((line) => [{ text: line }]);
}

function time(): string {
  return new Date().toTimeString().slice(0, 8);
}
