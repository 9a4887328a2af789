import { isRecord } from "../../lib/record.ts";

export type Schema = Record<string, unknown>;

const maxHops = 20;
const maxBranches = 50;

/** Resolves a schema's local `$ref`. Returns an empty schema for anything that is not a schema. */
export function resolveSchema(schema: unknown, root: Schema): Schema {
  let current = schema;
  for (let hop = 0; hop < maxHops && isRecord(current) && typeof current["$ref"] === "string"; hop++) {
    const { $ref, ...beside } = current;
    const target = pointedAt(root, $ref);
    current = isRecord(target) ? { ...target, ...beside } : beside;
  }
  return isRecord(current) ? current : {};
}

/** The JSON types a value can have; empty if the schema does not say. */
export function typesOf(schema: unknown, root: Schema): Set<string> {
  return new Set(branchesOf(schema, root).flatMap(ownTypes));
}

export function propertySchema(schema: unknown, name: string, root: Schema): unknown {
  const branches = branchesOf(schema, root);
  for (const { properties } of branches) {
    if (isRecord(properties) && Object.hasOwn(properties, name)) return properties[name];
  }
  return branches.find(({ additionalProperties }) => isRecord(additionalProperties))?.[
    "additionalProperties"
  ];
}

export function propertiesOf(schema: unknown, root: Schema): [string, unknown][] {
  const all = new Map<string, unknown>();
  for (const { properties } of branchesOf(schema, root)) {
    if (!isRecord(properties)) continue;
    for (const [name, own] of Object.entries(properties)) if (!all.has(name)) all.set(name, own);
  }
  return [...all];
}

/** The properties that every valid object must have. Ignores alternatives (`anyOf`, `oneOf`). */
export function requiredOf(schema: unknown, root: Schema): Set<string> {
  const { required, allOf } = resolveSchema(schema, root);
  const own = Array.isArray(required) ? required.filter((name) => typeof name === "string") : [];
  const others = Array.isArray(allOf) ? allOf.map((part) => resolveSchema(part, root)["required"]) : [];
  return new Set([...own, ...others.flatMap((names) => (Array.isArray(names) ? names.map(String) : []))]);
}

export function itemSchema(schema: unknown, root: Schema): unknown {
  return branchesOf(schema, root).find(({ items }) => isRecord(items))?.["items"];
}

/** The values of `enum` and `const`, including titled alternatives; empty if any value is allowed. */
export function allowedValues(schema: unknown, root: Schema): unknown[] {
  return branchesOf(schema, root).flatMap(({ enum: values, const: only }) =>
    Array.isArray(values) ? values : only === undefined ? [] : [only],
  );
}

/** A schema and everything combined into it, with references resolved. */
function branchesOf(schema: unknown, root: Schema): Schema[] {
  const found: Schema[] = [];
  const open = [schema];
  while (open.length > 0 && found.length < maxBranches) {
    const next = resolveSchema(open.shift(), root);
    if (Object.keys(next).length === 0) continue;
    found.push(next);
    for (const combined of [next["allOf"], next["anyOf"], next["oneOf"]]) {
      if (Array.isArray(combined)) open.push(...(combined as unknown[]).slice(0, maxBranches));
    }
  }
  return found;
}

function ownTypes({ type, enum: values, const: only, properties, items }: Schema): string[] {
  if (typeof type === "string") return [type];
  if (Array.isArray(type)) return type.map(String);
  if (Array.isArray(values)) return values.map(jsonType);
  if (only !== undefined) return [jsonType(only)];
  if (isRecord(properties)) return ["object"];
  return items === undefined ? [] : ["array"];
}

function jsonType(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}

function pointedAt(root: Schema, reference: string): unknown {
  if (!reference.startsWith("#")) return undefined;
  const steps = reference.slice(1).split("/").slice(1);
  let current: unknown = root;
  for (const step of steps) {
    const key = decode(step).replaceAll("~1", "/").replaceAll("~0", "~");
    if (typeof current !== "object" || current === null || !Object.hasOwn(current, key)) return undefined;
    current = (current as Schema)[key];
  }
  return current;
}

function decode(step: string): string {
  try {
    return decodeURIComponent(step);
  } catch {
    return step;
  }
}
