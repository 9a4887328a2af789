import { statSync } from "node:fs";
import { join } from "node:path";
import type { ServerEntry, Workspace } from "../config.ts";
import { PlugboardError } from "../index.ts";
import type { LoadedConfig } from "../index.ts";
import { brokenNpxFolder, incompleteAdvice, incompleteWords } from "../lib/npx/folder.ts";
import { deleteNpxFolder } from "../lib/npx/repair.ts";
import type { Deletion } from "../lib/npx/repair.ts";
import { safe } from "./terminal/print.ts";
import { orCancelled } from "./terminal/signals.ts";
import type { Terminal } from "./terminal/terminal.ts";
import type { Finding } from "./views/finding.ts";

/** A folder in npm's cache from which a server failed to load its modules when it last ran. */
export interface BrokenInstall {
  server: string;
  folder: string;
  /** npm's cache, which it is in. */
  cache: string;
}

/** Enough for the last start. */
const lastLines = 60;

/** What the logs of these servers say. Starts nothing. */
export async function brokenInstalls(workspace: Workspace, config: LoadedConfig): Promise<BrokenInstall[]> {
  const found = [...config.servers.values()].map((entry) => brokenInstall(workspace, entry));
  return (await Promise.all(found)).flatMap((one) => one ?? []);
}

async function brokenInstall(workspace: Workspace, entry: ServerEntry): Promise<BrokenInstall | undefined> {
  const { name: server, config, status } = entry;
  if (config?.command === undefined || status.kind === "disabled") return undefined;
  const lines = workspace.logs.read(entry, lastLines);
  const connected = lines.findLastIndex(
    ({ source, message }) => source === "state" && message === "connected",
  );
  const last = lines.slice(connected + 1);
  const said = last.map(({ message }) => message).join("\n");
  const env = { ...workspace.env, ...config.env };
  const home = env["HOME"] ?? workspace.folders.home;
  // Whatever a server prints, nothing but what npx made is ever deleted.
  const broken = await brokenNpxFolder(said, { folder: config.cwd ?? entry.baseDir, home, env });
  if (!broken || wasInstalledSince(broken.folder, last.at(-1)?.at ?? 0)) return undefined;
  return { server, ...broken };
}

function wasInstalledSince(folder: string, at: number): boolean {
  const written = statSync(join(folder, "node_modules/.package-lock.json"), { throwIfNoEntry: false });
  return written !== undefined && written.mtimeMs > at;
}

export function brokenFindings(broken: readonly BrokenInstall[]): Finding[] {
  return broken.map(({ server, folder }) => ({
    level: "problem",
    about: server,
    message: `did not find its own modules when it last ran. ${incompleteWords(folder)}`,
    advice: incompleteAdvice(folder),
  }));
}

const notDeleted: Deletion = { isDeleted: false, users: [] };

/** Asks about each folder, and deletes it. Returns those that are left. */
export async function deleteBroken(
  broken: readonly BrokenInstall[],
  { yes = false, json = false }: { yes?: boolean | undefined; json?: boolean | undefined },
  terminal: Terminal,
): Promise<BrokenInstall[]> {
  if (broken.length > 0 && !yes && (json || !terminal.isInteractive))
    throw new PlugboardError("usage-invalid", "Nobody is here to be asked what to delete.", {
      hint: "Run `plugboard doctor --fix` in a terminal, or pass --yes.",
    });
  const left: BrokenInstall[] = [];
  for (const [folder, servers] of Map.groupBy(broken, (one) => one.folder)) {
    const question = `Delete ${safe(folder)}? npx installs it anew.`;
    const isAllowed = yes || (await orCancelled(terminal.confirm(question), "Nothing more was deleted."));
    const cache = servers[0]?.cache ?? "";
    const { isDeleted, users } = isAllowed ? await deleteNpxFolder(folder, cache) : notDeleted;
    if (isDeleted) terminal.err(`Deleted ${safe(folder)}.\n`);
    else left.push(...servers);
    if (users.length > 0)
      terminal.err(`${safe(folder)} is in use (process ${users.join(", ")}), so it was not deleted.\n`);
    else if (isAllowed && !isDeleted)
      terminal.err(`${safe(folder)} is another folder by now, so it was not deleted.\n`);
  }
  return left;
}
