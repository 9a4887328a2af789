import { existsSync, realpathSync } from "node:fs";
import { basename, resolve } from "node:path";
import { PlugboardError } from "../errors.ts";
import { sha256 } from "../lib/canonical.ts";
import type { Environment, Folders } from "../lib/folders.ts";
import { isOnThisMachine } from "../lib/safe-url.ts";
import { isSameFile } from "../lib/same-file.ts";
import { candidateFiles, findProjectRoot } from "./discover.ts";
import { resolvePath } from "./expand.ts";
import type { LoadedConfig, ServerEntry } from "./model.ts";
import type { ServerConfig } from "./server-schema.ts";
import { workingFolder } from "./places.ts";
import { commandWordsIn, filled } from "./trust/named-words.ts";

/** Tells a server which configurations led to it, so that a Plugboard behind it notices when it would start again. */
export const chainVariable = "PLUGBOARD_CHAIN";

/** Deeper than anybody nests on purpose. It ends a loop in which every turn has a configuration of its own. */
const maxDepth = 8;

/** What is needed to notice that an entry leads back to Plugboard itself. */
export interface LoopContext {
  env: Environment;
  folders: Folders;
  /** The file of the program that is running. */
  program?: string | undefined;
  /** Where this gateway can be reached: its port on this machine, and its names for others, with or without a port. */
  gateway?: { port: number; hosts: readonly string[] } | undefined;
}

/**
 * Switches off the entries that lead back to this Plugboard: they would start it again, which would start them again.
 * What cannot be seen in an entry, such as a script that runs `plugboard serve`, is noticed by `assertNoLoop` there.
 */
export function setLoopsAside(config: LoadedConfig, context: LoopContext): LoadedConfig {
  const servers = [...config.servers].map(([name, entry]): [string, ServerEntry] => {
    const loop = entry.status.kind === "ready" ? loopOf(entry, config, context) : undefined;
    return [name, loop ? { ...entry, status: { kind: "disabled", reason: "loop", ...loop } } : entry];
  });
  return { ...config, servers: new Map(servers) };
}

/** Rejects if the Plugboard that this configuration belongs to already runs, and one of its servers started this one. */
export function assertNoLoop(config: LoadedConfig, env: Environment): void {
  const chain = chainOf(env);
  const isRepeated = chain.includes(markOf(filesOf(config)));
  if (!isRepeated && chain.length < maxDepth) return;
  const message = isRepeated
    ? "This configuration is already in use by the Plugboard that started this one: they would start each other forever."
    : `This Plugboard was started by ${chain.length} others, one by the other.`;
  throw new PlugboardError("config-invalid", message, {
    hint: `Remove the server that runs \`plugboard serve\`, or let it use another configuration with \`--config\`. If it is meant, unset ${chainVariable}.`,
  });
}

/** The value of the variable for the servers of this configuration. */
export function chainFor(config: Pick<LoadedConfig, "sources">, env: Environment): string {
  return [...chainOf(env), markOf(filesOf(config))].slice(-maxDepth).join(",");
}

function chainOf(env: Environment): string[] {
  return (env[chainVariable] ?? "").split(",").filter((mark) => mark !== "");
}

function filesOf({ sources }: Pick<LoadedConfig, "sources">): string[] {
  const used = sources.filter(({ state, scope }) => /^(used|untrusted)/.test(state) && scope !== "plugin");
  return used.flatMap(({ file }) => file ?? []);
}

/** A configuration is the same if it comes from the same files. Servers see the mark, so it does not name them. */
function markOf(files: readonly string[]): string {
  return sha256(files.map(realPath).sort().join("\n")).slice(0, 16);
}

function loopOf(
  entry: ServerEntry,
  config: LoadedConfig,
  context: LoopContext,
): { message: string; hint: string } | undefined {
  const { command, args = [], url } = entry.config ?? {};
  const { env } = context;
  const fill = (text: string) => filled(text, { ...env, ...entry.variables });
  const words = commandWordsIn(command === undefined ? [] : [command, ...args].map(fill));
  const ownUrl = [url === undefined ? undefined : fill(url), ...words].find((text) =>
    isOwnUrl(text, context),
  );
  if (ownUrl !== undefined)
    return {
      message: "it leads back to this Plugboard: its URL is this gateway's",
      hint: "Remove it, or serve on another port with `--port` if another program is meant.",
    };
  const folder = folderOf(entry, fill, context);
  const at = words.findIndex((word, index) => startsGateway(word, words.slice(index + 1), folder, context));
  if (at === -1) return undefined;
  const files = filesBehind(entry, words.slice(at + 1), folder, context);
  const isOwnEntry =
    files.some((file) => isSameFile(entry.origin.file, file)) || entry.origin.file === undefined;
  const mark = markOf(files);
  const known = [...chainOf(env), markOf(filesOf(config))];
  if (!isOwnEntry && !known.includes(mark)) return undefined;
  return {
    message: "it leads back to this Plugboard: it runs `plugboard serve` with the same configuration",
    hint: "Remove it, or let it use another configuration with `--config`.",
  };
}

/** True if a command line starts a gateway of Plugboard, with any configuration. */
export function startsPlugboard(
  { command, args = [] }: Pick<ServerConfig, "command" | "args">,
  place: { folder: string; program?: string | undefined },
): boolean {
  const words = commandWordsIn(command === undefined ? [] : [command, ...args]);
  return words.some((word, index) => startsGateway(word, words.slice(index + 1), place.folder, place));
}

function folderOf(
  entry: ServerEntry,
  fill: (text: string) => string | undefined,
  { folders }: LoopContext,
): string {
  const { cwd } = entry.config ?? {};
  return cwd === undefined ? workingFolder(entry) : resolvePath(fill(cwd) ?? "", entry.baseDir, folders.home);
}

/** `plugboard serve`, also by its package, its path or its source, however it is started. */
function startsGateway(
  word: string,
  after: readonly string[],
  folder: string,
  { program }: Pick<LoopContext, "program">,
): boolean {
  if (after.find((next) => next !== "--") !== "serve") return false;
  if (/^plugboard(?:@[^/]*)?(?:\.(?:cmd|exe|ps1))?$/i.test(basename(word))) return true;
  if (!/main\.[cm]?[jt]s$|[\\/]/.test(word)) return false;
  const path = realPath(resolve(folder, word));
  return (
    (program !== undefined && path === realPath(program)) ||
    /[\\/]plugboard[\\/](?:dist[\\/]cli[\\/]main\.js|src[\\/]cli[\\/]main\.ts)$/.test(path)
  );
}

/** The files that a `plugboard serve` with these arguments reads. */
function filesBehind(
  { config }: ServerEntry,
  args: readonly string[],
  folder: string,
  { folders }: LoopContext,
): string[] {
  const at = args.findIndex((word) => /^--config(?:=|$)/.test(word));
  const named = at === -1 ? config?.env?.["PLUGBOARD_CONFIG"] : (args[at]?.split("=")[1] ?? args[at + 1]);
  if (named) return [resolvePath(named, folder, folders.home)];
  const all = candidateFiles(folder, findProjectRoot(folder), folders);
  return all.map(({ file }) => file).filter((file) => existsSync(file));
}

function isOwnUrl(text: string | undefined, { gateway }: LoopContext): boolean {
  if (text === undefined || gateway === undefined || !/^https?:/i.test(text)) return false;
  const url = URL.parse(text);
  if (!url) return false;
  const port = url.port === "" ? (url.protocol === "https:" ? 443 : 80) : Number(url.port);
  const isNamed = gateway.hosts.some((host) => host === url.host || host === url.hostname);
  return isNamed || (port === gateway.port && isOnThisMachine(url));
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
