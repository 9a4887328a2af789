import type { Command } from "commander";
import { serverStates } from "../../host.ts";
import { PlugboardError } from "../../index.ts";
import type { Workspace } from "../../config.ts";
import type { LoadedConfig } from "../../index.ts";
import { drawWhile, printLines } from "../terminal/live-area.ts";
import { noServersText } from "../views/server.ts";
import { hanging, json, screenWidth } from "../terminal/print.ts";
import { exitCodeOfMistakes, reportDiagnostics } from "../terminal/report.ts";
import { StatusBoard, exitCodeOf } from "../views/status/board.ts";
import { statusLines, summaryLine } from "../views/status/lines.ts";
import { LiveTable } from "../views/status/live.ts";
import { warmOf, warmText } from "../views/warm.ts";
import { watchStatus } from "../views/status/watch.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { oneOffServer } from "../one-off.ts";
import { serverVerb } from "../server-verb.ts";
import type { ServerOptions } from "../server-verb.ts";
import { withWorkspace } from "../verb.ts";
import { loadForUse, onlyServers, withHub } from "../with-hub.ts";

const statesHelp = `\nStates:\n${Object.entries(serverStates)
  .map(([name, meaning]) => `  ${name.padEnd(20)} ${meaning}`)
  .join("\n")}`;

interface StatusOptions extends ServerOptions {
  watch?: boolean;
}

export function command(terminal: Terminal): Command {
  return serverVerb(
    "status",
    "Connect to the servers and show each one's state, protocol, version, tools and start time, or why it failed and what to do.",
    [
      "status",
      "status files issues",
      "status issues --profile work",
      "status --watch",
      "status --json",
      "status --url https://issues.example/mcp",
    ],
  )
    .argument("[names...]", "the servers to show (default: all)")
    .option("-w, --watch", "stay connected and show every change until Ctrl-C")
    .addHelpText("after", statesHelp)
    .action(async (names: string[], options: StatusOptions) =>
      withWorkspace(terminal, options, async (workspace) => {
        // A watch goes on when a secret is set, so it finds out by connecting.
        const config = await loadForUse(workspace, options, { secrets: !options.watch });
        for (const name of names) workspace.require(config, name);
        if (!options.json) reportDiagnostics(config.diagnostics, terminal, options.config);
        if (options.watch && oneOffServer(options))
          throw new PlugboardError(
            "usage-invalid",
            "--watch follows the configuration: remove --command or --url.",
          );
        if (options.watch) return watchStatus(workspace, config, names, options, terminal);
        await showStatus(workspace, onlyServers(config, names), options, terminal);
      }),
    );
}

async function showStatus(
  workspace: Workspace,
  config: LoadedConfig,
  options: StatusOptions,
  terminal: Terminal,
): Promise<void> {
  // Those of servers are in their rows.
  const mistakes = config.diagnostics.filter(
    ({ server, severity }) => server === undefined && severity === "error",
  );
  terminal.exitCode = exitCodeOfMistakes(mistakes);
  if (config.servers.size === 0 && !options.json) return terminal.out(noServersText);
  const { profile } = options;
  const warm = await warmOf(config, workspace);
  const use = { config, tolerant: true, isFresh: true, profile, insight: options };
  await withHub(terminal, use, workspace, async (hub, signal) => {
    const board = new StatusBoard(hub, { keepsTrying: false });
    const view = () => ({
      rows: board.rows(),
      entry: (name: string) => board.entry(name),
      width: screenWidth(terminal),
      now: Date.now(),
      config: options.config,
    });
    if (options.json) await board.connect();
    else {
      const table = new LiveTable();
      const frame = () => table.lines(view(), terminal.rows - 1);
      await drawWhile(terminal, { frame, signal, keep: false }, (redraw) => {
        board.onChange = redraw;
        return board.connect();
      });
    }
    signal.throwIfAborted();
    const rows = board.rows();
    terminal.exitCode = exitCodeOf(rows) || terminal.exitCode;
    if (options.json) {
      const why = mistakes.length > 0 && { diagnostics: mistakes };
      return terminal.out(json({ healthy: terminal.exitCode === 0, servers: rows, warm, ...why }));
    }
    terminal.out(
      `${printLines(statusLines(view()), terminal)}\n${hanging(summaryLine(rows), 0, terminal)}\n${warmText(warm, Date.now())}`,
    );
  });
}
