import type { Command } from "commander";
import {
  findForeignFiles,
  formatById,
  planBundles,
  planImport,
  previewServer,
  readForeignFile,
  shownEntry,
} from "../../config.ts";
import { PlugboardError } from "../../index.ts";
import type { ForeignFile, PlannedBundle, PlannedServer, Workspace, WritableScope } from "../../config.ts";
import type { LoadedConfig } from "../../index.ts";
import { isGatewayEntry } from "../client/gateway-entry.ts";
import { isSameFile } from "../../lib/same-file.ts";
import { chooseServers, countOf, isEmpty, onlyNamed, wantedOf } from "../import-choice.ts";
import type { Plan } from "../import-choice.ts";
import { bundleView } from "../views/bundle.ts";
import { plainSecrets, warnOfPlainSecrets } from "../plain-secrets.ts";
import { importView } from "../views/import.ts";
import type { ReviewedServer } from "../views/import.ts";
import { json, safe, sentence } from "../terminal/print.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { collect, scopeOption, verb, withWorkspace } from "../verb.ts";
import type { CommonOptions } from "../verb.ts";

interface ImportOptions extends CommonOptions {
  from?: string;
  dryRun?: boolean;
  yes?: boolean;
  only?: string[];
  scope?: WritableScope;
}

export function command(terminal: Terminal): Command {
  return verb(
    "import",
    "Import servers from other clients' files. Never overwrites your servers or changes the other files.",
    [
      "import --dry-run",
      "import codex cursor",
      "import cursor --only issues --yes",
      "import vscode --from ./mcp.json --scope project",
    ],
  )
    .argument("[clients...]", "the clients to import from (default: all that are found)")
    .option("--from <file>", "read this file, in the format of the named client")
    .option("--only <server>", "import only this server (repeatable)", collect)
    .option("-n, --dry-run", "only show what would change")
    .option("-y, --yes", "import without asking; required without a terminal")
    .addOption(scopeOption("the scope to add them to (default: the scope they have in the other client)"))
    .action(async (clients: string[], options: ImportOptions) =>
      withWorkspace(terminal, options, async (workspace) => {
        const config = await workspace.load({ allowMissing: true });
        const files = await foreignFiles(clients, options, workspace, config);
        const names = await workspace.clientNames();
        const planned = onlyNamed(planImport(files, config, options.scope, names), options.only);
        const bundlesOf = (servers: PlannedServer[]) => planBundles(files, servers, config, options.scope);
        const bundles = bundlesOf(planned);
        if (!options.json) {
          const reviewed = await withScripts(planned, workspace);
          terminal.out(importView(files, reviewed, terminal) + bundleView(bundles, terminal));
        }
        const chosen = await chooseServers({ servers: planned, bundles }, options, terminal);
        const plan = chosen ? { servers: chosen, bundles: bundlesOf(chosen) } : { servers: planned, bundles };
        const wanted = wantedOf(plan);
        const isDone = chosen !== undefined && !isEmpty(wanted);
        const failed = isDone
          ? [
              // Servers may have their allow lists in them.
              ...(await addBundles(wanted.bundles, workspace)),
              ...(await addServers(wanted.servers, workspace, terminal)),
            ]
          : [];
        if (isDone || (!options.dryRun && isEmpty(wantedOf(plan))))
          await workspace.keepClientNames(namesOf(plan.servers, failed));
        if (failed.length > 0 || isUnread(files, clients)) terminal.exitCode = 3;
        reportImport(files, plan, isDone, failed, options, terminal);
      }),
    );
}

/** What the clients call the servers that are configured here now. */
function namesOf(servers: readonly PlannedServer[], failed: readonly Failure[]) {
  const isHere = (one: PlannedServer) => one.action === "same" || one.action === "add";
  const added = servers.filter(({ action }) => action === "add").map(({ name }) => name);
  const here = servers.filter((one) => isHere(one) || (one.action === "double" && added.includes(one.name)));
  return here
    .filter(({ name }) => !failed.some((failure) => failure.name === name))
    .map(({ name, from: { client, file, name: theirs } }) => ({ client, file, theirs, ours: name }));
}

/** The project's files that the servers would run. */
async function withScripts(
  planned: readonly PlannedServer[],
  { decisions, projectRoot }: Workspace,
): Promise<ReviewedServer[]> {
  const place = { baseDir: projectRoot, variables: {} };
  const found = await decisions.scripts(
    planned.map(({ config, scope, action }) => ({
      ...(action === "add" && { config }),
      ...place,
      origin: { scope },
    })),
  );
  return planned.map((server, index) => ({ ...server, scripts: found[index] ?? { files: [] } }));
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
    const own = config.sources.filter(({ state }) => state !== "missing");
    const others = found.filter(({ file }) => !own.some((source) => isSameFile(source.file, file)));
    return others.map((one) => withoutGateway(one, workspace));
  }
  const [format, ...more] = chosen;
  if (!format || more.length > 0)
    throw new PlugboardError("usage-invalid", "--from requires exactly one client.");
  const { resolve } = await import("node:path");
  const file = await readForeignFile(format, { path: resolve(cwd, from), scope: "user" }, machine);
  if (!file) throw new PlugboardError("config-unreadable", `No such file: ${from}`);
  return [withoutGateway(file, workspace)];
}

/** What `client add` wrote would lead back to this Plugboard. */
function withoutGateway(file: ForeignFile, workspace: Workspace): ForeignFile {
  const { imported } = file;
  const gateways = imported.servers.filter(({ config }) => isGatewayEntry(config, workspace));
  const skipped = gateways.map(({ name }) => ({
    name,
    reason: "it is this gateway, or another Plugboard's",
  }));
  const servers = imported.servers.filter((server) => !gateways.includes(server));
  return { ...file, imported: { ...imported, servers, skipped: [...imported.skipped, ...skipped] } };
}

/** A server from a project file goes to the project scope and needs trust there, like any other. */
async function addServers(
  wanted: PlannedServer[],
  workspace: Workspace,
  terminal: Terminal,
): Promise<Failure[]> {
  const failed: Failure[] = [];
  for (const { name, config, scope, from } of wanted) {
    try {
      const origin = await workspace.add(name, config, { scope, trust: from.scope !== "project" });
      warnOfPlainSecrets(name, plainSecrets(name, config, origin), origin, terminal);
    } catch (error) {
      failed.push({ name, reason: (error as Error).message });
    }
  }
  return failed;
}

/** A project's bundles become part of its settings and need trust there, like its servers. */
async function addBundles(wanted: PlannedBundle[], workspace: Workspace): Promise<Failure[]> {
  const failed: Failure[] = [];
  for (const { name, config, scope, from } of wanted) {
    try {
      await workspace.addBundle(name, config, { scope, trust: from.scope !== "project" });
    } catch (error) {
      failed.push({ name: `bundles.${name}`, reason: (error as Error).message });
    }
  }
  return failed;
}

/** True if a file of a named client cannot be read, or none of all the files that were found. */
function isUnread(files: readonly ForeignFile[], clients: readonly string[]): boolean {
  const unread = files.filter(({ problem }) => problem !== undefined);
  return unread.length > 0 && (clients.length > 0 || unread.length === files.length);
}

interface Failure {
  name: string;
  reason: string;
}

function reportImport(
  files: ForeignFile[],
  planned: Plan,
  isDone: boolean,
  failed: Failure[],
  options: ImportOptions,
  terminal: Terminal,
): void {
  const wanted = wantedOf(planned);
  const isFailed = (name: string) => failed.some((failure) => failure.name === name);
  const added = {
    servers: wanted.servers.filter(({ name }) => !isFailed(name)),
    bundles: wanted.bundles.filter(({ name }) => !isFailed(`bundles.${name}`)),
  };
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
        servers: planned.servers.map(({ config, ...rest }) => ({
          ...rest,
          config: shownEntry({ written: config }),
          preview: previewServer(config, { exact: false }),
        })),
        bundles: planned.bundles,
        files: report,
        failed,
      }),
    );
  }
  for (const { name, reason } of failed) terminal.err(`error: ${safe(name)}: ${safe(reason)}\n`);
  if (isDone)
    terminal.out(
      `Added ${countOf(added)}. Run \`plugboard list\` to see ${added.servers.length === 1 ? "it" : "them"}.\n`,
    );
  else if (isEmpty(wanted)) terminal.out(nothingNew(planned));
  else if (options.dryRun)
    terminal.out(sentence(`Would add ${countOf(wanted)}. Leave out --dry-run to do so.`, terminal));
  else terminal.out("Nothing was changed.\n");
}

function nothingNew({ servers, bundles }: Plan): string {
  const all = [...servers, ...bundles];
  if (all.length === 0) return "";
  const isAllHere = all.every(({ action }) => action === "same");
  return isAllHere
    ? "Nothing to import: everything that was found is already configured.\n"
    : "Nothing to import: there are no new servers. What differs from yours is listed above, and stays as it is.\n";
}
