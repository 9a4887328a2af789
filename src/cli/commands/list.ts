import type { Command } from "commander";
import { ageWords } from "../views/age.ts";
import { describeServer, noServersText } from "../views/server.ts";
import { hanging, json, painter, safe, table } from "../terminal/print.ts";
import { exitCodeOfMistakes, reportDiagnostics } from "../terminal/report.ts";
import { headOf } from "../../lib/text-head.ts";
import { withSameConfig } from "../terminal/same-config.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { cutText } from "../terminal/text-width.ts";
import { verb, withWorkspace } from "../verb.ts";
import type { CommonOptions } from "../verb.ts";
import type { Workspace } from "../../config.ts";
import type { LoadedConfig } from "../../index.ts";

export function command(terminal: Terminal): Command {
  return verb(
    "list",
    "List the configured servers, and how each failed the last time, without starting them.",
    ["list", "list --json"],
  ).action(async (options: CommonOptions) =>
    withWorkspace(terminal, options, async (workspace) =>
      list(await workspace.load({ secrets: true }), workspace, options, terminal),
    ),
  );
}

async function list(
  config: LoadedConfig,
  workspace: Workspace,
  options: CommonOptions,
  terminal: Terminal,
): Promise<void> {
  const servers = [...config.servers.values()];
  const failures = await workspace.failures.list(config);
  terminal.exitCode = exitCodeOfMistakes(config.diagnostics);
  if (options.json) {
    const described = servers.map((entry) => {
      const lastFailure = failures.get(entry.name);
      return { ...describeServer(entry), ...(lastFailure && { lastFailure }) };
    });
    terminal.out(json({ servers: described, diagnostics: config.diagnostics }));
    return;
  }
  reportDiagnostics(config.diagnostics, terminal, options.config);
  if (servers.length === 0) {
    // A file that cannot be read may well have some.
    if (exitCodeOfMistakes(config.diagnostics) === 0) terminal.out(noServersText);
    return;
  }
  const paint = painter(terminal);
  // A URL can look like that of another host, so the host has a line of its own, before the URL.
  const rows = servers.flatMap((entry) => {
    const { state, type, host, target } = describeServer(entry);
    const row = [entry.name, state, type, entry.origin.scope];
    return host === undefined
      ? [[...row, target]]
      : [
          [...row, host],
          ["", "", "", "", target],
        ];
  });
  const header = ["NAME", "STATE", "TYPE", "SCOPE", "TARGET"];
  const fixed = [0, 1, 2, 3].reduce(
    (sum, column) => sum + Math.max(...[header, ...rows].map((row) => row[column]?.length ?? 0)) + 2,
    0,
  );
  const beside = terminal.isScreen ? terminal.columns - fixed : Infinity;
  // With little room, the target gets a line of its own.
  const isNarrow = beside < 20;
  const room = isNarrow ? terminal.columns - 3 : beside;
  for (const row of rows) row[4] = cutText(safe(row[4] ?? ""), room);
  const style = (row: number, column: number) => {
    const [name, state] = rows[row] ?? [];
    if (name === "") return "dim" as const;
    if (column !== 1) return undefined;
    // Nothing was connected, so nothing is known to be well.
    return state === "ready" && !failures.has(name ?? "") ? undefined : ("yellow" as const);
  };
  if (!isNarrow) terminal.out(table(header, rows, paint, style));
  else {
    const cut = table(
      header.slice(0, 4),
      rows.map((row) => row.slice(0, 4)),
      paint,
      style,
    );
    const [head = "", ...lines] = cut.trimEnd().split("\n");
    const both = rows.flatMap(([name, , , , target = ""], row) => [
      ...(name === "" ? [] : [lines[row] ?? ""]),
      paint("dim", `  ${target}`),
    ]);
    terminal.out(`${[head, ...both].join("\n")}\n`);
  }
  const notes = servers.flatMap(({ name, status }) => {
    if (status.kind === "disabled" && status.reason !== "off")
      return [`${name}: ${status.message}. ${withSameConfig(status.hint, options.config)}`];
    const failure = failures.get(name);
    if (!failure) return [];
    return [
      `${name}: failed ${ageWords(Date.now() - failure.at)}. ${headOf(failure.message, longestMessage)}`,
    ];
  });
  for (const note of notes) terminal.out(paint("dim", `\n${hanging(safe(note), 2, terminal)}`));
  if (notes.length > 0) terminal.out("\n");
  if (failures.size > 0)
    terminal.out(
      paint("dim", `\n${hanging(withSameConfig(triedWords, options.config), 0, terminal)}`) + "\n",
    );
}

/** `status` and `--json` have the whole. */
const longestMessage = 200;
const triedWords = "Run `plugboard status` to try them again.";
