import { canonicalJson, sha256 } from "../../lib/canonical.ts";
import { isRecord } from "../../lib/record.ts";
import { parseDocument, type Path, valueAt } from "../documents/document.ts";
import { applyChanges, type Change, type FoundText } from "../edit.ts";
import type { Merging } from "../formats/format.ts";
import { addEntries, type ClientEdit, placesOf } from "./client-edit.ts";
import { undone, undoneWhereFound } from "./splices.ts";

/** How an entry was taken out: by giving back the file that was there, by cutting out what was added, or by editing. */
export type Removal = "restored" | "cut" | "edited";

export interface Removed {
  /** Null if the file was ours alone. */
  text: string | null;
  how: Removal;
  /** What is left to undo, if anything is. */
  edit?: ClientEdit;
}

/** A client's text without these entries. */
export async function removeEntries(
  found: FoundText,
  names: readonly string[],
  { merging, edit, file }: { merging: Merging; edit: ClientEdit | undefined; file: string },
): Promise<Removed> {
  if (edit && edit.hash === sha256(found.text)) return restored(found, names, merging, edit);
  const cut = edit && (await cutOut(found, names, merging, edit));
  const text = cut ?? (await editedOut(found, names, merging, edit, file));
  const { value } = await parseDocument(text, found.syntax);
  const isEmpty = text.trim() === "" || (isRecord(value) && Object.keys(value).length === 0);
  const left = isEmpty ? (edit?.created ? null : (edit?.blank ?? text)) : text;
  const how = cut === undefined ? "edited" : "cut";
  const entries = edit?.entries.filter((name) => !names.includes(name)) ?? [];
  if (!edit || entries.length === 0) return { text: left, how };
  const { hash: _, ...rest } = edit;
  const steps = edit.steps.filter(({ entry }) => !names.includes(entry));
  return { text: left, how, edit: { ...rest, entries, steps } };
}

/** Nobody else changed the file, so it becomes what it was; what stays is written into that again. */
async function restored(
  found: FoundText,
  names: readonly string[],
  merging: Merging,
  edit: ClientEdit,
): Promise<Removed> {
  const text = undone(found.text, edit.steps);
  const { client, scope, file, created, marks } = edit;
  const entries = edit.entries.filter((name) => !names.includes(name));
  if (entries.length === 0) return { text: created ? null : text, how: "restored" };
  const { value } = await parseDocument(text, found.syntax);
  const base = { ...found, text, exists: !created, value: isRecord(value) ? value : {} };
  const servers = valueAt(found.value, merging.container(found.value));
  const placeOf = placesOf(servers, merging);
  const first = placesOf(valueAt(base.value, merging.container(base.value)), merging).next;
  const kept = entries.flatMap((name) => {
    const entry = valueAt(servers, [placeOf.of(name) ?? name]);
    return entry === undefined ? [] : [{ name, entry }];
  });
  const container = merging.container(base.value);
  const changes = [
    ...kept.map(({ name, entry }, index): Change => {
      const place = merging.nameField === undefined ? name : first + index;
      return { path: [...container, place], value: entry };
    }),
    ...(merging.around?.(base.value, Object.fromEntries(kept.map((one) => [one.name, one.entry])), []) ?? []),
  ];
  const again = { client, scope, file, ...(created && { created }), ...(marks && { marks }) };
  const added = await addEntries(base, changes, { entries, merging, edit: again });
  return { text: added.text, how: "restored", edit: added.edit };
}

/** Cuts out the very text that was added, if it is still there and nothing but the entries changes by that. */
async function cutOut(
  found: FoundText,
  names: readonly string[],
  merging: Merging,
  edit: ClientEdit,
): Promise<string | undefined> {
  const isAll = edit.entries.every((name) => names.includes(name));
  const steps = edit.steps.filter(({ entry }) => (entry === "" ? isAll : names.includes(entry)));
  const text = steps.length > 0 ? undoneWhereFound(found.text, steps) : undefined;
  if (text === undefined) return undefined;
  const { value, problems } = await parseDocument(text, found.syntax);
  const othersIn = (one: Record<string, unknown>) => canonicalJson(others(one, names, merging, edit));
  const isFaithful = problems.length === 0 && isRecord(value) && othersIn(value) === othersIn(found.value);
  return isFaithful ? text : undefined;
}

/** What a document says apart from these entries and what was added beside them. */
function others(
  document: Record<string, unknown>,
  names: readonly string[],
  { container, nameField }: Merging,
  edit: ClientEdit,
): unknown {
  const path = container(document);
  const servers = valueAt(document, path);
  const left = Array.isArray(servers)
    ? servers.filter((item) => !isRecord(item) || !names.includes(String(item[nameField ?? ""])))
    : Object.fromEntries(Object.entries(servers ?? {}).filter(([name]) => !names.includes(name)));
  const rest = withAt(document, path, Object.keys(left).length > 0 ? left : undefined) ?? {};
  const beside = edit.keys.filter((key) => key !== path[0]);
  return Object.fromEntries(Object.entries(rest).filter(([key]) => !beside.includes(key)));
}

/** A copy with another value at a path, and without the objects that are empty by that. */
function withAt(value: unknown, [first, ...path]: Path, next: unknown): unknown {
  if (first === undefined) return next;
  const inner = withAt(valueAt(value, [first]), path, next);
  const members = Object.entries(isRecord(value) ? value : {}).filter(([key]) => key !== first);
  const all = inner === undefined ? members : [...members, [first, inner] as const];
  return all.length > 0 ? Object.fromEntries(all) : undefined;
}

async function editedOut(
  found: FoundText,
  names: readonly string[],
  merging: Merging,
  edit: ClientEdit | undefined,
  file: string,
): Promise<string> {
  const path = merging.container(found.value);
  const { of } = placesOf(valueAt(found.value, path), merging);
  // The last of a list first: the others keep their places.
  const places = names.map(of).filter((place) => place !== undefined);
  const ordered = places.toSorted((one, other) => Number(other) - Number(one));
  const changes = ordered.map((place): Change => ({ path: [...path, place], remove: true }));
  let text = await applyChanges(found, changes, file);
  for (const own of edit?.containers ?? []) {
    const { value } = await parseDocument(text, found.syntax);
    const left = valueAt(value, own);
    if (!isRecord(value) || typeof left !== "object" || left === null || Object.keys(left).length > 0)
      continue;
    text = await applyChanges({ text, value, syntax: found.syntax }, [{ path: own, remove: true }], file);
  }
  return text;
}
