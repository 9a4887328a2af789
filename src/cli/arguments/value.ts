import { parseExact, setExactText } from "../../lib/exact-json.ts";
import { allowedValues, itemSchema, typesOf } from "./schema-parts.ts";
import type { Schema } from "./schema-parts.ts";

/**
 * Converts a typed value to the type in the tool's schema. A value stays a string if the schema expects one, or if
 * it fits no expected type; validation then reports the mistake.
 */
export function argumentValue(text: string, schema: unknown, root: Schema): unknown {
  const types = typesOf(schema, root);
  const allowed = allowedValues(schema, root);
  if (allowed.length > 0) {
    const meant = allowed.find((value) => value === text || JSON.stringify(value) === text);
    if (meant !== undefined) return meant;
  }
  if (types.size === 0) return parsed(text) ?? text;
  if ((types.has("array") && text.startsWith("[")) || (types.has("object") && text.startsWith("{"))) {
    const value = parsed(text);
    if (value !== undefined) return value;
  }
  if (types.has("string")) return text;
  if ((types.has("number") || types.has("integer")) && isNumber(text)) return Number(text);
  if (types.has("boolean") && Object.hasOwn(booleans, text.toLowerCase()))
    return booleans[text.toLowerCase()];
  if (types.has("null") && text === "null") return null;
  if (types.has("array")) {
    const item = itemSchema(schema, root);
    const parts = text === "" ? [] : text.split(",").map((part) => part.trim());
    const values = parts.map((part) => argumentValue(part, item, root));
    for (const [at, part] of parts.entries())
      if (typeof values[at] === "number") setExactText(values, String(at), part);
    return values;
  }
  return text;
}

const booleans: Record<string, boolean> = { true: true, yes: true, false: false, no: false };

function isNumber(text: string): boolean {
  return /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text.trim());
}

/** Returns `undefined` if the text is not JSON. */
function parsed(text: string): unknown {
  try {
    return parseExact(text);
  } catch {
    return undefined;
  }
}
