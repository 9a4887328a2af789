import { isRecord } from "../../lib/record.ts";
import { nest, type Path, valueAt } from "../documents/document.ts";
import type { Change } from "../edit.ts";
import type { Format, Merging, NamedServer, Note, ReadContext } from "../formats/format.ts";
import type { ServerConfig } from "../server-schema.ts";
import { differences } from "./compare.ts";
import { changesBetween, mergeEntry } from "./merge-entry.ts";
import { namesThere, type ClientName } from "./client-names.ts";
import { sentFields } from "../check-server.ts";
import { decided, isOtherHost, isOtherProgram, withoutFields } from "./moved-host.ts";

/** One server of ours, compared with the client's. */
export interface ComparedServer {
  name: string;
  /** What the client calls it, if that is another name. */
  nameThere?: string;
  /**
   * `missing`: the client does not have it. `different`: it has it, but not as it is here. `other`: it has another
   * server by that name, which is left alone. `off`: it is the same but switched off there, which is left alone.
   * `left`: it cannot be written, for the given reason.
   */
  state: "same" | "missing" | "different" | "other" | "off" | "left";
  /** What differs, in the words of our configuration, for example `env.DSN`. */
  fields: string[];
  reason?: string;
  /** The client's server, read into our configuration. */
  theirs?: ServerConfig;
  /** What the client will have after the change, if there is one; of another server, what it would be. */
  after?: ServerConfig;
  /** What the client cannot express, or needs from a person. */
  notes: Note[];
}

/** Our servers compared with those in a client's document. */
export interface ComparedDocument {
  servers: ComparedServer[];
  /** Servers that only the client has. */
  onlyThere: { name: string; isEnabled: boolean }[];
  /** What makes the client's document agree with our servers. Nothing else in it changes. */
  changes: Change[];
}

export interface Comparing {
  context: ReadContext;
  /** All our names, including servers that are not compared. */
  known: ReadonlySet<string>;
  /** What clients call our servers. */
  names?: readonly ClientName[];
  /** Leaves a server alone that has the name of ours, but another target, and was never known to be ours. */
  keepOthers?: boolean;
}

/** Compares our servers with those in a client's document. */
export function compareDocument(
  format: Format & { merging: Merging },
  document: Readonly<Record<string, unknown>>,
  servers: readonly NamedServer[],
  { context, known, names = [], keepOthers = false }: Comparing,
): ComparedDocument {
  const container = format.merging.container(document);
  const places = placesIn(valueAt(document, container), container, format.merging.nameField);
  // What Claude Code has for this project only is not in the place that is compared.
  const read = format.read(document, context).servers.filter(({ local }) => !local);
  const there = new Map(read.map((server) => [server.name, server.config]));
  const place = { client: format.id, file: context.file };
  const hasThere = (name: string) => valueAt(document, places.of(name)) !== undefined;
  const called = namesThere(names, place, { configured: known, hasThere });
  const claimed = new Set(known);
  const entries: Record<string, unknown> = {};
  const changes: Change[] = [];
  const written: NamedServer[] = [];
  const compared = servers.map(({ name: own, config: ours }): ComparedServer => {
    const name = called.nameOf(own);
    const server: NamedServer = { name, config: ours };
    const names = { name: own, ...(name !== own && { nameThere: name }) };
    const taken = called.takenBy(name, own);
    if (taken !== undefined) {
      const reason = `its name is taken there by what is called "${taken}" here`;
      return { ...names, notes: [], fields: [], state: "left", reason };
    }
    if (name !== own) claimed.add(name);
    const path = places.of(name);
    const readFile = (entry: unknown) => format.read(nest(path, entry), context);
    const readAs = (entry: unknown) => readFile(entry).servers.find((one) => one.name === name)?.config;
    const { entry: desired, notes } = format.merging.writeServer(server, document);
    const expected = readAs(desired);
    const base = { ...names, notes, fields: [] };
    const cannotDisable = notes.some(({ kind, field }) => kind === "lost" && field === "enabled");
    if (!expected) return { ...base, state: "left", reason: `${format.title} could not read it` };
    if (ours.enabled === false && cannotDisable)
      return {
        ...base,
        state: "left",
        reason: `it is disabled here, and ${format.title} has no switch for that`,
      };
    const existing = valueAt(document, path);
    const theirs = readAs(existing);
    if (existing !== undefined && !theirs) {
      const reason =
        readFile(existing).skipped.find((one) => one.name === name)?.reason ?? "it is unreadable";
      return { ...base, state: "left", reason: `another entry has this name there: ${reason}` };
    }
    const count = (entry: Record<string, unknown>) => {
      const read = readAs(entry);
      return read ? differences(ours, expected, read).length : Infinity;
    };
    const fields = theirs ? differences(ours, expected, theirs) : [];
    const isOffThere = there.get(name)?.enabled === false;
    const mustDisable = ours.enabled === false && theirs !== undefined && !isOffThere;
    if (theirs && fields.length === 0 && !mustDisable)
      return { ...base, theirs, state: isOffThere && ours.enabled !== false ? "off" : "same" };
    const isOther = !called.isKnown(own) && fields.some((field) => /^(type|command|args|url)$/.test(field));
    if (theirs && isOther && keepOthers) return { ...base, theirs, after: expected, state: "other", fields };
    const outdated = theirs ? outdatedFields(theirs, expected, isOther) : [];
    const kept = isRecord(existing) ? withoutFields(existing, outdated, readAs) : existing;
    const merged = theirs ? { ...mergeEntry(kept, desired, count), ...offSwitch(desired, ours) } : desired;
    places.take(name);
    entries[name] = merged;
    written.push(server);
    changes.push(...changesBetween(path, existing, merged));
    const after = readAs(merged) ?? expected;
    if (!theirs) return { ...base, after, state: "missing" };
    const differing = mustDisable ? [...fields, "enabled"] : fields;
    return { ...base, theirs, after, state: "different", fields: differing };
  });
  changes.push(...(format.merging.around?.(document, entries, written) ?? []));
  const onlyThere = [...there]
    .filter(([name]) => !claimed.has(name))
    .map(([name, config]) => ({ name, isEnabled: config.enabled !== false }));
  return { servers: compared, onlyThere, changes };
}

/** The fields that were meant for what the entry starts or contacts now, and not for what it will. */
function outdatedFields(theirs: ServerConfig, ours: ServerConfig, isOther: boolean): (keyof ServerConfig)[] {
  const isMoved = isOtherHost(theirs, ours);
  const isDecided = isMoved || isOther || isOtherProgram(theirs, ours);
  return [
    ...(isMoved ? sentFields : []),
    ...(isDecided ? decided : []),
    ...(isOther ? (["tools"] as const) : []),
  ];
}

/** Where the entry of a name is, or where a new one would go: in a list, after the last one that was taken. */
function placesIn(value: unknown, container: Path, nameField: string | undefined) {
  if (nameField === undefined)
    return { of: (name: string): Path => [...container, name], take: () => undefined };
  const items: unknown[] = Array.isArray(value) ? value : [];
  const names = items.map((item) => (isRecord(item) ? item[nameField] : undefined));
  const indexOf = (name: string) => (names.includes(name) ? names.indexOf(name) : names.length);
  return {
    of: (name: string): Path => [...container, indexOf(name)],
    take: (name: string) => void (names[indexOf(name)] = name),
  };
}

/** The fields of an entry that only say that the server is disabled. */
function offSwitch(desired: Record<string, unknown>, { enabled }: ServerConfig): Record<string, unknown> {
  if (enabled !== false) return {};
  return Object.fromEntries(Object.entries(desired).filter(([field]) => /^(enabled|disabled)$/.test(field)));
}
