import { sha256 } from "../../lib/canonical.ts";
import { readBoundedFile } from "../../lib/bounded-file.ts";
import { printableJson } from "../../lib/printable.ts";
import { isRecord, own } from "../../lib/record.ts";
import { jsonValueEnd } from "../../lib/strict-json.ts";
import { Pin, pinnedKinds, surfaceHash } from "./pins.ts";
import type { PinnedKind, PinnedPackage, ServerPins } from "./pins.ts";

/** More than 10,000 tools. */
export const maxLockBytes = 32_000_000;
/** Definitions may have 128 levels. */
const maxDepth = 140;
const lockVersion = 1;

/** A lock file as it was read. */
export interface LockFile {
  readonly file: string;
  readonly stamp: string;
  readonly isMissing?: true;
  /** Why it cannot be used at all. */
  readonly broken?: string;
  readonly servers: ReadonlyMap<string, ServerPins>;
  /** As it is in the file. */
  readonly written: Readonly<Record<string, unknown>>;
}

/** What is pinned of one server, before it is in a file. */
export type Surface = Omit<ServerPins, "file" | "stamp" | "broken" | "isFileBroken">;

export async function readLock(file: string): Promise<LockFile> {
  const read = await readBoundedFile(file, maxLockBytes);
  if (read.kind === "missing") return { file, stamp: "", isMissing: true, servers: new Map(), written: {} };
  if (read.kind === "refused") return brokenLock(file, read.reason);
  return parseLock(file, read.text);
}

export function brokenLock(file: string, broken: string): LockFile {
  return { file, stamp: `broken: ${broken}`, broken, servers: new Map(), written: {} };
}

/** The pins of a server if this file cannot be read: then nothing that it might pin is offered. */
export function brokenPins({ file, stamp }: Pick<LockFile, "file" | "stamp">, broken: string): ServerPins {
  const none = new Map<string, Pin>();
  return { file, stamp, broken, tools: none, prompts: none, resourceTemplates: none };
}

export function parseLock(file: string, text: string): LockFile {
  // Looked at first: parsing millions of brackets takes seconds.
  const end = jsonValueEnd(Buffer.from(text.trimStart()), 0, maxDepth);
  if (end === -1) return brokenLock(file, `is not valid JSON, or is nested deeper than ${maxDepth} levels`);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return brokenLock(file, "is not valid JSON");
  }
  if (!isRecord(value)) return brokenLock(file, "does not contain an object");
  const { lockVersion: written, servers } = value;
  if (written !== lockVersion) {
    const known = `this Plugboard reads version ${lockVersion}`;
    const what = typeof written === "number" ? `has the format version ${written}` : "has no `lockVersion`";
    return brokenLock(file, `${what}; ${known}`);
  }
  if (!isRecord(servers)) return brokenLock(file, "has no `servers`");
  const stamp = sha256(text);
  const read = Object.entries(servers).map(
    ([name, written]) => [name, parseServer(written, { file, stamp })] as const,
  );
  return { file, stamp, servers: new Map(read), written: servers };
}

function parseServer(written: unknown, lock: Pick<LockFile, "file" | "stamp">): ServerPins {
  const surface = isRecord(written) ? surfaceOf(written) : undefined;
  if (!surface) return brokenPins(lock, "has pins of another form for this server");
  if (own(written as Record<string, unknown>, "hash") !== surfaceHash(surface))
    return brokenPins(lock, "was edited by hand: this server's pins do not match their hash");
  return { ...lock, ...surface };
}

function surfaceOf(written: Record<string, unknown>): Surface | undefined {
  const [tools, prompts, resourceTemplates] = pinnedKinds.map((kind) => pinsOf(own(written, kind)));
  const instructions = own(written, "instructions");
  const pinned = instructions === undefined ? undefined : pinOf(instructions);
  const known = own(written, "package");
  if (!tools || !prompts || !resourceTemplates) return undefined;
  if ((instructions !== undefined && !pinned) || (known !== undefined && !isPackage(known))) return undefined;
  return { tools, prompts, resourceTemplates, instructions: pinned, package: known };
}

function pinsOf(written: unknown): ReadonlyMap<string, Pin> | undefined {
  if (written === undefined) return new Map();
  if (!isRecord(written)) return undefined;
  const pins = new Map<string, Pin>();
  for (const [name, one] of Object.entries(written)) {
    const pin = pinOf(one);
    if (!pin) return undefined;
    pins.set(name, pin);
  }
  return pins;
}

function pinOf(written: unknown): Pin | undefined {
  const hash = isRecord(written) ? own(written, "hash") : undefined;
  if (typeof hash !== "string" || !isRecord(written) || !Object.hasOwn(written, "definition"))
    return undefined;
  return new Pin(hash, written["definition"]);
}

function isPackage(written: unknown): written is PinnedPackage {
  if (!isRecord(written)) return false;
  const { manager, name, version, integrity, note } = written;
  const isManaged = manager === "npm" || manager === "pypi";
  const texts = [name, version, integrity, note ?? ""];
  return isManaged && texts.every((text) => typeof text === "string");
}

/**
 * The text of a lock file: sorted, so that a diff shows what changed and nothing else, and with every character escaped
 * that could show a reader something else than what is there.
 */
export function formatLock(servers: Readonly<Record<string, unknown>>): string {
  const written = { lockVersion, servers: sortedDeeply(servers) };
  return `${printableJson(JSON.stringify(written, null, 2))}\n`;
}

/** The pins of one server as they are written. */
export function writtenPins(surface: Surface): Record<string, unknown> {
  const { instructions, package: known } = surface;
  const lists = pinnedKinds.filter((kind) => surface[kind].size > 0);
  const pins = (kind: PinnedKind) =>
    Object.fromEntries([...surface[kind]].map(([name, pin]) => [name, writtenPin(pin)]));
  return {
    hash: surfaceHash(surface),
    ...(known && { package: known }),
    ...(instructions && { instructions: writtenPin(instructions) }),
    ...Object.fromEntries(lists.map((kind) => [kind, pins(kind)])),
  };
}

function writtenPin({ hash, definition }: Pin): object {
  return { hash, definition };
}

function sortedDeeply(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortedDeeply);
  if (!isRecord(value)) return value;
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(members.map(([key, member]) => [key, sortedDeeply(member)]));
}
