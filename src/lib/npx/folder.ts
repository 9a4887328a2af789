import { lstat, realpath } from "node:fs/promises";
import { basename, dirname, isAbsolute, join, normalize } from "node:path";
import type { Environment } from "../folders.ts";
import { npmrcValue } from "../npmrc.ts";
import { printable } from "../printable.ts";

export interface NpxPlace {
  /** The server's working folder. */
  folder: string;
  home: string;
  /** What npm gets of the environment. */
  env: Environment;
}

/** npm's cache; undefined where a setting decides it that only npm itself can read. */
export async function npmCache({ folder, home, env }: NpxPlace): Promise<string | undefined> {
  const set = Object.entries(env).find(([name, value]) => value && /^npm_config_cache$/i.test(name))?.[1];
  const value = set ?? (await npmrcValue("cache", { folder, home }));
  if (value === undefined)
    return process.platform === "win32" ? join(env["LOCALAPPDATA"] ?? home, "npm-cache") : join(home, ".npm");
  const path = value.startsWith("~/") ? join(home, value.slice(2)) : value;
  return isAbsolute(path) && !path.includes("${") ? path : undefined;
}

/** The folder of npm's cache where `npx` installs these packages: npm names it after the words of the command line. */
export function npxFolder(cache: string, packages: readonly string[]): string {
  const { createHash } = process.getBuiltinModule("node:crypto");
  const words = [...packages].sort((a, b) => a.localeCompare(b, "en")).join("\n");
  return join(cache, "_npx", createHash("sha512").update(words).digest("hex").slice(0, 16));
}

const flags = /^(?:-y|--yes|-q|--quiet|-s|--silent|--no|--no-install|--(?:prefer-)?offline|--prefer-online)$/;

/** The packages that the words after `npx` name, and the command that it runs. */
export function npxPackages(
  args: readonly string[],
): { packages: string[]; isCommand: boolean; command: string } | { problem: string } {
  const packages: string[] = [];
  for (let at = 0; at < args.length; at++) {
    const word = args[at] ?? "";
    const [, inline] = /^(?:--package|-p)=(.*)$/.exec(word) ?? [];
    if (inline !== undefined) packages.push(inline);
    else if (word === "-p" || word === "--package") packages.push(args[++at] ?? "");
    else if (word === "--" || flags.test(word)) continue;
    else if (word.startsWith("-")) return { problem: `the option ${word.slice(0, 40)} is not understood` };
    else if (packages.length > 0) return { packages, isCommand: false, command: word };
    else return { packages: [word], isCommand: true, command: word };
  }
  return { problem: "its command line names no package" };
}

/** True for a folder that `npx` made in this cache; never through a link, so that nothing else can be meant. */
export async function isNpxFolder(path: string, cache: string): Promise<boolean> {
  const parent = dirname(path);
  if (!/^[0-9a-f]{16}$/.test(basename(path)) || basename(parent) !== "_npx") return false;
  const [own, above] = await Promise.all([lstat(path), lstat(parent)]).catch(() => []);
  if (!own?.isDirectory() || !above?.isDirectory()) return false;
  const [real, realCache] = await Promise.all([realpath(path), realpath(cache)]).catch(() => []);
  return real !== undefined && realCache !== undefined && real === join(realCache, "_npx", basename(path));
}

/** What Node.js and npm print if a file of an installed package is missing or cut off. */
const signs =
  /\b(?:ERR_)?MODULE_NOT_FOUND\b|\bCannot find (?:module|package)\b|\bENOENT\b.{0,1000}package\.json|ERR_INVALID_PACKAGE_CONFIG|Unexpected end of (?:JSON )?input|\bENOTEMPTY\b|\bECOMPROMISED\b/;

const maxWords = 32_000;

/** The folder of `npx` that a program's last words name as incomplete. */
export function incompleteNpxFolder(said: string): string | undefined {
  const words = said.slice(-maxWords);
  if (!words.includes("_npx") || !signs.test(words)) return undefined;
  const paths = words.matchAll(
    /(?:\b[A-Za-z]:)?[\\/][^\n'"`()]{0,1000}?[\\/]_npx[\\/][0-9a-f]{16}(?=[\\/])/g,
  );
  const found = [...paths].at(-1)?.[0];
  // What is left of `file:///`.
  return found?.replace(/^\/\/(?=\/)/, "");
}

/**
 * The same, if it is a folder that `npx` made in npm's cache. A program may print any path, and the person is told to
 * delete this one.
 */
export async function brokenNpxFolder(
  said: string,
  place: NpxPlace,
): Promise<{ folder: string; cache: string } | undefined> {
  const folder = incompleteNpxFolder(said);
  if (folder === undefined || normalize(folder) !== folder) return undefined;
  const cache = await npmCache(place);
  return cache !== undefined && (await isNpxFolder(folder, cache)) ? { folder, cache } : undefined;
}

export function incompleteWords(folder: string): string {
  return `A part of its package is missing in ${printable(folder, { oneLine: true })}; an install there was probably interrupted.`;
}

export function incompleteAdvice(folder: string): string {
  return `Delete the folder ${printable(folder, { oneLine: true })} and try again; \`plugboard doctor --fix\` does the first.`;
}
