import type { Workspace } from "../config.ts";
import type { LoadedConfig } from "../index.ts";
import { drawWhile } from "./terminal/live-area.ts";
import type { Terminal } from "./terminal/terminal.ts";
import { connectionFindings } from "./views/connection-findings.ts";
import type { Finding } from "./views/finding.ts";
import { StatusBoard, exitCodeOf } from "./views/status/board.ts";
import { LiveTable } from "./views/status/live.ts";
import { withHub } from "./with-hub.ts";

/** Connects to the servers once, shows how that goes on unless `isQuiet`, and says what was found. */
export function connectServers(
  workspace: Workspace,
  config: LoadedConfig,
  { isQuiet }: { isQuiet: boolean },
  terminal: Terminal,
): Promise<{ findings: Finding[]; exitCode: number; withheld: string[] }> {
  return withHub(terminal, { config, tolerant: true, isFresh: true }, workspace, async (hub, signal) => {
    const board = new StatusBoard(hub, { keepsTrying: false });
    const live = new LiveTable();
    const frame = () => {
      const entry = (name: string) => board.entry(name);
      const view = { rows: board.rows(), entry, width: terminal.columns - 1, now: Date.now() };
      return live.lines(view, terminal.rows - 1);
    };
    if (isQuiet) await board.connect();
    else
      await drawWhile(terminal, { frame, signal, keep: false }, (redraw) => {
        board.onChange = redraw;
        return board.connect();
      });
    const rows = board.rows();
    const findings = rows.flatMap((row) => connectionFindings(row, board.entry(row.name)));
    const withheld = rows.flatMap(({ error }) => namesIn(error?.data?.["withheld"]));
    return { findings, exitCode: exitCodeOf(rows), withheld };
  });
}

function namesIn(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((name) => typeof name === "string") : [];
}
