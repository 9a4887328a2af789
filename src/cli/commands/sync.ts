import type { Command } from "commander";
import { formatById } from "../../config.ts";
import type { ClientComparison, Workspace } from "../../config.ts";
import { hanging, json, sentence } from "../terminal/print.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { reportUpdate, updateClients } from "../update-clients.ts";
import type { UpdateOptions } from "../update-clients.ts";
import { clientScopeOption, verb, withWorkspace } from "../verb.ts";
import type { CommonOptions } from "../verb.ts";
import { comparisonJson, comparisonView } from "../views/client-comparison.ts";

interface SyncOptions extends CommonOptions, UpdateOptions {
  write?: boolean;
  scope?: "user" | "project";
}

export function command(terminal: Terminal): Command {
  return verb(
    "sync",
    "Compare your servers with those in other clients' files: missing, different, another one of the same name, switched off, or only there. Exits with 1 if something is missing or different. With --write, or when you agree in a terminal, adds and updates them there; it never removes a server, switches one on, or changes anything else in the file.",
    ["sync", "sync codex cursor", "sync --write", "sync --json"],
  )
    .argument("[clients...]", "the clients to compare with (default: all that have a file)")
    .option("-w, --write", "repair the differences in the clients' files; shows the changes and asks")
    .addOption(clientScopeOption("only the clients' files for you, or for this project (default: both)"))
    .option("-n, --dry-run", "with --write: only show what would change")
    .option("-y, --yes", "with --write: write without asking")
    .action(async (clients: string[], options: SyncOptions) =>
      withWorkspace(terminal, options, async (workspace) => {
        const chosen = clients.length > 0 ? clients.map(formatById) : undefined;
        const compared = await workspace.compareClients({ formats: chosen, scope: options.scope });
        const comparisons = await Promise.all(compared.map((one) => withoutWired(one, workspace)));
        if (!options.json) show(comparisons, terminal, (await workspace.load()).servers.size > 0);
        const mayWrite = options.write || (terminal.isInteractive && !options.json && !options.dryRun);
        const updated = mayWrite
          ? await updateClients(comparisons, workspace, options, terminal)
          : { written: [], failed: [] };
        const left = comparisons.filter((one) => differs(one, updated.written.includes(one.file)));
        if (left.length > 0) terminal.exitCode = 1;
        if (options.json) terminal.out(json({ clients: comparisons.map(comparisonJson), ...updated }));
        else reportUpdate(updated, terminal);
        if (updated.failed.length > 0) terminal.exitCode = 3;
        if (!options.dryRun) await workspace.keepClientNames(comparisons.flatMap(knownNames));
        const canRepair = left.some(({ compared }) => compared.changes.length > 0);
        if (!options.json && !mayWrite && canRepair)
          terminal.out(
            `${hanging("Run `plugboard sync --write` to repair the differences.", 0, terminal)}\n`,
          );
      }),
    );
}

/** What `client add` wrote is no server that only the client has. */
async function withoutWired(comparison: ClientComparison, { wiring }: Workspace): Promise<ClientComparison> {
  const { entries } = await wiring.read(comparison.format, comparison.scope);
  const onlyThere = comparison.compared.onlyThere.filter(({ name }) => !entries.includes(name));
  return { ...comparison, compared: { ...comparison.compared, onlyThere } };
}

/** What is the same now is known to be ours, also when one of the two changes. */
function knownNames({ format, file, compared }: ClientComparison) {
  const same = compared.servers.filter(({ state }) => state === "same" || state === "off");
  return same.map(({ name, nameThere = name }) => ({
    client: format.id,
    file,
    theirs: nameThere,
    ours: name,
  }));
}

const noServers =
  "You have no servers to compare with theirs. Run `plugboard add …` to add one, or `plugboard import` to take over theirs.";
const onlyOthers =
  "None of your servers is compared: those in the local scope are for this folder only. Run `plugboard add --scope user …` to add one for all folders.";
const nothingAtAll =
  "You have no servers, and no configuration files of other clients were found. Run `plugboard add …` to add a server.";

function hasServers({ compared, unusable }: ClientComparison): boolean {
  return compared.servers.length + unusable.length > 0;
}

function differs({ problem, compared }: ClientComparison, isWritten = false): boolean {
  const words = isWritten ? /^other$/ : /^(missing|different|other)$/;
  return problem !== undefined || compared.servers.some(({ state }) => words.test(state));
}

function show(comparisons: readonly ClientComparison[], terminal: Terminal, hasOwn: boolean): void {
  if (comparisons.length === 0)
    terminal.out(
      sentence(hasOwn ? "No configuration files of other clients found." : nothingAtAll, terminal),
    );
  else terminal.out(`${comparisons.map((one) => comparisonView(one, terminal)).join("\n")}\n`);
  if (comparisons.length === 0 || comparisons.some((one) => differs(one))) return;
  const isLeft = comparisons.some(({ compared }) => compared.servers.some(({ state }) => state === "left"));
  const agreed = isLeft ? "There is nothing to repair." : "Your servers are the same there.";
  const without = hasOwn ? onlyOthers : noServers;
  terminal.out(sentence(comparisons.some(hasServers) ? agreed : without, terminal));
}
