import { isRecord } from "../../lib/record.ts";

/** The JSON type of a value, as named in a schema. */
export function typeName(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  return typeof value === "object" ? "object" : typeof value;
}

/** "a string", "an array", "null". */
export function withArticle(type: string): string {
  if (type === "null" || type === "nothing") return type;
  return /^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`;
}

/** "a", "a or b", "a, b or c". */
export function orList(words: readonly string[]): string {
  const last = words.at(-1) ?? "nothing";
  return words.length < 2 ? last : `${words.slice(0, -1).join(", ")} or ${last}`;
}

/** A value, shortened to fit in a sentence. */
export function preview(value: unknown): string {
  if (Array.isArray(value)) return value.length === 0 ? "[]" : "an array";
  if (isRecord(value)) return "an object";
  if (typeof value === "string" && value.length > 60) return `${JSON.stringify(value.slice(0, 57))}…`;
  return JSON.stringify(value) ?? "undefined";
}

/** The first values of a list, and the number of the others. */
export function previewList(values: readonly unknown[]): string {
  const shown = values.slice(0, 12).map(preview);
  return values.length > 12 ? `${shown.join(", ")} or ${values.length - 12} others` : orList(shown);
}

export function plural(count: number, word: string, words = `${word}s`): string {
  return `${count} ${count === 1 ? word : words}`;
}

/** What a schema expects, in a word or two; undefined if there is no short description. */
export function expectation(schema: unknown): string | undefined {
  if (!isRecord(schema)) return undefined;
  const { type } = schema;
  if (typeof type === "string") return type;
  if (Array.isArray(type) && type.every((name) => typeof name === "string")) return orList(type);
  if (Array.isArray(schema["enum"])) return previewList(schema["enum"]);
  return "const" in schema ? preview(schema["const"]) : undefined;
}
