import { formatPath } from "../../config/documents/document.ts";
import { isRecord } from "../../lib/record.ts";
import { referenceIn } from "./parts.ts";
import { createReferences, type References } from "./references.ts";
import { holdingOf, type Holding } from "./subschemas.ts";

/** Generous for all real tools seen so far. A tool that exceeds a limit is set aside. */
export const schemaLimits = {
  /** The size of the schema as compact JSON in UTF-8. */
  bytes: 256 * 1024,
  /** Levels of objects and arrays in the JSON, so a nested property takes two. */
  depth: 64,
  /** Values of any type, including the schema itself. */
  nodes: 20_000,
  references: 2_000,
  patterns: 500,
  patternLength: 2_000,
  /** The total number of names in all `properties`. */
  properties: 5_000,
} as const;

export type Verdict = { ok: true } | { ok: false; path: string; reason: string };

/**
 * Decides if a tool's schema may be used. Takes one pass without recursion and stops at the first limit, so it is cheap
 * even for a hostile schema. References must point into the schema itself; nothing is fetched.
 */
export function guardSchema(schema: unknown): Verdict {
  const root = rootProblem(schema);
  if (root !== undefined) return { ok: false, path: "", reason: root };
  const tally = { bytes: 0, nodes: 0, references: 0, patterns: 0, properties: 0 };
  const references = createReferences(schema);
  const written: { schema: Record<string, unknown>; place: Place }[] = [];
  const open: Place[] = [placeOf(schema, "schema")];
  for (let place = open.pop(); place !== undefined; place = open.pop()) {
    const reason = count(place, tally) ?? overLimit(tally);
    if (reason !== undefined) return refused(place, reason);
    if (place.holding === "schema" && isRecord(place.value) && referenceIn(place.value) !== undefined) {
      tally.references++;
      written.push({ schema: place.value, place });
    }
    if (!openInside(place, open, schemaLimits.nodes - tally.nodes))
      return refused(place, tooMany("nodes", "values"));
  }
  // Index the document only now that it is known to be small enough.
  const fine = new Set<object>();
  for (const { schema: holder, place } of written) {
    const reason = referenceProblem(holder, references, fine);
    if (reason !== undefined) return refused(place, reason);
  }
  return { ok: true };
}

/** A value that the guard visits; its path is only built when needed. */
interface Place {
  value: unknown;
  holding: Holding;
  depth: number;
  parent: Place | undefined;
  /** Its name or index in the parent. */
  member: string | number | undefined;
  /** For one of several schemas: the keyword that contains them. */
  keyword: string | undefined;
}

type Tally = Record<"bytes" | "nodes" | "references" | "patterns" | "properties", number>;

const objectKeywords = [
  "properties",
  "required",
  "additionalProperties",
  "patternProperties",
  "propertyNames",
  "minProperties",
  "maxProperties",
  "unevaluatedProperties",
  "dependentRequired",
  "dependentSchemas",
  "dependencies",
  "$ref",
  "allOf",
  "anyOf",
  "oneOf",
  "if",
];

/** Tools take named arguments, so their schema must describe an object. */
function rootProblem(schema: unknown): string | undefined {
  if (schema === undefined) return "it has no schema";
  if (schema === null || typeof schema !== "object")
    return `a schema must be an object, not ${JSON.stringify(schema)}`;
  if (!isRecord(schema)) return "a schema must be an object, not an array";
  const { type } = schema;
  if (type === "object" || (Array.isArray(type) && type.includes("object"))) return undefined;
  if (type !== undefined)
    return `arguments must be an object, but the schema's type is ${JSON.stringify(type).slice(0, 80)}`;
  const isObjectLike =
    Object.keys(schema).length === 0 || objectKeywords.some((keyword) => keyword in schema);
  return isObjectLike ? undefined : "the schema does not describe an object";
}

function count(place: Place, tally: Tally): string | undefined {
  const { value, keyword, holding, member } = place;
  tally.nodes++;
  tally.bytes += sizeOf(value) + (typeof member === "string" ? Buffer.byteLength(member) + 4 : 1);
  if (keyword === "properties") tally.properties++;
  const pattern =
    keyword === "patternProperties" ? member : member === "pattern" && holding === "data" ? value : undefined;
  if (typeof pattern === "string") {
    tally.patterns++;
    if (pattern.length > schemaLimits.patternLength)
      return `a pattern is longer than ${schemaLimits.patternLength} characters`;
  }
  return place.depth > schemaLimits.depth
    ? `it is nested deeper than ${schemaLimits.depth} levels`
    : undefined;
}

function overLimit(tally: Tally): string | undefined {
  if (tally.bytes > schemaLimits.bytes) return `the schema is larger than ${schemaLimits.bytes / 1024} KB`;
  if (tally.references > schemaLimits.references) return tooMany("references", "references");
  if (tally.patterns > schemaLimits.patterns) return tooMany("patterns", "patterns");
  if (tally.properties > schemaLimits.properties) return tooMany("properties", "properties");
  return undefined;
}

function tooMany(what: keyof typeof schemaLimits, words: string): string {
  return `the schema has more than ${schemaLimits[what]} ${words}`;
}

function sizeOf(value: unknown): number {
  if (typeof value === "string")
    return value.length > schemaLimits.bytes ? value.length : Buffer.byteLength(value) + 2;
  if (typeof value === "object" && value !== null) return 2;
  return String(value).length;
}

function placeOf(
  value: unknown,
  holding: Holding,
  parent?: Place,
  member?: string | number,
  keyword?: string,
): Place {
  return { value, holding, depth: parent === undefined ? 1 : parent.depth + 1, parent, member, keyword };
}

/** Adds the values inside a place to the list; false if the list would exceed `room`. */
function openInside(place: Place, open: Place[], room: number): boolean {
  const { value, holding } = place;
  if (typeof value !== "object" || value === null) return true;
  if (Array.isArray(value)) {
    if (open.length + value.length > room) return false;
    const of = holding === "list" ? "schema" : "data";
    for (const [index, item] of value.entries()) open.push(placeOf(item, of, place, index));
    return true;
  }
  const names = Object.keys(value);
  if (open.length + names.length > room) return false;
  const keyword = holding === "map" ? String(place.member) : undefined;
  for (const name of names) {
    const inner = (value as Record<string, unknown>)[name];
    const of =
      holding === "schema"
        ? holdingOf(name, inner)
        : holding === "map" && !Array.isArray(inner)
          ? "schema"
          : "data";
    open.push(placeOf(inner, of, place, name, keyword));
  }
  return true;
}

/** A reference must lead, directly or through others, to a schema in this document. */
function referenceProblem(
  holder: Record<string, unknown>,
  references: References,
  fine: Set<object>,
): string | undefined {
  const seen = new Set<object>();
  let here = holder;
  while (!fine.has(here)) {
    const reference = referenceIn(here);
    if (reference === undefined) break;
    if (seen.has(here)) return `the reference ${reference.slice(0, 200)} only refers back to itself`;
    seen.add(here);
    const target = references.resolve(reference, here);
    if (target === undefined)
      return /^[a-z][a-z\d+.-]*:/i.test(reference)
        ? `it refers to ${reference.slice(0, 200)}, but schemas are never fetched`
        : `it refers to ${reference.slice(0, 200)}, which does not exist`;
    if (typeof target === "boolean") break;
    if (!isRecord(target)) return `it refers to ${reference.slice(0, 200)}, which is not a schema`;
    here = target;
  }
  for (const schema of seen) fine.add(schema);
  return undefined;
}

function refused(place: Place, reason: string): Verdict {
  const path: (string | number)[] = [];
  for (let here: Place | undefined = place; here?.member !== undefined; here = here.parent)
    path.unshift(here.member);
  return { ok: false, path: formatPath(path.slice(0, 100)), reason };
}
