import { escapeTemplate, parseTemplate, printReference } from "../template.ts";
import type { Reference, Template } from "../template.ts";

export type { Reference };
export type Part = Template[number];

/** Matches the default after `:-`. It may contain references, so braces must be balanced. */
const fallbackPattern = String.raw`(?::-((?:[^{}]|\{[^{}]*\})*))?`;

/** `${NAME}` and `${NAME:-default}`, as shells and several clients write them. */
export const shellPattern = String.raw`\$\{([A-Za-z_]\w*)${fallbackPattern}\}`;

/**
 * The text that Plugboard reads as exactly these parts; undefined if there is none, for example for a `$` directly
 * before a variable or a name that contains `}`. Printing such parts could turn plain text into a reference.
 */
export function printReferences(parts: readonly Part[]): string | undefined {
  // Join adjacent plain parts first: a `$` at the end of one and a `{` at the start of the next must be escaped too.
  const joined = joinPlain(parts);
  const printed = joined
    .map((part) => (typeof part === "string" ? escapeTemplate(part) : printReference(part)))
    .join("");
  return sameParts(parseTemplate(printed), joined) ? printed : undefined;
}

export function sameParts(a: readonly Part[], b: readonly Part[]): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

export function variable(name: string, fallback?: string): Reference {
  return fallback === undefined ? { kind: "env", name } : { kind: "env", name, fallback };
}

/** A default may contain a secret, and most clients do not support defaults. */
export function withoutFallback({ kind, name }: Reference): Reference {
  return { kind, name };
}

/** Splits a text into parts: each match becomes the result of `replace`, the text between matches stays. */
export function splitText(text: string, pattern: RegExp, replace: (match: RegExpMatchArray) => Part): Part[] {
  const parts: Part[] = [];
  let end = 0;
  for (const match of text.matchAll(pattern)) {
    if (match.index > end) parts.push(text.slice(end, match.index));
    parts.push(replace(match));
    end = match.index + match[0].length;
  }
  if (end < text.length) parts.push(text.slice(end));
  return joinPlain(parts);
}

function joinPlain(parts: readonly Part[]): Part[] {
  const joined: Part[] = [];
  for (const part of parts) {
    const last = joined.at(-1);
    if (typeof part === "string" && typeof last === "string") joined[joined.length - 1] = last + part;
    else if (part !== "") joined.push(part);
  }
  return joined;
}
