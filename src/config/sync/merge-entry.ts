import { canonicalJson } from "../../lib/canonical.ts";
import { isRecord } from "../../lib/record.ts";
import { bareObject, type Path } from "../documents/document.ts";
import type { Change } from "../edit.ts";

type Entry = Record<string, unknown>;

const maxFields = 100;

/**
 * A client's entry changed so that it says what we say, with as little change as possible: fields that only this
 * client has, its off switch, and values that mean the same stay. `countDifferences` reads an entry as the client
 * does.
 */
export function mergeEntry(
  existing: unknown,
  desired: Entry,
  countDifferences: (entry: Entry) => number,
): Entry {
  // No client has entries with so many fields, and each is tried in turn.
  if (!isRecord(existing) || Object.keys(existing).length > maxFields) return desired;
  let merged: Entry = { ...existing };
  let remaining = countDifferences(merged);
  const candidates = [
    ...places(desired).map((path) => ({ path, value: at(desired, path) })),
    ...Object.keys(existing)
      .filter((field) => at(desired, [field]) === undefined)
      .map((field) => ({ path: [field], value: undefined })),
  ];
  for (const { path, value } of candidates) {
    if (remaining === 0) break;
    const candidate = withMember(merged, path, value);
    const count = countDifferences(candidate);
    if (count >= remaining) continue;
    merged = candidate;
    remaining = count;
  }
  return remaining === 0 ? merged : replaceEntry(existing, desired, countDifferences);
}

/** For an entry that becomes something else, for example a remote server: keeps only what does not change the result. */
function replaceEntry(existing: Entry, desired: Entry, countDifferences: (entry: Entry) => number): Entry {
  let merged = desired;
  for (const [field, value] of Object.entries(existing)) {
    if (Object.hasOwn(desired, field)) continue;
    const candidate = { ...merged, [field]: value };
    if (countDifferences(candidate) <= countDifferences(merged)) merged = candidate;
  }
  return merged;
}

/** Fields, and the members of fields that are objects. */
function places(entry: Entry): string[][] {
  return Object.entries(entry).flatMap(([field, value]) =>
    isRecord(value) ? [...Object.keys(value).map((member) => [field, member]), [field]] : [[field]],
  );
}

function at(entry: Entry, [field = "", member]: string[]): unknown {
  const value = Object.hasOwn(entry, field) ? entry[field] : undefined;
  if (member === undefined) return value;
  return isRecord(value) && Object.hasOwn(value, member) ? value[member] : undefined;
}

function withMember(entry: Entry, [field = "", member]: string[], value: unknown): Entry {
  const inner = Object.hasOwn(entry, field) ? entry[field] : undefined;
  const next = member === undefined ? value : withMember(isRecord(inner) ? inner : {}, [member], value);
  const { [field]: _replaced, ...others } = entry;
  if (next === undefined) return others;
  return Object.hasOwn(entry, field)
    ? Object.fromEntries(Object.entries(entry).map(([key, old]) => [key, key === field ? next : old]))
    : { ...entry, [field]: next };
}

/** The changes that turn one value into another, each as deep as possible, so that the rest of the text stays. */
export function changesBetween(path: Path, before: unknown, after: unknown): Change[] {
  if (canonicalJson(before ?? null) === canonicalJson(after ?? null)) return [];
  if (!isRecord(before) || !isRecord(after)) return [{ path, value: plain(after) }];
  return [
    ...Object.keys(before)
      .filter((key) => !Object.hasOwn(after, key))
      .map((key): Change => ({ path: [...path, key], remove: true })),
    ...Object.entries(after).flatMap(([key, value]) => changesBetween([...path, key], before[key], value)),
  ];
}

/** Without prototypes, as parsed documents are, so that both compare as equal. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (!isRecord(value)) return value;
  const object = bareObject();
  for (const [key, member] of Object.entries(value)) object[key] = plain(member);
  return object;
}
