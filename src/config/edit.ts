import { realpath } from "node:fs/promises";
import { PlugboardError } from "../errors.ts";
import { writeFileAtomic } from "../lib/atomic-file.ts";
import { canonicalJson } from "../lib/canonical.ts";
import { readBoundedFile } from "../lib/bounded-file.ts";
import { isRecord } from "../lib/record.ts";
import { bareObject, notation, parseDocument, positionAt, syntaxOf, valueAt } from "./documents/document.ts";
import type { Path, SyntaxName } from "./documents/document.ts";
import { maxConfigBytes } from "./sources.ts";

/** Runs `work` while holding an exclusive lock for `key`. */
export type Lock = <T>(key: string, work: () => Promise<T>) => Promise<T>;

export type Change = { path: Path; value: unknown } | { path: Path; remove: true };

/**
 * Changes one place in a configuration file and keeps every other byte: comments, order, unknown keys. The file is
 * replaced atomically, keeps its mode, and a symbolic link stays a link. `decide` gets the current content while
 * the lock is held, so concurrent writers do not lose each other's changes.
 */
export async function editFile(
  file: string,
  { lock, newFileMode }: { lock: Lock; newFileMode: number },
  decide: (value: Record<string, unknown>) => Change | undefined,
): Promise<void> {
  const target = await realpath(file).catch(() => file);
  await lock(`config:${target}`, async () => {
    const syntax = syntaxOf(target) ?? syntaxOf(file);
    if (!syntax) throw unreadable(file, "has an unknown file extension; use .json, .jsonc, .toml or .yaml");
    const read = await readBoundedFile(target, maxConfigBytes);
    if (read.kind === "refused") throw unreadable(file, read.reason);
    const before = read.kind === "text" ? read.text : "";
    const current = await parseOrThrow(before, syntax, file);
    const change = decide(current);
    if (!change) return;
    const after = await applyChange(before, syntax, current, change, file);
    await write(target, after, read.kind === "text" ? read.mode : newFileMode);
  });
}

/** Servers are stored under `mcpServers`, or under `servers` if the file already uses that. */
export function serverPath(value: Record<string, unknown>, name: string): Path {
  const written = ["mcpServers", "servers"].find(
    (key) => isRecord(value[key]) && Object.hasOwn(value[key], name),
  );
  const container =
    written ?? (value["mcpServers"] === undefined && isRecord(value["servers"]) ? "servers" : "mcpServers");
  return [container, name];
}

async function applyChange(
  text: string,
  syntax: SyntaxName,
  current: unknown,
  change: Change,
  file: string,
): Promise<string> {
  const { set, remove } = await notation(syntax);
  const hasWindowsLines = text.includes("\r\n") && !/[^\r]\n/.test(text);
  const lines = hasWindowsLines ? text.replaceAll("\r\n", "\n") : text;
  const spliced = "remove" in change ? remove(lines, change.path) : set(lines, change.path, change.value);
  const after = hasWindowsLines ? spliced.replaceAll("\n", "\r\n") : spliced;
  const expected = structuredClone(current) as Record<string, unknown>;
  const container = containerAt(expected, change.path.slice(0, -1), !("remove" in change));
  const key = String(change.path.at(-1));
  if ("remove" in change) delete container[key];
  else
    Object.defineProperty(container, key, {
      value: change.value,
      enumerable: true,
      configurable: true,
      writable: true,
    });
  const reparsed = await parseDocument(after, syntax);
  const isFaithful =
    reparsed.problems.length === 0 && canonicalJson(reparsed.value) === canonicalJson(expected);
  if (!isFaithful) {
    throw unreadable(file, "cannot be edited without changing other parts of it; please edit it by hand");
  }
  return after;
}

function containerAt(value: Record<string, unknown>, path: Path, create: boolean): Record<string, unknown> {
  let here = value;
  for (const step of path) {
    const next = Object.hasOwn(here, step) ? here[step] : undefined;
    if (isRecord(next)) here = next;
    else if (create) here = here[step] = bareObject();
    else return bareObject();
  }
  return here;
}

async function parseOrThrow(
  text: string,
  syntax: SyntaxName,
  file: string,
): Promise<Record<string, unknown>> {
  const { value, problems } = await parseDocument(text, syntax);
  const [problem] = problems;
  if (problem) {
    const { line, column } = positionAt(text, problem.offset);
    throw unreadable(`${file}:${line}:${column}`, `cannot be edited: ${problem.message}`);
  }
  if (!isRecord(value)) throw unreadable(file, "does not contain an object");
  for (const key of ["mcpServers", "servers"]) {
    if (valueAt(value, [key]) !== undefined && !isRecord(value[key]))
      throw unreadable(file, `\`${key}\` is not an object`);
  }
  return value;
}

async function write(target: string, text: string, mode: number): Promise<void> {
  try {
    await writeFileAtomic(target, text, mode);
  } catch (error) {
    const { code = "unknown error" } = error as NodeJS.ErrnoException;
    throw new PlugboardError("config-unreadable", `${target} cannot be written (${code}).`, {
      cause: error,
      data: { file: target },
    });
  }
}

function unreadable(file: string, why: string): PlugboardError {
  return new PlugboardError("config-unreadable", `${file} ${why}.`, { data: { file } });
}
