import { lstat, realpath, rm } from "node:fs/promises";
import { PlugboardError } from "../errors.ts";
import { writeFileAtomic } from "../lib/atomic-file.ts";
import type { Replacing } from "../lib/atomic-file.ts";
import { canonicalJson } from "../lib/canonical.ts";
import { readBoundedFile } from "../lib/bounded-file.ts";
import type { BoundedRead } from "../lib/bounded-file.ts";
import { assertHeld } from "../lib/held.ts";
import type { Held } from "../lib/held.ts";
import { isRecord } from "../lib/record.ts";
import { bareObject, notation, parseDocument, positionAt, syntaxOf, valueAt } from "./documents/document.ts";
import type { Path, SyntaxName } from "./documents/document.ts";
import { maxConfigBytes } from "./sources.ts";

/** Runs `work` while holding an exclusive lock for `key`. */
export type Lock = <T>(key: string, work: (held: Held) => Promise<T>) => Promise<T>;

/** One change of a document. */
export type Change = { path: Path; value: unknown } | { path: Path; remove: true };

export interface Editing {
  lock: Lock;
  newFileMode: number;
  /** Our own limit unless it is another client's file, which may hold much more than servers. */
  maxBytes?: number;
  /** The members that must be objects; other clients have their own names for them. */
  containers?: readonly string[];
}

/**
 * Changes single places in a configuration file and keeps every other byte: comments, order, unknown keys. The file is
 * replaced atomically, keeps its mode, and a symbolic link stays a link. `decide` gets the current content while
 * the lock is held, so concurrent writers do not lose each other's changes.
 */
export async function editFile(
  file: string,
  { containers = ["mcpServers", "servers"], ...editing }: Editing,
  decide: (value: Record<string, unknown>) => Change | readonly Change[] | undefined,
): Promise<void> {
  await rewriteFile(file, editing, async (found) => {
    for (const key of containers) {
      if (valueAt(found.value, [key]) !== undefined && !isRecord(found.value[key]))
        throw unreadable(file, `\`${key}\` is not an object`);
    }
    const changes = [decide(found.value) ?? []].flat();
    return changes.length === 0 ? undefined : applyChanges(found, changes, file);
  });
}

/** A file's content while its lock is held. */
export interface FoundText {
  text: string;
  /** False if there is no file; its text is empty then. */
  exists: boolean;
  value: Record<string, unknown>;
  syntax: SyntaxName;
}

/**
 * Replaces a file's whole text, or removes the file, with the same care as `editFile`. `decide` returns the new text,
 * `null` for no file, or nothing to leave it as it is. It is called again if another program wrote the file meanwhile.
 */
export async function rewriteFile(
  file: string,
  { lock, newFileMode, maxBytes = maxConfigBytes }: Omit<Editing, "containers">,
  decide: (found: FoundText) => Promise<string | null | undefined>,
): Promise<void> {
  const target = await realpath(file).catch(() => file);
  // Writing would replace the link; following it could create a file anywhere.
  if (target === file && (await isLink(file)))
    throw unreadable(file, "is a symbolic link to a file that does not exist");
  await lock(`config:${target}`, async (held) => {
    const syntax = syntaxOf(target) ?? syntaxOf(file);
    if (!syntax) throw unreadable(file, "has an unknown file extension; use .json, .jsonc, .toml or .yaml");
    for (let tries = 0; tries < maxTries; tries++) {
      const read = await readBoundedFile(target, maxBytes);
      if (read.kind === "refused") throw unreadable(file, read.reason);
      const exists = read.kind === "text";
      const text = exists ? read.text : "";
      const value = await parseOrThrow(text, syntax, file);
      const after = await decide({ text, exists, value, syntax });
      if (after === undefined || (exists && after === text)) return;
      // Programs that do not know our lock write these files too.
      const isCurrent = async () => isSameText(await readBoundedFile(target, maxBytes), read);
      if (after === null) {
        await assertHeld(held);
        if (await isCurrent()) return rm(target, { force: true });
        continue;
      }
      const how = { mode: exists ? read.mode : newFileMode, held, isCurrent };
      if (await write(target, exists ? read.mark + after : after, how)) return;
    }
    throw unreadable(file, "is being written by another program all the time; nothing was changed");
  });
}

const maxTries = 10;

function isSameText(one: BoundedRead, other: BoundedRead): boolean {
  if (one.kind !== "text" || other.kind !== "text") return one.kind === other.kind;
  return one.text === other.text && one.mark === other.mark;
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

/**
 * The text with all changes, compared once with what it must say: other clients' files can be large. `onStep` gets the
 * text before and after each change.
 */
export async function applyChanges(
  { text, value, syntax }: Omit<FoundText, "exists">,
  changes: readonly Change[],
  file: string,
  onStep?: (before: string, after: string) => void,
): Promise<string> {
  const { set, remove } = await notation(syntax);
  const hasWindowsLines = text.includes("\r\n") && !/[^\r]\n/.test(text);
  const expected = structuredClone(value);
  const why = "cannot be edited without changing other parts of it; please edit it by hand";
  const asWritten = (lines: string) => (hasWindowsLines ? lines.replaceAll("\n", "\r\n") : lines);
  let lines = hasWindowsLines ? text.replaceAll("\r\n", "\n") : text;
  for (const change of changes) {
    applyTo(expected, change);
    const before = lines;
    try {
      lines = "remove" in change ? remove(lines, change.path) : set(lines, change.path, change.value);
    } catch (error) {
      // The parser of the notation, which cannot read what the change before it wrote.
      throw unreadable(file, why, error);
    }
    onStep?.(asWritten(before), asWritten(lines));
  }
  const after = asWritten(lines);
  const reparsed = await parseDocument(after, syntax);
  const isSame = () => canonicalJson(reparsed.value) === canonicalJson(expected);
  const isFaithful = reparsed.problems.length === 0 && (isSame() || (dropEmptied(), isSame()));
  if (!isFaithful) throw unreadable(file, why);
  return after;

  /** A table of TOML is gone with the last one in it, an object of JSON is empty then. */
  function dropEmptied(): void {
    for (const change of changes.filter((one) => "remove" in one))
      for (const one of [expected, reparsed.value]) withoutEmptied(one, change.path.slice(0, -1));
  }
}

function withoutEmptied(value: unknown, path: Path): void {
  for (let depth = path.length; depth > 0; depth--) {
    const left = valueAt(value, path.slice(0, depth));
    const outer = valueAt(value, path.slice(0, depth - 1));
    if (left === undefined) continue;
    if (!isRecord(left) || Object.keys(left).length > 0 || !isRecord(outer)) return;
    delete outer[String(path[depth - 1])];
  }
}

function applyTo(value: Record<string, unknown>, change: Change): void {
  const container = containerAt(value, change.path, !("remove" in change));
  const key = String(change.path.at(-1));
  if ("remove" in change && Array.isArray(container)) container.splice(Number(key), 1);
  else if ("remove" in change) delete container[key];
  else
    Object.defineProperty(container, key, {
      value: change.value,
      enumerable: true,
      configurable: true,
      writable: true,
    });
}

/** The object or list that the last step of a path is in. */
function containerAt(value: Record<string, unknown>, path: Path, create: boolean): Record<string, unknown> {
  let here = value;
  for (const [index, step] of path.slice(0, -1).entries()) {
    const next = Object.hasOwn(here, step) ? here[step] : undefined;
    if (typeof next === "object" && next !== null) here = next as Record<string, unknown>;
    else if (!create) return bareObject();
    else
      here = (here[step] = typeof path[index + 1] === "number" ? [] : bareObject()) as Record<
        string,
        unknown
      >;
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
  return value;
}

async function isLink(file: string): Promise<boolean> {
  return lstat(file).then(
    (found) => found.isSymbolicLink(),
    () => false,
  );
}

/** False if the file is not current any more. */
async function write(target: string, text: string, how: Replacing): Promise<boolean> {
  try {
    return await writeFileAtomic(target, text, how);
  } catch (error) {
    if (error instanceof PlugboardError) throw error;
    const { code = "unknown error" } = error as NodeJS.ErrnoException;
    throw new PlugboardError("config-unreadable", `${target} cannot be written (${code}).`, {
      cause: error,
      data: { file: target },
      hint: "Check the permissions and the free space of its folder; nothing was changed.",
    });
  }
}

function unreadable(file: string, why: string, cause?: unknown): PlugboardError {
  return new PlugboardError("config-unreadable", `${file} ${why}.`, { data: { file }, cause });
}
