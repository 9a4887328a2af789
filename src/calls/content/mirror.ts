import { parseExact, stringifyExact } from "../../lib/exact-json.ts";
import { canonicalJson } from "../../lib/canonical.ts";
import { isRecord } from "../../lib/record.ts";
import { type ContentPart, jsonText } from "./parts.ts";

/**
 * The value that a result contains twice: as `structuredContent` and as JSON in its text parts. `undefined` if the two
 * differ or one is missing. Wrapped values count too: the text `5` with `{ "result": 5 }`, or one text part per item
 * with `{ "result": [ … ] }`.
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
        ? isJsonOf(texts[0] ?? "", value)
        : Array.isArray(value) &&
          value.length === texts.length &&
          value.every((item, index) => isJsonOf(texts[index] ?? "", item)),
    );
}

function isJsonOf(text: string, value: unknown): boolean {
  if (typeof value === "string" && text === value) return true;
  const json = jsonText(value);
  if (text === json) return true;
  // Only white space, escapes and key order may differ, so do not parse if the lengths are far apart.
  if (text.length < json.length / 2 || text.length > json.length * 8 + 64) return false;
  try {
    const parsed = parseExact(text);
    const rewritten = stringifyExact(parsed);
    if (rewritten.length !== json.length) return false;
    return rewritten === json || canonicalJson(parsed) === canonicalJson(value);
  } catch {
    return false;
  }
}
