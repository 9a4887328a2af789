import { exactText, stringifyExact } from "../../lib/exact-json.ts";
import { isRecord } from "../../lib/record.ts";
import { nameText } from "../../lib/name-text.ts";
import { printable } from "../../lib/printable.ts";
import { displayWidth } from "../terminal/text-width.ts";

const maxDepth = 6;
const widestName = 32;

/**
 * Formats a structured value as aligned `name  value` lines, with nested values indented and deep ones as JSON.
 * Escapes the texts.
 */
export function valueText(value: unknown): string {
  return valueLines(value, 0).join("\n");
}

function valueLines(value: unknown, depth: number): string[] {
  if (typeof value !== "object" || value === null || depth >= maxDepth) return [shortText(value)];
  const textOf = (key: string, inner: unknown) => exactText(value, key) ?? shortText(inner);
  if (Array.isArray(value) && value.every((item) => !isNested(item)))
    return value.flatMap((item, index) =>
      `- ${textOf(String(index), item).replaceAll("\n", "\n  ")}`.split("\n"),
    );
  const shown = Object.entries(value).map(([key, inner]: [string, unknown]) => ({
    name: Array.isArray(value) ? `${Number(key) + 1}.` : nameText(key),
    inner,
    text: () => textOf(key, inner),
  }));
  // A list may be too long to be spread.
  let column = 0;
  for (const { name } of shown) column = Math.min(widestName, Math.max(column, displayWidth(name)));
  return shown.flatMap(({ name, inner, text }) => {
    if (isNested(inner)) return [name, ...valueLines(inner, depth + 1).map((line) => `  ${line}`)];
    const [first = "", ...rest] = text().split("\n");
    const gap = " ".repeat(Math.max(0, column - displayWidth(name)) + 2);
    return [`${name}${gap}${first}`, ...rest.map((line) => `${" ".repeat(column + 2)}${line}`)];
  });
}

/** True for a value that needs its own lines. */
function isNested(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0;
  return isRecord(value) && Object.keys(value).length > 0;
}

function shortText(value: unknown): string {
  return printable(typeof value === "string" ? value : (stringifyExact(value) ?? "null"));
}
