import { isRecord } from "../../../lib/record.ts";
import { referenceIn } from "../parts.ts";

export type Schema = Record<string, unknown>;

const types = new Set(["string", "number", "integer", "boolean", "null", "array", "object"]);

const housekeeping = [
  "$schema",
  "$id",
  "$anchor",
  "$dynamicAnchor",
  "$recursiveAnchor",
  "$dynamicRef",
  "$recursiveRef",
  "$vocabulary",
  "$comment",
  "$defs",
  "definitions",
  "additionalItems",
  "dependencies",
  "nullable",
];

/**
 * Converts one schema, not those inside it, to draft 2020-12: translates older keywords and drops malformed ones and
 * housekeeping. Keeps `$ref`; the caller resolves references.
 */
export function tidy(schema: unknown, refOverrides: boolean): Schema | boolean {
  if (typeof schema === "boolean") return schema;
  if (!isRecord(schema)) return true;
  const reference = referenceIn(schema);
  if (reference !== undefined && refOverrides) return { ...annotationsOf(schema), $ref: reference };
  const clean: Schema = Object.fromEntries(
    Object.entries(schema).filter(([name]) => !housekeeping.includes(name)),
  );
  if (reference !== undefined) clean["$ref"] = reference;
  tidyType(clean, schema["nullable"] === true);
  tidyBounds(clean);
  tidyItems(clean, schema["additionalItems"]);
  tidyDependencies(clean, schema["dependencies"]);
  if (!isRecord(clean["properties"])) delete clean["properties"];
  if (!Array.isArray(clean["enum"]) || clean["enum"].length === 0) delete clean["enum"];
  const { required } = clean;
  if (Array.isArray(required))
    clean["required"] = [...new Set(required.filter((name) => typeof name === "string"))];
  else delete clean["required"];
  for (const keyword of ["allOf", "anyOf", "oneOf", "prefixItems"])
    if (!Array.isArray(clean[keyword]) || clean[keyword].length === 0) delete clean[keyword];
  return clean;
}

export function annotationsOf(schema: Schema): Schema {
  const found: Schema = {};
  for (const name of ["title", "description"])
    if (typeof schema[name] === "string") found[name] = schema[name];
  return found;
}

function tidyType(clean: Schema, isNullable: boolean): void {
  const { type } = clean;
  const given = (Array.isArray(type) ? type : [type]) as unknown[];
  const names = [...new Set(given.filter((name) => typeof name === "string" && types.has(name)))];
  delete clean["type"];
  if (names.length === 0 || names.length < new Set(given).size) return;
  if (isNullable && !names.includes("null")) names.push("null");
  clean["type"] = names.length === 1 ? names[0] : names;
}

function tidyBounds(clean: Schema): void {
  for (const [exclusive, inclusive] of [
    ["exclusiveMinimum", "minimum"],
    ["exclusiveMaximum", "maximum"],
  ] as const) {
    if (clean[exclusive] === true && typeof clean[inclusive] === "number") {
      clean[exclusive] = clean[inclusive];
      delete clean[inclusive];
    } else if (typeof clean[exclusive] !== "number") delete clean[exclusive];
  }
}

function tidyItems(clean: Schema, additional: unknown): void {
  if (!Array.isArray(clean["items"])) return;
  clean["prefixItems"] = clean["items"];
  if (additional === undefined) delete clean["items"];
  else clean["items"] = additional;
}

function tidyDependencies(clean: Schema, dependencies: unknown): void {
  if (!isRecord(dependencies)) return;
  for (const [name, needed] of Object.entries(dependencies)) {
    const keyword = Array.isArray(needed) ? "dependentRequired" : "dependentSchemas";
    clean[keyword] = { ...(clean[keyword] as Schema | undefined), [name]: needed };
  }
}
