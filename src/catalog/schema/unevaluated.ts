import { isRecord } from "../../lib/record.ts";
import { itemSchemas } from "./check/arrays.ts";
import { patternsOf } from "./check/objects.ts";
import { referenceIn, type Parts } from "./parts.ts";
import type { Check, Run } from "./run.ts";

/** The evaluated names or indexes; undefined if all of them were. */
type Seen = Set<string | number> | undefined;

/** `unevaluatedProperties` and `unevaluatedItems` are rare, so they evaluate again instead of slowing every run. */
export function unevaluatedChecks(schema: Record<string, unknown>, parts: Parts): Check[] {
  const { unevaluatedProperties, unevaluatedItems } = schema;
  const checks: Check[] = [];
  if (unevaluatedProperties !== undefined)
    checks.push(restCheck(schema, "unevaluatedProperties", parts, propertiesSeen, isRecord));
  if (unevaluatedItems !== undefined)
    checks.push(restCheck(schema, "unevaluatedItems", parts, itemsSeen, Array.isArray));
  return checks;
}

type Look = (schema: Record<string, unknown>, value: object, parts: Parts, run: Run) => Seen;

function restCheck(
  schema: Record<string, unknown>,
  keyword: string,
  parts: Parts,
  look: Look,
  applies: (value: unknown) => boolean,
): Check {
  const rest = parts.check(schema[keyword]);
  const { [keyword]: _, ...others } = schema;
  return (value, run) => {
    if (!applies(value)) return true;
    const seen = run.silently(() => collect(others, schema, value as object, parts, run, look));
    if (seen === undefined) return true;
    let holds = true;
    for (const name of Object.keys(value as object)) {
      const member = Array.isArray(value) ? Number(name) : name;
      if (seen.has(member)) continue;
      run.path.push(member);
      holds = rest((value as Record<string, unknown>)[name], run) && holds;
      run.path.pop();
      if (!holds && run.hasEnough) return false;
    }
    return holds;
  };
}

/** What `schema` and all other schemas for the same value have evaluated. `written` is the schema with the `$ref`. */
function collect(
  schema: Record<string, unknown>,
  written: Record<string, unknown>,
  value: object,
  parts: Parts,
  run: Run,
  look: Look,
): Seen {
  run.enter();
  const seen = look(schema, value, parts, run);
  for (const inner of seen === undefined ? [] : inPlace(schema, written, value, parts, run)) {
    if (!isRecord(inner)) continue;
    const more = collect(inner, inner, value, parts, run, look);
    if (more === undefined) {
      run.depth--;
      return undefined;
    }
    for (const name of more) seen?.add(name);
  }
  run.depth--;
  return seen;
}

/** The other schemas that apply to the same value and that it satisfies. */
function inPlace(
  schema: Record<string, unknown>,
  written: Record<string, unknown>,
  value: object,
  parts: Parts,
  run: Run,
): unknown[] {
  const holds = (inner: unknown) => parts.check(inner)(value, run);
  const list = (keyword: string) => (Array.isArray(schema[keyword]) ? (schema[keyword] as unknown[]) : []);
  const found = [...list("allOf"), ...[...list("anyOf"), ...list("oneOf")].filter(holds)];
  if (referenceIn(schema) !== undefined) found.push(parts.target(written));
  if (schema["if"] !== undefined)
    found.push(...(holds(schema["if"]) ? [schema["if"], schema["then"]] : [schema["else"]]));
  for (const dependent of [schema["dependentSchemas"], schema["dependencies"]])
    if (isRecord(dependent))
      for (const [name, inner] of Object.entries(dependent))
        if (Object.hasOwn(value, name)) found.push(inner);
  return found;
}

const propertiesSeen: Look = (schema, value, parts, run) => {
  if (schema["additionalProperties"] !== undefined || schema["unevaluatedProperties"] !== undefined)
    return undefined;
  const known = isRecord(schema["properties"]) ? schema["properties"] : {};
  const patterns = patternsOf(schema, parts);
  const names = Object.keys(value).filter(
    (name) => Object.hasOwn(known, name) || patterns.some((pattern) => pattern.matches(name, run)),
  );
  run.spend(names.length);
  return new Set(names);
};

const itemsSeen: Look = (schema, value, parts, run) => {
  const { first, rest } = itemSchemas(schema);
  if (rest !== undefined || schema["unevaluatedItems"] !== undefined) return undefined;
  const items = value as unknown[];
  const seen = new Set<number>(items.slice(0, first.length).keys());
  if (schema["contains"] !== undefined) {
    const check = parts.check(schema["contains"]);
    items.forEach((item, index) => {
      run.spend(1);
      if (check(item, run)) seen.add(index);
    });
  }
  return seen;
};
