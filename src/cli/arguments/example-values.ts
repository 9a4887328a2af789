import { isRecord } from "../../lib/record.ts";
import {
  allowedValues,
  itemSchema,
  propertiesOf,
  requiredOf,
  resolveSchema,
  typesOf,
} from "./schema-parts.ts";
import type { Schema } from "./schema-parts.ts";

const maxDepth = 5;

/**
 * Example arguments for a tool: the required ones, with plausible values. People copy them, so a tool that may change
 * something gets no name of a file that most projects have.
 */
export function exampleArguments(schema: Schema, isReadOnly: boolean): Record<string, unknown> {
  const value = exampleValue(schema, schema, "", 0);
  if (!isRecord(value)) return {};
  if (isReadOnly) return value;
  const harmless = ([key, one]: [string, unknown]) => [key, one === usualFile ? "example.txt" : one];
  return Object.fromEntries(Object.entries(value).map(harmless));
}

const usualFile = "README.md";

export function exampleValue(schema: unknown, root: Schema, name = "", depth = 0): unknown {
  const own = resolveSchema(schema, root);
  const { default: usual, examples } = own;
  if (depth > 0 && usual !== undefined) return usual;
  if (depth > 0 && Array.isArray(examples) && examples.length > 0) return examples[0] as unknown;
  const [allowed] = allowedValues(schema, root);
  if (allowed !== undefined) return allowed;
  const types = typesOf(schema, root);
  if (types.has("object") || (depth === 0 && types.size === 0)) {
    const required = depth < maxDepth ? requiredOf(schema, root) : new Set<string>();
    const shown = propertiesOf(schema, root).filter(([key]) => required.has(key));
    return Object.fromEntries(shown.map(([key, part]) => [key, exampleValue(part, root, key, depth + 1)]));
  }
  if (types.has("string") || types.size === 0) return exampleText(own, name);
  if (types.has("integer") || types.has("number")) return exampleNumber(own);
  if (types.has("boolean")) return true;
  if (types.has("array")) {
    return depth < maxDepth ? [exampleValue(itemSchema(schema, root), root, name, depth + 1)] : [];
  }
  return null;
}

const byFormat: Record<string, string> = {
  uri: "https://example.com",
  url: "https://example.com",
  email: "ada@example.com",
  date: "2026-01-31",
  "date-time": "2026-01-31T12:00:00Z",
  time: "12:00:00Z",
  uuid: "123e4567-e89b-42d3-a456-426614174000",
};

const byName: [RegExp, string][] = [
  [/ur[il]$/i, "https://example.com"],
  [/path|file/i, usualFile],
  [/dir|folder/i, "."],
  [/mail/i, "ada@example.com"],
  [/date|since|until/i, "2026-01-31"],
  [/query|search|text|message|prompt|content/i, "hello"],
];

function exampleText({ format, minLength }: Schema, name: string): string {
  const known = typeof format === "string" && Object.hasOwn(byFormat, format) ? byFormat[format] : undefined;
  const text = known ?? byName.find(([pattern]) => pattern.test(name))?.[1] ?? "example";
  return typeof minLength === "number" && minLength < 200 ? text.padEnd(minLength, "x") : text;
}

function exampleNumber({ minimum, exclusiveMinimum, maximum }: Schema): number {
  if (typeof minimum === "number") return minimum;
  if (typeof exclusiveMinimum === "number") return exclusiveMinimum + 1;
  return typeof maximum === "number" && maximum < 1 ? maximum : 1;
}
