import type { Command } from "commander";
import { PlugboardError } from "../../index.ts";
import { startDeadline } from "../../lib/deadline.ts";
import { profileOption } from "../arguments/profile.ts";
import type { ProfileOptions } from "../arguments/profile.ts";
import { insightOptions } from "../insight.ts";
import type { InsightOptions } from "../insight.ts";
import { checkTools, worstExitCode } from "../readiness.ts";
import type { Readiness } from "../readiness.ts";
import { json, painter, safe, hanging } from "../terminal/print.ts";
import type { Style } from "../terminal/print.ts";
import { reportDiagnostics } from "../terminal/report.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { spinWhile } from "../terminal/waiting.ts";
import { verb, withWorkspace } from "../verb.ts";
import { onlyServers, withHub } from "../with-hub.ts";

interface CheckOptions extends ProfileOptions, InsightOptions {
  wait?: string;
}

/** No server may take longer to start than this. */
const longestWait = 86_400;

export function command(terminal: Terminal): Command {
  const created = verb(
    "check",
    "Connect and tell a script whether tools can be called. Exit codes: 0 all are ready, 8 wait and try again, 7 blocked until somebody does something, 4 unknown. The worst one counts.",
    ["check issues.search files.read_file", "check issues.search --wait 5 --json"],
  );
  return insightOptions(created)
    .argument("<tools...>", "tools, by their ids or as server.tool")
    .option("--wait <seconds>", "how long to wait for servers that start (default: as long as they may take)")
    .addOption(profileOption())
    .action(async (tools: string[], options: CheckOptions) => {
      const waitMs = readSeconds(options.wait);
      await withWorkspace(terminal, options, async (workspace) => {
        const config = await workspace.load();
        if (!options.json) reportDiagnostics(config.diagnostics, terminal, options.config);
        const { profile } = options;
        const use = {
          config: onlyServers(config, []),
          tolerant: true,
          isFresh: true,
          profile,
          insight: options,
        };
        await withHub(terminal, use, workspace, async (hub, signal) => {
          using over = startDeadline(waitMs);
          const patience = AbortSignal.any([signal, over.signal]);
          const checked = await spinWhile(
            terminal,
            () => ({ words: `checking ${tools.join(", ")}` }),
            () => checkTools(hub, tools, patience),
          );
          signal.throwIfAborted();
          terminal.exitCode = worstExitCode(checked);
          if (options.json) return terminal.out(json({ ready: terminal.exitCode === 0, tools: checked }));
          for (const one of checked) terminal.out(lineOf(one, tools, terminal));
        });
      });
    });
}

const styles: Record<Readiness["state"], Style> = {
  ready: "green",
  wait: "yellow",
  blocked: "red",
  unknown: "red",
};

function lineOf(
  { tool, state, reason, hint }: Readiness,
  all: readonly string[],
  terminal: Terminal,
): string {
  const paint = painter(terminal);
  const width = Math.max(...all.map((one) => safe(one).length));
  const indent = 11 + width;
  const why = hanging(safe(reason), indent, terminal);
  const advice =
    state === "ready" || hint === undefined ? "" : `→ ${hanging(safe(hint), indent + 2, terminal)}`;
  const row = `${paint(styles[state], state.padEnd(7))}  ${safe(tool).padEnd(width)}  ${why}\n`;
  if (advice === "") return row;
  // A line for each, for programs that read it.
  return terminal.isScreen
    ? `${row}${" ".repeat(indent)}${paint("dim", advice)}\n`
    : `${row.trimEnd()}  ${paint("dim", advice)}\n`;
}

function readSeconds(text: string | undefined): number {
  if (text === undefined) return longestWait * 1_000;
  const seconds = Number(text);
  if (text.trim() !== "" && seconds >= 0 && seconds <= longestWait) return seconds * 1_000;
  throw new PlugboardError(
    "usage-invalid",
    `--wait must be a number of seconds from 0 to ${longestWait.toLocaleString("en")}, not ${JSON.stringify(text)}.`,
  );
}
