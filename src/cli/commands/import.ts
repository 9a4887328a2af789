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
    "Take over servers from other clients' files. Yours are never overwritten; theirs are never changed.",
    ["import --dry-run", "import codex cursor", "import vscode --from ./mcp.json --scope project"],
  )
    .argument("[clients...]", "which clients; all that are found when none is named")
    .option("--from <file>", "read this file (name one client for its format)")
    .option("-n, --dry-run", "only show what would be done")
    .option("-y, --yes", "do it without asking")
    .addOption(scopeOption("where to write them; by default where the other client had them"))
    .action(async (clients: string[], options: ImportOptions) =>
      withWorkspace(terminal, options, async (workspace) => {
        const config = await workspace.load();
        const files = await foreignFiles(clients, options, workspace, config);
        const planned = planImport(files, config, options.scope);
        if (!options.json) terminal.out(importView(files, planned, terminal));
        const wanted = planned.filter(({ action }) => action === "add");
        const isGo = await mayGoOn(wanted, options, terminal);
        const failed = isGo ? await carryOut(wanted, workspace) : [];
        conclude(files, planned, isGo, failed, options, terminal);
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
    throw new PlugboardError("usage-invalid", "--from needs the name of exactly one client.");
  const { resolve } = await import("node:path");
  const file = await readForeignFile(format, { path: resolve(cwd, from), scope: "user" }, machine);
  if (!file) throw new PlugboardError("config-unreadable", `There is no file ${from}.`);
  return [file];
}

/** Asks a person; a script has asked already by running the command. */
async function mayGoOn(
  wanted: PlannedServer[],
  options: ImportOptions,
  terminal: Terminal,
): Promise<boolean> {
  if (options.dryRun || wanted.length === 0) return false;
  if (options.yes || options.json || !terminal.isInteractive) return true;
  return terminal.confirm(`Add ${count(wanted.length, "server")}?`);
}

/** What comes from a project's file goes to the project's file, and waits for trust there like anything else. */
async function carryOut(
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

function conclude(
  files: ForeignFile[],
  planned: PlannedServer[],
  isDone: boolean,
  failed: { name: string; reason: string }[],
  options: ImportOptions,
  terminal: Terminal,
): void {
  const wanted = planned.filter(({ action }) => action === "add");
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
    terminal.out(`Added ${count(wanted.length - failed.length, "server")}. \`plugboard list\` shows them.\n`);
  else if (options.dryRun && wanted.length > 0)
    terminal.out(`Would add ${count(wanted.length, "server")}; nothing was changed.\n`);
  else if (wanted.length > 0) terminal.out("Nothing was changed.\n");
}
