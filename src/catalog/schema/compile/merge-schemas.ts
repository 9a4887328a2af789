import { isRecord } from "../../../lib/record.ts";
import { equalityKey } from "../equality.ts";
import { annotationsOf, type Schema } from "./tidy.ts";
import { typeName } from "../wording.ts";

/** Merges two schemas that both apply. If a keyword cannot be combined, keeps the first and calls `lost`. */
export function bothOf(a: Schema, b: Schema, lost: (keyword: string) => void): Schema {
  const merged: Schema = { ...a };
  for (const [keyword, theirs] of Object.entries(b)) {
    const ours = Object.hasOwn(merged, keyword) ? merged[keyword] : undefined;
    if (ours === undefined) merged[keyword] = theirs;
    else if (ours !== theirs && (keyword === "properties" || !isSame(ours, theirs))) {
      const combined = combine(keyword, ours, theirs);
      if (combined === undefined) lost(keyword);
      else merged[keyword] = combined;
    }
  }
  return merged;
}

/** One object schema that accepts everything that any of the alternatives accepts. */
export function anyOfObjects(alternatives: readonly Schema[]): Schema {
  const properties: Schema = {};
  const names = new Set(alternatives.flatMap((one) => Object.keys(propertiesOf(one))));
  for (const name of names) {
    const variants = alternatives.filter((one) => Object.hasOwn(propertiesOf(one), name));
    setMember(properties, name, anyOf(variants.map((one) => propertiesOf(one)[name])));
  }
  const required = requiredOf(alternatives[0] ?? {}).filter((name) =>
    alternatives.every((one) => requiredOf(one).includes(name)),
  );
  const isClosed = alternatives.every((one) => one["additionalProperties"] === false);
  return { properties, required, ...(isClosed ? { additionalProperties: false } : {}) };
}

/** Combines schemas without repeating equal ones; constants become one enum. */
export function anyOf(schemas: readonly unknown[]): unknown {
  const distinct = [...new Map(schemas.map((schema) => [equalityKey(schema), schema])).values()];
  if (distinct.length === 1) return distinct[0];
  const constants = distinct.map(constantsOf);
  if (constants.some((list) => list === undefined)) return { anyOf: distinct };
  const [first] = distinct;
  const values = [...new Set(constants.flat())];
  const types = [...new Set(values.map(typeName))];
  const type = types.length === 1 ? types[0] : types;
  return { ...(isRecord(first) ? annotationsOf(first) : {}), type, enum: values };
}

export function propertiesOf(schema: Schema): Schema {
  return isRecord(schema["properties"]) ? schema["properties"] : {};
}

export function requiredOf(schema: Schema): string[] {
  return Array.isArray(schema["required"]) ? (schema["required"] as string[]) : [];
}

/** Sets a member even if its name is `__proto__`. */
export function setMember(object: Schema, name: string, value: unknown): void {
  Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true });
}

function constantsOf(schema: unknown): unknown[] | undefined {
  if (!isRecord(schema)) return undefined;
  const {
    type: _,
    title: _title,
    description: _description,
    const: constant,
    enum: allowed,
    ...rest
  } = schema;
  if (Object.keys(rest).length > 0) return undefined;
  const values = Array.isArray(allowed) ? allowed : "const" in schema ? [constant] : undefined;
  return values?.every((value) => typeof value !== "object" || value === null) ? values : undefined;
}

function combine(keyword: string, a: unknown, b: unknown): unknown {
  switch (keyword) {
    case "properties":
      return isRecord(a) && isRecord(b) ? combineMembers(a, b) : undefined;
    case "required":
      return Array.isArray(a) && Array.isArray(b)
        ? [...new Set([...(a as unknown[]), ...(b as unknown[])])]
        : undefined;
    case "type":
      return commonTypes(a, b);
    case "enum":
      return Array.isArray(a) && Array.isArray(b) ? common(a, b) : undefined;
    case "additionalProperties":
      return a === false || b === false ? false : { allOf: [a, b] };
    case "items":
    case "contains":
      return { allOf: [a, b] };
    case "allOf":
      return [...(a as unknown[]), ...(b as unknown[])];
    case "minimum":
    case "exclusiveMinimum":
    case "minLength":
    case "minItems":
    case "minProperties":
      return Math.max(a as number, b as number);
    case "maximum":
    case "exclusiveMaximum":
    case "maxLength":
    case "maxItems":
    case "maxProperties":
      return Math.min(a as number, b as number);
    case "title":
    case "description":
    case "default":
    case "examples":
      return a;
    default:
      return undefined;
  }
}

function combineMembers(a: Schema, b: Schema): Schema {
  const members: Schema = {};
  for (const [name, schema] of [...Object.entries(a), ...Object.entries(b)]) {
    const before = Object.hasOwn(members, name) ? members[name] : undefined;
    setMember(
      members,
      name,
      before === undefined || isSame(before, schema) ? schema : { allOf: [before, schema] },
    );
  }
  return members;
}

function commonTypes(a: unknown, b: unknown): unknown {
  const widen = (type: unknown) => {
    const names = (Array.isArray(type) ? type : [type]) as string[];
    return names.includes("number") ? [...names, "integer"] : names;
  };
  const [ours, theirs] = [widen(a), widen(b)];
  const shared = ours.filter((name) => theirs.includes(name));
  const names = shared.includes("number") ? shared.filter((name) => name !== "integer") : shared;
  return names.length === 0 ? undefined : names.length === 1 ? names[0] : names;
}

function common(a: readonly unknown[], b: readonly unknown[]): unknown[] | undefined {
  const keys = new Set(b.map((value) => equalityKey(value)));
  const shared = a.filter((value) => keys.has(equalityKey(value)));
  return shared.length === 0 ? undefined : shared;
}

function isSame(a: unknown, b: unknown): boolean {
  return a === b || equalityKey(a) === equalityKey(b);
}
