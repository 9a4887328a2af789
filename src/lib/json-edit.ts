import { jsonItems, jsonMembers } from "./json-members.ts";
import type { JsonMember } from "./json-members.ts";

/**
 * Changes to a JSON value, by key or index: other JSON text in its place, `undefined` to remove a member, or changes
 * inside of it.
 */
export type JsonEdits = Map<string | number, string | undefined | JsonEdits>;

/**
 * Changes parts of a JSON text, and leaves every other value as the bytes that came: numbers keep their digits, and how
 * deep a value is does not matter. A member that is not there is added.
 */
export function editJson(text: Buffer, edits: JsonEdits): Buffer {
  const parts: Buffer[] = [];
  writeEdited(text, edits, parts);
  return Buffer.concat(parts);
}

/** Sets the change of the value at a path. */
export function addEdit(
  edits: JsonEdits,
  path: readonly (string | number)[],
  text: string | undefined,
): void {
  const [last = ""] = path.slice(-1);
  let inside = edits;
  for (const key of path.slice(0, -1)) {
    const known = inside.get(key);
    const next: JsonEdits = known instanceof Map ? known : new Map();
    inside.set(key, next);
    inside = next;
  }
  inside.set(last, text);
}

function writeEdited(text: Buffer, edits: JsonEdits, parts: Buffer[]): void {
  const members = jsonMembers(text);
  if (members) return writeObject(text, members, edits, parts);
  const items = jsonItems(text, text.length);
  if (!items) return void parts.push(text);
  for (const [index, { start, end }] of items.entries()) {
    parts.push(index === 0 ? opening : comma);
    writeValue(text.subarray(start, end), edits.get(index), parts);
  }
  parts.push(items.length === 0 ? Buffer.from("[]") : closing);
}

const [opening, closing, comma] = ["[", "]", ","].map((mark) => Buffer.from(mark)) as [
  Buffer,
  Buffer,
  Buffer,
];

function writeObject(text: Buffer, members: readonly JsonMember[], edits: JsonEdits, parts: Buffer[]): void {
  let separator = "{";
  const begin = (key: string) => {
    parts.push(Buffer.from(`${separator}${JSON.stringify(key)}:`));
    separator = ",";
  };
  for (const { key, start, end } of members) {
    const edit = edits.get(key);
    if (edit === undefined && edits.has(key)) continue;
    begin(key);
    writeValue(text.subarray(start, end), edit, parts);
  }
  const known = new Set(members.map(({ key }) => key));
  for (const [key, edit] of edits) {
    if (edit === undefined || typeof key !== "string" || known.has(key)) continue;
    begin(key);
    writeValue(Buffer.from("{}"), edit, parts);
  }
  parts.push(Buffer.from(separator === "{" ? "{}" : "}"));
}

function writeValue(came: Buffer, edit: string | undefined | JsonEdits, parts: Buffer[]): void {
  if (edit === undefined) parts.push(came);
  else if (typeof edit === "string") parts.push(Buffer.from(edit));
  else writeEdited(came, edit, parts);
}
