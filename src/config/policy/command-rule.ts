import { accessSync, constants, realpathSync, statSync } from "node:fs";
import { basename, delimiter, dirname, isAbsolute, join, resolve } from "node:path";
import type { Environment } from "../../lib/folders.ts";
import { defaultPath, isProgramPath, programCandidates } from "../../lib/program-path.ts";
import type { ServerConfig } from "../server-schema.ts";
import { loadsOtherCode } from "../trust/loader-variables.ts";
import type { Readings } from "./url-rule.ts";

/** What a rule for commands compares. */
export interface CommandSubject {
  config: ServerConfig;
  /** Plugboard's own environment. */
  env: Environment;
  /** The program that the server would run, with the PATH of its entry; undefined if there is none. */
  program(): string | undefined;
}

/** Programs that were looked for already. */
export interface KnownPrograms {
  /** What a rule means, in Plugboard's own PATH. */
  meant: Map<string, string | undefined>;
  /** Without links. */
  real: Map<string, string>;
}

/**
 * True if the rule names the program that the server would run, with the same arguments. A name in the rule means the
 * program in Plugboard's own PATH, whatever PATH the server's entry sets. A rule that denies also matches by its words.
 */
export function matchesCommand(
  rule: readonly string[],
  { config: { command, args = [] }, env, program }: CommandSubject,
  readings: Readings,
  known: KnownPrograms,
): boolean {
  const [wanted = "", ...words] = rule;
  if (command === undefined || words.length !== args.length) return false;
  if (!words.every((word, index) => word === args[index])) return false;
  if (readings === "any" && wanted === command) return true;
  const found = program();
  if (!known.meant.has(wanted)) known.meant.set(wanted, findMeant(wanted, env));
  const meant = known.meant.get(wanted);
  // A program that does not exist cannot run, so its words decide.
  if (found === undefined || meant === undefined) return found === meant && wanted === command;
  return (
    placeOf(found, known) === placeOf(meant, known) ||
    (readings === "any" && realPath(found, known) === realPath(meant, known))
  );
}

function findMeant(command: string, env: Environment): string | undefined {
  const path = foldersOf(env["PATH"] ?? defaultPath).join(delimiter);
  return findProgram(command, { ...env, PATH: path }, "/");
}

/** The program of a command in the given PATH, started in the given folder. */
export function findProgram(command: string, env: Environment, cwd: string): string | undefined {
  const search = { command, cwd, env: { ...env, PATH: env["PATH"] ?? defaultPath } };
  return programCandidates({ ...search, platform: process.platform }).find(isProgram);
}

/** The folders of a PATH that mean the same wherever a program runs. */
function foldersOf(path: string): string[] {
  return path.split(delimiter).filter(isAbsolute);
}

/** Why the rule matches no command; undefined if it can. */
export function commandRuleProblem([command = "", ...words]: readonly string[]): string | undefined {
  if (command.trim() === "") return "a command cannot be empty";
  if ([command, ...words].some((word) => word.includes("${"))) return "a rule cannot contain `${…}`";
  if (/\s/.test(command.trim()) && words.length === 0 && !isProgramPath(command, process.platform))
    return "each argument needs a string of its own";
  return undefined;
}

/**
 * The variable of an entry that could make an allowed command run something else. A PATH may only have folders of
 * Plugboard's own: the first line of a script (`#!/usr/bin/env node`) and the program itself look for others there.
 */
export function codeVariable({ env = {} }: ServerConfig, ours: Environment): string | undefined {
  const own = new Set(foldersOf(ours["PATH"] ?? defaultPath).map((folder) => resolve(folder)));
  const isOwn = (folder: string) => isAbsolute(folder) && own.has(resolve(folder));
  return Object.entries(env).find(
    ([name, value]) => loadsOtherCode(name) || (isPathVariable(name) && !value.split(delimiter).every(isOwn)),
  )?.[0];
}

export function isPathVariable(name: string): boolean {
  return (process.platform === "win32" ? name.toUpperCase() : name) === "PATH";
}

function isProgram(path: string): boolean {
  try {
    // Most candidates are not there, and an exception costs more than the question.
    if (!statSync(path, { throwIfNoEntry: false })?.isFile()) return false;
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** The name of the program matters: one file can be many programs (busybox). Links of folders do not. */
function placeOf(path: string, known: KnownPrograms): string {
  return join(realPath(dirname(path), known), basename(path));
}

function realPath(path: string, { real }: KnownPrograms): string {
  const known = real.get(path) ?? resolvedLinks(path);
  real.set(path, known);
  return known;
}

function resolvedLinks(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
