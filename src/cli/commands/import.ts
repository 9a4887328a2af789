import type { Command } from "commander";
import {
  PlugboardError,
  findForeignFiles,
  formatById,
  planImport,
  readForeignFile,
  shownEntry,
} from "../../index.ts";
import type { ForeignFile, LoadedConfig, PlannedServer, Workspace, WritableScope } from "../../index.ts";
import { importView } from "../views/import.ts";
import { count, json } from "../terminal/print.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { scopeOption, verb, withWorkspace } from "../verb.ts";
import type { CommonOptions } from "../verb.ts";

interface ImportOptions extends CommonOptions {
  from?: string;
  dryRun?: boolean;
  yes?: boolean;
  scope?: WritableScope;
}

export function command(terminal: Terminal): Command {
  return verb(
    "import",
    "Import servers from other clients' files. Never overwrites your servers or changes the other files.",
    ["import --dry-run", "import codex cursor", "import vscode --from ./mcp.json --scope project"],
  )
    .argument("[clients...]", "the clients to import from (default: all that are found)")
    .option("--from <file>", "read this file, in the format of the named client")
    .option("-n, --dry-run", "only show what would change")
    .option("-y, --yes", "import without asking")
    .addOption(scopeOption("the scope to add them to (default: the scope they have in the other client)"))
    .action(async (clients: string[], options: ImportOptions) =>
      withWorkspace(terminal, options, async (workspace) => {
        const config = await workspace.load();
        const files = await foreignFiles(clients, options, workspace, config);
        const planned = planImport(files, config, options.scope);
        if (!options.json) terminal.out(importView(files, planned, terminal));
        const wanted = planned.filter(({ action }) => action === "add");
        const isConfirmed = await confirmImport(wanted, options, terminal);
        const failed = isConfirmed ? await addServers(wanted, workspace) : [];
        reportImport(files, planned, isConfirmed, failed, options, terminal);
      }),
    );
}

async function foreignFiles(
  clients: string[],
  { from }: ImportOptions,
  workspace: Workspace,
  config: LoadedConfig,
): Promise<ForeignFile[]> {
  const { projectRoot, folders, env, cwd } = workspace;
  const chosen = clients.map(formatById);
  const machine = { home: folders.home, platform: process.platform, env, projectRoot };
  if (from === undefined) {
    const found = await findForeignFiles(machine, chosen.length > 0 ? chosen.map(({ id }) => id) : undefined);
    const own = new Set(config.sources.filter(({ state }) => state !== "missing").map(({ file }) => file));
    return found.filter(({ file }) => !own.has(file));
  }
  const [format, ...more] = chosen;
  if (!format || more.length > 0)
    throw new PlugboardError("usage-invalid", "--from requires exactly one client.");
  const { resolve } = await import("node:path");
  const file = await readForeignFile(format, { path: resolve(cwd, from), scope: "user" }, machine);
  if (!file) throw new PlugboardError("config-unreadable", `No such file: ${from}`);
  return [file];
}

/** Asks only in a terminal: a script confirms by running the command. */
async function confirmImport(
  wanted: PlannedServer[],
  options: ImportOptions,
  terminal: Terminal,
): Promise<boolean> {
  if (options.dryRun || wanted.length === 0) return false;
  if (options.yes || options.json || !terminal.isInteractive) return true;
  return terminal.confirm(`Add ${count(wanted.length, "server")}?`);
}

/** A server from a project file goes to the project scope and needs trust there, like any other. */
async function addServers(
  wanted: PlannedServer[],
  workspace: Workspace,
): Promise<{ name: string; reason: string }[]> {
  const failed: { name: string; reason: string }[] = [];
  for (const { name, config, scope, from } of wanted) {
    try {
      await workspace.add(name, config, { scope, trust: from.scope !== "project" });
    } catch (error) {
      failed.push({ name, reason: (error as Error).message });
    }
  }
  return failed;
}

function reportImport(
  files: ForeignFile[],
  planned: PlannedServer[],
  isDone: boolean,
  failed: { name: string; reason: string }[],
  options: ImportOptions,
  terminal: Terminal,
): void {
  const wanted = planned.filter(({ action }) => action === "add");
  const added = wanted.length - failed.length;
  if (failed.length > 0) terminal.exitCode = 3;
  if (options.json) {
    const report = files.map(({ format, file, problem, imported }) => ({
      client: format.id,
      file,
      problem,
      notes: imported.notes,
      skipped: imported.skipped,
    }));
    return terminal.out(
      json({
        done: isDone,
        servers: planned.map(({ config, ...rest }) => ({ ...rest, config: shownEntry({ written: config }) })),
        files: report,
        failed,
      }),
    );
  }
  for (const { name, reason } of failed) terminal.err(`error: ${name}: ${reason}\n`);
  if (isDone)
    terminal.out(
      `Added ${count(added, "server")}. Run \`plugboard list\` to see ${added === 1 ? "it" : "them"}.\n`,
    );
  else if (options.dryRun && wanted.length > 0)
    terminal.out(`Would add ${count(wanted.length, "server")}. Nothing was changed.\n`);
  else if (wanted.length > 0) terminal.out("Nothing was changed.\n");
}
