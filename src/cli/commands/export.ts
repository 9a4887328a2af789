import type { Command } from "commander";
import { exportServers, formatById, formats } from "../../config.ts";
import { PlugboardError } from "../../index.ts";
import type { Workspace } from "../../config.ts";
import type { LoadedConfig } from "../../index.ts";
import { shellWord } from "../../lib/argv.ts";
import { json, painter, safe } from "../terminal/print.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { reportUpdate, updateClients } from "../update-clients.ts";
import type { UpdateOptions } from "../update-clients.ts";
import { clientScopeOption, collect, verb, withWorkspace } from "../verb.ts";
import type { CommonOptions } from "../verb.ts";
import { comparisonJson, comparisonView } from "../views/client-comparison.ts";

interface ExportOptions extends CommonOptions, UpdateOptions {
  server?: string[];
  write?: boolean;
  scope?: "user" | "project";
}

export function command(terminal: Terminal): Command {
  const writable = formats.filter(({ write }) => write).map(({ id }) => id);
  return verb(
    "export",
    "Print the servers in another client's format, or add them to the client's own file with --write. Reports on stderr what that format cannot express. Never exports a secret's value.",
    ["export codex", "export codex --write", "export cursor --server files --write --scope project"],
  )
    .argument("<client>", `one of ${writable.join(", ")}`)
    .option("--server <name>", "only this server (repeatable)", collect)
    .option(
      "-w, --write",
      "merge them into the client's file, which keeps everything else; shows the changes and asks",
    )
    .addOption(
      clientScopeOption("with --write: the client's file for you or for this project (default: user)"),
    )
    .option("-n, --dry-run", "with --write: only show what would change")
    .option("-y, --yes", "with --write: write without asking")
    .action(async (client: string, options: ExportOptions) =>
      withWorkspace(terminal, options, async (workspace) =>
        options.write
          ? write(client, workspace, options, terminal)
          : print(client, workspace, options, terminal),
      ),
    );
}

async function write(client: string, workspace: Workspace, options: ExportOptions, terminal: Terminal) {
  const format = formatById(client);
  const comparison = await workspace.compareClient(format, options.scope ?? "user", options.server);
  if (comparison.problem !== undefined) {
    throw new PlugboardError(
      "config-unreadable",
      `${comparison.file} cannot be edited: ${comparison.problem}.`,
      {
        data: { file: comparison.file },
      },
    );
  }
  if (!options.json) terminal.out(comparisonView(comparison, terminal));
  const updated = await updateClients([comparison], workspace, options, terminal);
  if (options.json) {
    if (updated.failed.length > 0) terminal.exitCode = 3;
    return terminal.out(json({ ...comparisonJson(comparison), ...updated }));
  }
  reportUpdate(updated, terminal);
  if (comparison.compared.servers.length === 0 && comparison.unusable.length === 0)
    terminal.out(nothingFor(options.scope ?? "user", await workspace.load()));
  else if (comparison.compared.changes.length === 0) terminal.out("Nothing to change.\n");
  else if (updated.written.length === 0) terminal.out("Nothing was changed.\n");
}

/** Why none of the servers goes into a client's file of that scope. */
function nothingFor(scope: "user" | "project", { servers }: LoadedConfig): string {
  const others = [...servers.values()].filter(({ config }) => config?.enabled !== false);
  const scopes = [...new Set(others.map(({ origin }) => origin.scope))];
  if (scopes.length === 0) return "Nothing was written: there is no server to export.\n";
  return `Nothing was written: there is no ${scope} server. Yours are in the scope ${scopes.join(", ")}; choose one with --server <name>.\n`;
}

async function print(client: string, workspace: Workspace, options: ExportOptions, terminal: Terminal) {
  if (options.scope !== undefined || options.yes || options.dryRun)
    throw new PlugboardError("usage-invalid", "--scope, --dry-run and --yes need --write.");
  const format = formatById(client);
  const config = await workspace.load();
  const chosen = options.server
    ? options.server.map((name) => workspace.require(config, name))
    : [...config.servers.values()];
  const usable = chosen.flatMap(({ name, config: server, status }) => {
    const isOurs = status.kind === "ready" || status.reason === "off" || status.reason === "missing-value";
    return server && isOurs ? [{ name, config: server }] : [];
  });
  if (usable.length === 0) throw new PlugboardError("server-unknown", "No server to export.");
  const { text, notes } = await exportServers(format, usable);
  const left = chosen
    .filter(({ name }) => !usable.some((server) => server.name === name))
    .map(({ name }) => name);
  if (options.json) return terminal.out(json({ client: format.id, text, notes, left }));
  terminal.out(text);
  const paint = painter(terminal, "err");
  const warn = (name: string, message: string) =>
    terminal.err(`${paint("yellow", "warning:")} ${safe(name)}: ${safe(message)}.\n`);
  for (const { server, field, message } of notes) warn(server, `${field}: ${message}`);
  for (const name of left)
    warn(
      name,
      `left out, because it cannot be used. Run \`plugboard explain ${shellWord(name)}\` to see why`,
    );
}
