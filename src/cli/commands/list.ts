import type { Command } from "commander";
import { describeServer, stateWord, noServersText } from "../views/server.ts";
import { json, painter, table } from "../terminal/print.ts";
import { reportDiagnostics } from "../terminal/report.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { cutText } from "../terminal/text-width.ts";
import { verb, withWorkspace } from "../verb.ts";
import type { CommonOptions } from "../verb.ts";
import type { LoadedConfig } from "../../index.ts";
import { printable } from "../../lib/printable.ts";

export function command(terminal: Terminal): Command {
  return verb("list", "List the configured servers without starting them.", ["list", "list --json"]).action(
    async (options: CommonOptions) =>
      withWorkspace(terminal, options, async (workspace) => list(await workspace.load(), options, terminal)),
  );
}

function list(config: LoadedConfig, options: CommonOptions, terminal: Terminal): void {
  const servers = [...config.servers.values()];
  if (options.json) {
    terminal.out(json({ servers: servers.map(describeServer), diagnostics: config.diagnostics }));
    return;
  }
  reportDiagnostics(config.diagnostics, terminal);
  if (servers.length === 0) {
    terminal.out(noServersText);
    return;
  }
  const paint = painter(terminal);
  const rows = servers.map((entry) => {
    const { type, target } = describeServer(entry);
    return [entry.name, stateWord(entry), type, entry.origin.scope, target];
  });
  const fixed = [0, 1, 2, 3].reduce(
    (sum, column) => sum + Math.max(...rows.map((row) => row[column]?.length ?? 0)) + 2,
    0,
  );
  const room = terminal.colors.out ? Math.max(20, terminal.columns - fixed) : Infinity;
  for (const row of rows) row[4] = cutText(printable(row[4] ?? "", { oneLine: true }), room);
  const style = (row: number, column: number) => {
    if (column !== 1) return undefined;
    return rows[row]?.[1] === "ready" ? ("green" as const) : ("yellow" as const);
  };
  terminal.out(table(["NAME", "STATE", "TYPE", "SCOPE", "TARGET"], rows, paint, style));
  for (const { name, status } of servers) {
    if (status.kind === "disabled" && status.reason !== "config") {
      terminal.out(
        paint(
          "dim",
          `\n${printable(name, { oneLine: true })}: ${printable(status.message)}. ${printable(status.hint)}`,
        ),
      );
    }
  }
  if (servers.some(({ status }) => status.kind === "disabled" && status.reason !== "config"))
    terminal.out("\n");
}
