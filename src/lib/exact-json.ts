import { isDeeperThan } from "./depth.ts";
import { hasInexactNumbers } from "./exact-numbers.ts";

/**
 * Where an object or list has the texts of its numbers that JavaScript cannot hold, by their keys. Copying an object by
 * spreading copies them too. Code that knows nothing of them sees ordinary numbers.
 */
const textsKey: unique symbol = Symbol.for("plugboard.exact-numbers") as never;

type Texts = Readonly<Record<string, string>>;
type Holder = object & { [textsKey]?: Texts };

/** What is nested deeper is refused elsewhere, and could exhaust the stack here. */
const maxDepth = 1_000;
/** So many digits, or such an exponent, that a number may not fit. Fast, because every message is searched for it. */
const suspicious = /\d[\d.]{15}|\d[eE][+-]?\d{3}/;

/** Like `JSON.parse`. `stringifyExact` writes numbers that JavaScript changed as they came. */
export function parseExact(text: string): unknown {
  const value: unknown = JSON.parse(text);
  if (!suspicious.test(text) || !hasInexactNumbers(text) || isDeeperThan(value, maxDepth)) return value;
  return JSON.parse(text, keepText);
}

/** Other runtimes may not tell the source, and have the numbers as they are then. */
function keepText(this: unknown, key: string, value: unknown, context?: { source?: string }): unknown {
  const source = typeof value === "number" ? context?.source : undefined;
  if (source !== undefined && hasInexactNumbers(source)) {
    withExactText(this as object, key, source);
  }
  return value;
}

/** Like `JSON.stringify`, but numbers that `parseExact` could not hold are written as they came. */
export function stringifyExact(value: unknown, indent?: number): string {
  return hasTexts(value) ? JSON.stringify(value, withText, indent) : JSON.stringify(value, undefined, indent);
}

/** Notes the text of a number that was set as a member, if JavaScript cannot hold it. */
export function setExactText(holder: object, key: string, text: string): void {
  const written = text.trim().replace(/^\+/, "");
  if (jsonNumber.test(written) && hasInexactNumbers(written)) withExactText(holder, key, written);
}

const jsonNumber = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:e[+-]?\d+)?$/i;

function hasTexts(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (textsKey in value) return true;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) if (hasTexts(value[index])) return true;
    return false;
  }
  for (const key in value) if (hasTexts((value as Record<string, unknown>)[key])) return true;
  return false;
}

function withText(this: unknown, key: string, value: unknown): unknown {
  if (typeof value !== "number") return value;
  const text = exactText(this as object, key);
  return text === undefined ? value : rawJson(text);
}

/** The text of a member that is a number which JavaScript cannot hold; undefined for every other. */
export function exactText(holder: object, key: string): string | undefined {
  const text = (holder as Holder)[textsKey]?.[key];
  // The member may have got another value since.
  return text !== undefined && Number(text) === (holder as Record<string, unknown>)[key] ? text : undefined;
}

/** Gives a copy the texts that its original has. */
export function copyExact<T extends object>(original: object, copy: T): T {
  const texts = (original as Holder)[textsKey];
  if (texts) (copy as Holder)[textsKey] = { ...texts, ...(copy as Holder)[textsKey] };
  return copy;
}

/** Gives a number that stands in two places the same text in both. */
export function copyExactMember<T extends object>(from: object, key: string, to: T): T {
  const text = exactText(from, key);
  return text === undefined ? to : withExactText(to, key, text);
}

function withExactText<T extends object>(holder: T, key: string, text: string): T {
  (holder as Holder)[textsKey] = { ...(holder as Holder)[textsKey], [key]: text };
  return holder;
}

/** A member with which messages are told from each other: a whole number as it was written, however large. */
export function exactId(holder: object, key: string): unknown {
  const text = exactText(holder, key);
  return text !== undefined && /^-?\d+$/.test(text) ? BigInt(text) : (holder as Record<string, unknown>)[key];
}

/** Puts an id of `exactId` into a message for `stringifyExact`. */
export function withExactId<T extends object>(
  message: T,
  id: string | number | bigint,
): T & { id: string | number } {
  if (typeof id !== "bigint") return { ...message, id };
  return withExactText({ ...message, id: Number(id) }, "id", String(id));
}

function rawJson(text: string): unknown {
  const { rawJSON } = JSON as { rawJSON?(source: string): unknown };
  return rawJSON ? rawJSON(text) : Number(text);
}
