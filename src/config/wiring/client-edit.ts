import { sha256 } from "../../lib/canonical.ts";
import { isRecord } from "../../lib/record.ts";
import { type Path, valueAt } from "../documents/document.ts";
import { applyChanges, type Change, type FoundText } from "../edit.ts";
import type { Merging } from "../formats/format.ts";
import { type Splice, spliceBetween } from "./splices.ts";

/** What was written into a client's file, so that it can be taken out again. */
export interface ClientEdit {
  client: string;
  scope: "user" | "project";
  file: string;
  /** The names of our entries there. */
  entries: string[];
  /** What our entries are recognised by; missing in older records. */
  marks?: string[];
  /** Each change, with the entry that it was for; no entry if it was beside them. */
  steps: (Splice & { entry: string })[];
  /** The top-level keys that were changed. */
  keys: string[];
  /** The hash of the file's text after our last change. Absent once another program has changed the file in between. */
  hash?: string;
  /** Set if there was no file: the folders that were created for it, the innermost first. */
  created?: string[];
  /** What a file without any value had, for example nothing. */
  blank?: string;
  /** The objects and lists that were not there before, the innermost first. */
  containers: Path[];
}

/** Writes entries: the text with these changes, and what has to be kept to undo them and the earlier ones of `edit`. */
export async function addEntries(
  found: FoundText,
  changes: readonly Change[],
  { entries, merging, edit }: { entries: readonly string[]; merging: Merging; edit: NewEdit },
): Promise<{ text: string; edit: ClientEdit }> {
  const container = merging.container(found.value);
  const steps: ClientEdit["steps"] = [];
  const text = await applyChanges(found, changes, edit.file, (before, after) => {
    const change = changes[steps.length];
    const entry = change ? entryAt(change, found.value, merging) : "";
    steps.push({ ...spliceBetween(before, after), entry });
  });
  const missing = container
    .map((_, index) => container.slice(0, index + 1))
    .filter((path) => valueAt(found.value, path) === undefined);
  const { steps: earlier = [], hash, ...rest } = edit;
  const isUnchanged = earlier.length === 0 || hash === sha256(found.text);
  const isBlank = found.exists && found.text.trim() === "";
  return {
    text,
    edit: {
      ...rest,
      entries: [...new Set([...(edit.entries ?? []), ...entries])],
      steps: [...earlier, ...steps],
      keys: [...new Set([...(edit.keys ?? []), ...changes.map(({ path }) => String(path[0]))])],
      containers: [...missing.toReversed(), ...(edit.containers ?? [])],
      ...(isUnchanged && { hash: sha256(text) }),
      ...(isBlank && { blank: found.text }),
    },
  };
}

export type NewEdit = Pick<ClientEdit, "client" | "scope" | "file"> & Partial<ClientEdit>;

/** The name of the entry that a change is for; empty for what is written beside the entries. */
function entryAt(
  change: { path: Path; value?: unknown },
  document: Record<string, unknown>,
  { container, nameField }: Merging,
): string {
  const path = container(document);
  const place = change.path.slice(0, path.length + 1);
  if (place.length <= path.length || !path.every((step, index) => step === place[index])) return "";
  if (nameField === undefined) return String(place.at(-1));
  const item = valueAt(document, place) ?? change.value;
  return isRecord(item) ? String(item[nameField]) : "";
}

/** Where entries are in an object or list of them, and where a further item would be. */
export function placesOf(servers: unknown, { nameField }: Merging) {
  const items: unknown[] = Array.isArray(servers) ? servers : [];
  const names = nameField === undefined ? [] : items.map((item) => valueAt(item, [nameField]));
  const of = (name: string): string | number | undefined => {
    if (nameField === undefined) return valueAt(servers, [name]) === undefined ? undefined : name;
    return names.includes(name) ? names.indexOf(name) : undefined;
  };
  return { of, next: items.length };
}

/** Those of the names that a document has an entry of. */
export function namesThere(
  document: Record<string, unknown>,
  names: readonly string[],
  merging: Merging,
): string[] {
  const { of } = placesOf(valueAt(document, merging.container(document)), merging);
  return names.filter((name) => of(name) !== undefined);
}
