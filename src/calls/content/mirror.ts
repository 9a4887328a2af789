import { canonicalJson } from "../../lib/canonical.ts";
import { isRecord } from "../../lib/record.ts";
import { type ContentPart, jsonText } from "./parts.ts";

/**
 * The value that a result says twice: once as `structuredContent` and once as the JSON of it in its text parts.
 * `undefined` when the two differ, or when there is only one of them. Servers also wrap: the text `5` or one text
 * part for each item beside `{ "result": 5 }` or `{ "result": [ … ] }` is the same thing said twice.
 */
export function mirroredValue(
  parts: readonly ContentPart[],
  structured: unknown,
): { value: unknown } | undefined {
  if (structured === undefined) return undefined;
  const texts = parts.filter((part) => part.kind === "text").map((part) => part.text);
  if (texts.length === 0) return undefined;
  const wrapped =
    isRecord(structured) && Object.keys(structured).length === 1 ? [Object.values(structured)[0]] : [];
  return [structured, ...wrapped]
    .map((value) => ({ value }))
    .find(({ value }) =>
      texts.length === 1
        ? says(texts[0] ?? "", value)
        : Array.isArray(value) &&
          value.length === texts.length &&
          value.every((item, index) => says(texts[index] ?? "", item)),
    );
}

function says(text: string, value: unknown): boolean {
  if (typeof value === "string" && text === value) return true;
  const json = jsonText(value);
  if (text === json) return true;
  // Only white space, escapes and the order of keys may differ: lengths that are far apart are not worth parsing.
  if (text.length < json.length / 2 || text.length > json.length * 8 + 64) return false;
  try {
    const parsed: unknown = JSON.parse(text);
    const rewritten = JSON.stringify(parsed);
    if (rewritten.length !== json.length) return false;
    return rewritten === json || canonicalJson(parsed) === canonicalJson(value);
  } catch {
    return false;
  }
}
