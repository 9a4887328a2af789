import { isRecord } from "../../lib/record.ts";
import { type EntryShape, readEntry, writeEntry } from "./entry.ts";
import { lost } from "./draft.ts";
import type { Format, ImportedFile, NamedServer, Note, ReadContext, Skipped, WrittenFile } from "./format.ts";

/** A client as a table: where its servers are, and what the fields of one server mean. */
export interface Client extends Omit<Format, "read" | "write">, EntryShape {
  find(document: Record<string, unknown>, context: ReadContext): Found;
  /** Puts entries where `find` finds them; a client without it is only read. */
  wrap?(entries: Record<string, unknown>, servers: readonly NamedServer[]): Record<string, unknown>;
}

export interface Found {
  entries: readonly (readonly [name: string, entry: unknown])[];
  /** Names in the user's file that are about this project alone. */
  local?: ReadonlySet<string>;
  /** Servers that are switched off somewhere else in the document. */
  off?: (name: string) => boolean;
  notes?: Note[];
  skipped?: Skipped[];
  /** When entries of one document are written in another way than the client's usual one. */
  shape?: EntryShape;
}

export function clientFormat(client: Client): Format {
  const { id, title, syntax, wrap } = client;
  const format: Format = {
    id,
    title,
    syntax,
    files: (machine) => client.files(machine),
    read: (document, context) => readDocument(client, document, context),
  };
  if (wrap) format.write = (servers) => writeDocument(client, wrap, servers);
  return format;
}

function readDocument(client: Client, document: unknown, context: ReadContext): ImportedFile {
  const file: ImportedFile = { servers: [], notes: [], skipped: [] };
  if (document === undefined || document === null) return file;
  if (!isRecord(document))
    return { ...file, skipped: [{ name: context.file, reason: "the file is not an object" }] };
  const found = client.find(document, context);
  file.notes.push(...(found.notes ?? []));
  file.skipped.push(...(found.skipped ?? []));
  const seen = new Set<string>();
  for (const [name, entry] of found.entries) {
    const result = seen.has(name)
      ? { problem: "the same name was there before" }
      : readEntry(name, entry, found.shape ?? client, context);
    seen.add(name);
    if ("problem" in result) {
      file.skipped.push({ name, reason: result.problem });
      continue;
    }
    if (found.off?.(name)) result.server.config.enabled = false;
    if (found.local?.has(name)) result.server.local = true;
    file.servers.push(result.server);
  }
  return file;
}

function writeDocument(
  client: Client,
  wrap: NonNullable<Client["wrap"]>,
  servers: readonly NamedServer[],
): WrittenFile {
  const written = servers.map(({ name, config }) => ({ name, ...writeEntry(config, client, client.title) }));
  return {
    value: wrap(Object.fromEntries(written.map(({ name, entry }) => [name, entry])), servers),
    notes: written.flatMap(({ name, notes }) => notes.map((note) => Object.assign({ server: name }, note))),
  };
}

/** The servers under one key of a file that is about servers only: every other key is worth a note. */
export function ownFile(key: string, known: readonly string[] = []): Pick<Client, "find" | "wrap"> {
  return {
    find: (document) => {
      const others = Object.keys(document).filter((name) => ![key, "$schema", ...known].includes(name));
      const found = entriesOf(document[key], key);
      return { ...found, notes: others.map((name) => lost(name, "there is nothing like it here")) };
    },
    wrap: (entries) => ({ [key]: entries }),
  };
}

/** The servers under one key of a file with all of a client's settings. */
export function settingsFile(key: string): Pick<Client, "find" | "wrap"> {
  return { find: (document) => entriesOf(document[key], key), wrap: (entries) => ({ [key]: entries }) };
}

export function entriesOf(value: unknown, key: string): Pick<Found, "entries"> & { skipped: Skipped[] } {
  if (isRecord(value)) return { entries: Object.entries(value), skipped: [] };
  return {
    entries: [],
    skipped:
      value === undefined || value === null ? [] : [{ name: key, reason: `\`${key}\` is not an object` }],
  };
}

/** Servers in a list, each with its name inside. */
export function listedEntries(value: unknown, key: string, nameField: string): Found {
  if (value === undefined || value === null) return { entries: [] };
  if (!Array.isArray(value))
    return { entries: [], skipped: [{ name: key, reason: `\`${key}\` is not a list` }] };
  const entries: [string, unknown][] = [];
  const skipped: Skipped[] = [];
  for (const [index, entry] of (value as unknown[]).entries()) {
    const name = isRecord(entry) ? entry[nameField] : undefined;
    if (typeof name === "string" && name !== "") entries.push([name, entry]);
    else skipped.push({ name: `${key}[${index}]`, reason: `it has no \`${nameField}\`` });
  }
  return { entries, skipped };
}
