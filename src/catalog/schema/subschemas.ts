import { isRecord } from "../../lib/record.ts";

/** The content of a keyword: one schema, a list of schemas, schemas by name, or plain data. */
export type Holding = "schema" | "list" | "map" | "data";

const holdings = new Map<string, Holding>([
  ...["$defs", "definitions", "properties", "patternProperties", "dependentSchemas"].map(
    (keyword) => [keyword, "map"] as const,
  ),
  ...["allOf", "anyOf", "oneOf", "prefixItems"].map((keyword) => [keyword, "list"] as const),
  ...[
    "items",
    "additionalItems",
    "unevaluatedItems",
    "contains",
    "additionalProperties",
    "unevaluatedProperties",
    "propertyNames",
    "not",
    "if",
    "then",
    "else",
    "contentSchema",
  ].map((keyword) => [keyword, "schema"] as const),
]);

/** In older drafts `items` may be a list, and `dependencies` mixes schemas with lists of names. */
export function holdingOf(keyword: string, content: unknown): Holding {
  if (keyword === "items" && Array.isArray(content)) return "list";
  if (keyword === "dependencies") return "map";
  return holdings.get(keyword) ?? "data";
}

export interface Subschema {
  schema: unknown;
  keyword: string;
  /** The name or index under the keyword, if it contains several schemas. */
  member?: string | number;
}

/** The schemas directly inside a schema, in order. */
export function subschemasOf(schema: Record<string, unknown>): Subschema[] {
  const found: Subschema[] = [];
  for (const [keyword, content] of Object.entries(schema)) {
    const holding = holdingOf(keyword, content);
    if (holding === "schema") found.push({ schema: content, keyword });
    else if (holding === "list" && Array.isArray(content))
      content.forEach((item: unknown, member) => found.push({ schema: item, keyword, member }));
    else if (holding === "map" && isRecord(content))
      for (const [member, item] of Object.entries(content))
        if (!Array.isArray(item)) found.push({ schema: item, keyword, member });
  }
  return found;
}
