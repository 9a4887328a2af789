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
  const entries = Array.isArray(value)
    ? value.map((item, index): [string, unknown] => [`${index + 1}.`, item])
    : isRecord(value)
      ? Object.entries(value)
      : undefined;
  if (!entries || depth >= maxDepth) return [shortText(value)];
  const exact = (key: string) => exactText(value as object, key);
  if (Array.isArray(value) && value.every((item) => !isNested(item)))
    return value.flatMap((item, index) =>
      `- ${(exact(String(index)) ?? shortText(item)).replaceAll("\n", "\n  ")}`.split("\n"),
    );
  const shown = entries.map(([name, inner], index) => {
    const isItem = Array.isArray(value);
    return [isItem ? name : nameText(name), inner, exact(isItem ? String(index) : name)] as const;
  });
  let column = 0;
  for (const [name] of shown) column = Math.min(widestName, Math.max(column, displayWidth(name)));
  return shown.flatMap(([name, inner, number]) => {
    if (isNested(inner)) return [name, ...valueLines(inner, depth + 1).map((line) => `  ${line}`)];
    const [first = "", ...rest] = (number ?? shortText(inner)).split("\n");
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
