import { closeSync, openSync, readSync } from "node:fs";
import { basename, resolve } from "node:path";
import { foundProgram, realPathOf, statOf } from "../process/found-program.ts";

/** What starts a program. */
export interface Started {
  command: string;
  args: readonly string[];
  cwd: string;
  /** The server's environment; its PATH is searched for the command. */
  env: Readonly<Record<string, string>>;
}

/** A script's interpreter can be a script itself, but not endlessly. */
const mostInterpreters = 4;

/**
 * The code that a command runs, each by its real file with inode, size and time, because a program that was edited or
 * replaced must not be mistaken for the running one: the program as PATH says, the interpreters of scripts, and the code on
 * the command line, also what `env`, `nice` or a shell finds on PATH. Other files may be data, which the server itself changes.
 */
export function programFiles({ command, args, cwd, env }: Started): Record<string, unknown> {
  const named = args.map((word) => resolve(cwd, word)).filter(isCode);
  const found = [command, ...args.filter(isName)].flatMap((word) => programsOf(word, cwd, env));
  return Object.fromEntries([...found, ...named].map((path) => [path, identityOf(path)]));
}

/** The program of this name, and the interpreters that it needs. */
function programsOf(name: string, cwd: string, env: Started["env"]): string[] {
  const programs: string[] = [];
  let next: string | undefined = name;
  while (next !== undefined && programs.length <= mostInterpreters) {
    const program = foundProgram(next, cwd, env);
    if (program === undefined) break;
    programs.push(program);
    next = interpreterOf(program);
  }
  return programs;
}

/** A word that is looked for on PATH if it is a program's. */
function isName(word: string): boolean {
  return /^[\w.+][\w.+-]*$/.test(word);
}

function isCode(path: string): boolean {
  const stats = statOf(path);
  return stats?.isFile() === true && ((stats.mode & 0o111) !== 0 || codeFile.test(path));
}

const codeFile = /\.(?:[cm]?[jt]sx?|py|pyz|rb|php|pl|lua|sh|jar|wasm|exe|dll)$/i;

/** What the first line of a script names: a path, or the name that `env` looks for. */
function interpreterOf(script: string): string | undefined {
  const [, line] = /^#![ \t]*([^\r\n]+)/.exec(beginningOf(script)) ?? [];
  const [interpreter, ...words] = (line ?? "").trim().split(/[ \t]+/);
  if (!interpreter || basename(interpreter) !== "env") return interpreter || undefined;
  return words.find((word) => !word.startsWith("-") && !word.includes("="));
}

function beginningOf(path: string): string {
  try {
    const file = openSync(path, "r");
    try {
      const bytes = Buffer.alloc(256);
      return bytes.toString("latin1", 0, readSync(file, bytes, 0, 256, 0));
    } finally {
      closeSync(file);
    }
  } catch {
    return "";
  }
}

function identityOf(path: string): unknown {
  // A copy that keeps its time, written into the same file, changes only the last one.
  const { dev, ino, size, mtimeMs, ctimeMs } = statOf(path) ?? {};
  return [realPathOf(path), dev, ino, size, mtimeMs, ctimeMs];
}
