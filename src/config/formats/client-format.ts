import { isRecord } from "../../lib/record.ts";
import { type EntryShape, readEntry, writeEntry } from "./entry.ts";
import { lost, noEquivalent } from "./draft.ts";
import { bareObject, type Path } from "../documents/document.ts";
import type {
  Format,
  ImportedFile,
  Merging,
  NamedServer,
  Note,
  ReadContext,
  Skipped,
  WrittenFile,
} from "./format.ts";

/** Describes a client's format: where its file lists servers, and what the fields of one server mean. */
export interface Client extends Omit<Format, "read" | "write" | "merging">, EntryShape {
  find(document: Record<string, unknown>, context: ReadContext): Found;
  /** Where entries are written, so that `find` finds them. Without it, Plugboard can only read this client's files. */
  container?: Container;
}

export interface Container {
  path(document: Readonly<Record<string, unknown>>): Path;
  /** Set if the servers are in a list there; each entry then contains its `name`. */
  isList?: true;
  /** Set if some documents have entries that differ from the client's usual shape. */
  shape?(document: Readonly<Record<string, unknown>>): EntryShape;
  around?: NonNullable<Merging["around"]>;
}

export interface Found {
  entries: readonly (readonly [name: string, entry: unknown])[];
  /** Servers in the user's file that apply only to this project. */
  local?: ReadonlySet<string>;
  /** For servers that are disabled elsewhere in the document. */
  isDisabled?: (name: string) => boolean;
  /** For servers that this project alone switches off. */
  isOffHere?: (name: string) => boolean;
  notes?: Note[];
  skipped?: Skipped[];
  /** Set when this document's entries differ from the client's usual shape. */
  shape?: EntryShape;
}

export function clientFormat(client: Client): Format {
  const { id, title, syntax, container } = client;
  const format: Format = {
    id,
    title,
    syntax,
    files: (machine) => client.files(machine),
    read: (document, context) => readDocument(client, document, context),
  };
  if (!container) return format;
  format.write = (servers) => writeDocument(client, container, servers);
  format.merging = {
    container: (document) => container.path(document),
    writeServer: ({ name, config }, document) =>
      writeEntry(name, config, container.shape?.(document) ?? client, title),
    ...(container.isList && { nameField: "name" }),
    ...(container.around && { around: container.around }),
  };
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
      ? { problem: "an earlier entry has the same name" }
      : readEntry(name, entry, found.shape ?? client, context);
    seen.add(name);
    if ("problem" in result) {
      file.skipped.push({ name, reason: result.problem });
      continue;
    }
    const isOffHere = found.isOffHere?.(name) ?? false;
    const isOff = result.server.config.enabled === false || (found.isDisabled?.(name) ?? false);
    if (isOff || isOffHere) result.server.config.enabled = false;
    if (found.local?.has(name)) result.server.local = true;
    else if (isOffHere && !isOff) result.server.offHere = true;
    file.servers.push(result.server);
  }
  return file;
}

function writeDocument(client: Client, container: Container, servers: readonly NamedServer[]): WrittenFile {
  const shape = container.shape?.({}) ?? client;
  const written = servers.map(({ name, config }) => ({
    name,
    ...writeEntry(name, config, shape, client.title),
  }));
  const entries = bareObject();
  for (const { name, entry } of written) entries[name] = entry;
  const value = bareObject();
  const places = [
    { path: container.path({}), value: container.isList ? written.map(({ entry }) => entry) : entries },
    ...(container.around?.({}, entries, servers) ?? []),
  ];
  for (const { path, value: member } of places) {
    const [outer = "", ...inner] = path.map(String);
    value[outer] = { ...(value[outer] as object), ...(nestIn(inner, member) as object) };
    if (inner.length === 0) value[outer] = member;
  }
  const notes = written.flatMap(({ name, notes: own }) =>
    own.map((note) => Object.assign({ server: name }, note)),
  );
  return { value, notes };
}

function nestIn(path: readonly string[], value: unknown): unknown {
  return path.reduceRight((inner, step) => ({ [step]: inner }), value);
}

/** For a file that contains only servers, under one key: every other key gets a note. */
export function ownFile(
  key: string,
  known: readonly string[] = [],
): Pick<Client, "find"> & { container: Container } {
  return {
    find: (document) => {
      const others = Object.keys(document).filter((name) => ![key, "$schema", ...known].includes(name));
      const found = entriesOf(document[key], key);
      return { ...found, notes: others.map((name) => lost(name, noEquivalent)) };
    },
    container: { path: () => [key] },
  };
}

/** For a file with all of a client's settings, which has servers under one key. */
export function settingsFile(key: string): Pick<Client, "find"> & { container: Container } {
  return { find: (document) => entriesOf(document[key], key), container: { path: () => [key] } };
}

export function entriesOf(value: unknown, key: string): Pick<Found, "entries"> & { skipped: Skipped[] } {
  if (isRecord(value)) return { entries: Object.entries(value), skipped: [] };
  return {
    entries: [],
    skipped:
      value === undefined || value === null ? [] : [{ name: key, reason: `\`${key}\` is not an object` }],
  };
}

/** For servers in a list, where each entry contains its name. */
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
