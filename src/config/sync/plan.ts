import { isRecord } from "../../lib/record.ts";
import { nest, type Path, valueAt } from "../documents/document.ts";
import type { Change } from "../edit.ts";
import type { Format, Merging, NamedServer, Note, ReadContext } from "../formats/format.ts";
import type { ServerConfig } from "../server-schema.ts";
import { differences } from "./compare.ts";
import { changesBetween, mergeEntry } from "./merge-entry.ts";
import { isOtherHost, withoutSent } from "./moved-host.ts";

/** One server of ours, compared with the client's. */
export interface ComparedServer {
  name: string;
  /**
   * `missing`: the client does not have it. `different`: it has another server by that name. `off`: it is the same but
   * switched off there, which is left alone. `left`: it cannot be written, for the given reason.
   */
  state: "same" | "missing" | "different" | "off" | "left";
  /** What differs, in the words of our configuration, for example `env.DSN`. */
  fields: string[];
  reason?: string;
  /** The client's server, read into our configuration. */
  theirs?: ServerConfig;
  /** What the client will have after the change, if there is one. */
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

/** Compares our servers with those in a client's document. `known` are all our names, including servers that are not compared. */
export function compareDocument(
  format: Format & { merging: Merging },
  document: Readonly<Record<string, unknown>>,
  servers: readonly NamedServer[],
  { context, known }: { context: ReadContext; known: ReadonlySet<string> },
): ComparedDocument {
  const container = format.merging.container(document);
  const places = placesIn(valueAt(document, container), container, format.merging.nameField);
  // What Claude Code has for this project only is not in the place that is compared.
  const read = format.read(document, context).servers.filter(({ local }) => !local);
  const there = new Map(read.map((server) => [server.name, server.config]));
  const entries: Record<string, unknown> = {};
  const changes: Change[] = [];
  const written: NamedServer[] = [];
  const compared = servers.map((server): ComparedServer => {
    const { name, config: ours } = server;
    const path = places(name);
    const readFile = (entry: unknown) => format.read(nest(path, entry), context);
    const readAs = (entry: unknown) => readFile(entry).servers.find((one) => one.name === name)?.config;
    const { entry: desired, notes } = format.merging.writeServer(server, document);
    const expected = readAs(desired);
    const base = { name, notes, fields: [] };
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
    const kept =
      theirs && isRecord(existing) && isOtherHost(theirs, expected)
        ? withoutSent(existing, readAs)
        : existing;
    const merged = theirs ? { ...mergeEntry(kept, desired, count), ...offSwitch(desired, ours) } : desired;
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
    .filter(([name]) => !known.has(name))
    .map(([name, config]) => ({ name, isEnabled: config.enabled !== false }));
  return { servers: compared, onlyThere, changes };
}

/** Where the entry of a name is, or where a new one would go: in a list, after the last one. */
function placesIn(value: unknown, container: Path, nameField: string | undefined): (name: string) => Path {
  if (nameField === undefined) return (name) => [...container, name];
  const items: unknown[] = Array.isArray(value) ? value : [];
  const names = items.map((item) => (isRecord(item) ? item[nameField] : undefined));
  return (name) => {
    if (!names.includes(name)) names.push(name);
    return [...container, names.indexOf(name)];
  };
}

/** The fields of an entry that only say that the server is disabled. */
function offSwitch(desired: Record<string, unknown>, { enabled }: ServerConfig): Record<string, unknown> {
  if (enabled !== false) return {};
  return Object.fromEntries(Object.entries(desired).filter(([field]) => /^(enabled|disabled)$/.test(field)));
}
