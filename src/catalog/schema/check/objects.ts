import { isRecord } from "../../../lib/record.ts";
import { nearest } from "../../../lib/suggest.ts";
import { countChecks } from "./arrays.ts";
import { always, type Parts } from "../parts.ts";
import { compilePattern, type PatternTest } from "../pattern.ts";
import type { Check, Run } from "../run.ts";
import { expectation } from "../wording.ts";

export function objectChecks(schema: Record<string, unknown>, parts: Parts): Check[] {
  return [...requiredChecks(schema), ...memberChecks(schema, parts), ...rareObjectChecks(schema, parts)];
}

/** The checks for keywords that plans do not cover. */
export function rareObjectChecks(schema: Record<string, unknown>, parts: Parts): Check[] {
  const size = (value: unknown) => (isRecord(value) ? Object.keys(value).length : undefined);
  return [
    ...nameChecks(schema, parts),
    ...dependencyChecks(schema, parts),
    ...countChecks(schema, "minProperties", "maxProperties", "property", size),
  ];
}

export function requiredChecks(schema: Record<string, unknown>): Check[] {
  const { required } = schema;
  if (!Array.isArray(required)) return [];
  const names = required.filter((name) => typeof name === "string");
  const known = isRecord(schema["properties"]) ? schema["properties"] : {};
  return [
    (value, run) => {
      if (!isRecord(value)) return true;
      run.spend(1 + (names.length >> 3));
      for (const name of names) {
        if (Object.hasOwn(value, name)) continue;
        missing(value, name, known, run);
        if (run.hasEnough) return false;
      }
      return names.every((name) => Object.hasOwn(value, name));
    },
  ];
}

function missing(value: object, name: string, known: Record<string, unknown>, run: Run): void {
  if (run.hasEnough) return;
  const strangers = Object.keys(value)
    .filter((key) => !Object.hasOwn(known, key))
    .slice(0, 100);
  const misspelt = nearest(name, strangers);
  const expected = Object.hasOwn(known, name) ? expectation(known[name]) : undefined;
  run.fail(misspelt === undefined ? "is required" : `is required (you wrote ${JSON.stringify(misspelt)})`, {
    member: name,
    ...(expected === undefined ? {} : { expected }),
    found: "nothing",
    weight: 2,
  });
}

/** `properties`, `patternProperties` and `additionalProperties`: every member must satisfy all that apply to it. */
export function memberChecks(schema: Record<string, unknown>, parts: Parts): Check[] {
  const { additionalProperties } = schema;
  const properties = isRecord(schema["properties"]) ? schema["properties"] : undefined;
  const patterns = patternsOf(schema, parts);
  if (properties === undefined && patterns.length === 0 && additionalProperties === undefined) return [];
  const isClosed = additionalProperties === false;
  const rest = isClosed ? always : parts.check(additionalProperties ?? true);
  // A schema may name thousands of properties; only create checks for those that values have.
  const checks = new Map<string, Check>();
  const checkFor = (name: string): Check | undefined => {
    let check = checks.get(name);
    if (check === undefined && properties !== undefined && Object.hasOwn(properties, name))
      checks.set(name, (check = parts.check(properties[name])));
    return check;
  };
  const checkMember = (value: unknown, name: string, run: Run): boolean => {
    const known = checkFor(name);
    let isKnown = known !== undefined;
    let holds = known === undefined || known(value, run);
    for (const pattern of patterns) {
      if (!pattern.matches(name, run)) continue;
      isKnown = true;
      holds = pattern.check(value, run) && holds;
    }
    if (isKnown) return holds;
    return isClosed ? unknownMember(name, properties, run) : rest(value, run);
  };
  return [
    (value, run) => {
      if (!isRecord(value)) return true;
      let holds = true;
      for (const name of Object.keys(value)) {
        run.spend(1);
        run.path.push(name);
        const isFine = checkMember(value[name], name, run);
        run.path.pop();
        if (isFine) continue;
        if (run.hasEnough) return false;
        holds = false;
      }
      return holds;
    },
  ];
}

export function hasPatterns(schema: Record<string, unknown>): boolean {
  return isRecord(schema["patternProperties"]);
}

export function patternsOf(
  schema: Record<string, unknown>,
  parts: Parts,
): { matches: PatternTest; check: Check }[] {
  const { patternProperties } = schema;
  if (!isRecord(patternProperties)) return [];
  return Object.entries(patternProperties).map(([source, inner]) => ({
    matches: compilePattern(source),
    check: parts.check(inner),
  }));
}

function unknownMember(name: string, properties: Record<string, unknown> | undefined, run: Run): false {
  if (run.hasEnough) return false;
  const names = Object.keys(properties ?? {});
  const suggestion = name.length < 100 ? nearest(name, names.slice(0, 500)) : undefined;
  const few = names.length <= 12 && names.length > 0 ? `; known properties: ${names.join(", ")}` : "";
  return run.fail(`is not a known property${suggestion === undefined ? few : ""}`, {
    expected: "no such property",
    ...(suggestion === undefined ? {} : { suggestion }),
    weight: 2,
  });
}

function nameChecks(schema: Record<string, unknown>, parts: Parts): Check[] {
  const { propertyNames } = schema;
  if (propertyNames === undefined) return [];
  const check = parts.check(propertyNames);
  return [
    (value, run) => {
      if (!isRecord(value)) return true;
      for (const name of Object.keys(value)) {
        if (run.silently(() => check(name, run))) continue;
        return run.fail("is not an allowed property name", { member: name, weight: 2 });
      }
      return true;
    },
  ];
}

/** `dependentRequired` and `dependentSchemas`, or `dependencies`, which was both. */
function dependencyChecks(schema: Record<string, unknown>, parts: Parts): Check[] {
  const { dependentRequired, dependentSchemas, dependencies } = schema;
  const all = [dependentRequired, dependentSchemas, dependencies].filter(isRecord).flatMap(Object.entries);
  return all.map(([name, needed]: [string, unknown]): Check => {
    if (Array.isArray(needed))
      return (value, run) => {
        if (!isRecord(value) || !Object.hasOwn(value, name)) return true;
        const absent = needed.filter((other) => typeof other === "string" && !Object.hasOwn(value, other));
        for (const other of absent as string[])
          run.fail(`is required when ${JSON.stringify(name)} is given`, { member: other, found: "nothing" });
        return absent.length === 0;
      };
    const check = parts.check(needed);
    return (value, run) => !isRecord(value) || !Object.hasOwn(value, name) || check(value, run);
  });
}
