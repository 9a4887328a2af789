import { nearest } from "../../../lib/suggest.ts";
import { membership } from "../equality.ts";
import { codePoints, isMultiple, lengthFits } from "../measure.ts";
import { compilePattern } from "../pattern.ts";
import { wrongConstant, wrongType, type Check } from "../run.ts";
import { orList, plural, preview, previewList, typeName, withArticle } from "../wording.ts";

const typeTests: Record<string, (value: unknown) => boolean> = {
  string: (value) => typeof value === "string",
  number: (value) => typeof value === "number",
  integer: (value) => typeof value === "number" && Number.isInteger(value),
  boolean: (value) => typeof value === "boolean",
  null: (value) => value === null,
  array: Array.isArray,
  object: (value) => typeof value === "object" && value !== null && !Array.isArray(value),
};

/** The types that a schema allows; undefined if it allows all or names a type that JSON Schema does not define. */
export function typeNames(schema: Record<string, unknown>): string[] | undefined {
  const { type, nullable } = schema;
  const names = (Array.isArray(type) ? type : [type]).filter((name) => name !== undefined) as string[];
  if (names.length === 0 || !names.every((name) => Object.hasOwn(typeTests, name))) return undefined;
  return nullable === true ? [...names, "null"] : names;
}

/** Undefined if the type is missing or not defined by JSON Schema. */
export function typeCheck(schema: Record<string, unknown>): Check | undefined {
  const names = typeNames(schema);
  if (names === undefined) return undefined;
  return (value, run) => {
    for (const name of names) if (typeTests[name]?.(value) === true) return true;
    if (run.hasEnough) return false;
    const found = typeName(value);
    const isNumber = found === "number" && names.includes("integer");
    return run.fail(
      `must be ${orList(names.map(withArticle))}, but is ${isNumber ? preview(value) : withArticle(found)}`,
      { expected: orList(names), found, weight: wrongType },
    );
  };
}

/** `enum`, `const`, and the limits of strings and numbers. `format` is only an annotation and is not checked. */
export function scalarChecks(schema: Record<string, unknown>): Check[] {
  const checks = [...enumChecks(schema), ...numberChecks(schema), ...lengthChecks(schema)];
  if (typeof schema["pattern"] === "string") checks.push(patternCheck(schema["pattern"]));
  return checks;
}

export function enumChecks(schema: Record<string, unknown>): Check[] {
  const { enum: allowed, const: constant } = schema;
  const checks = Array.isArray(allowed) ? [enumCheck(allowed)] : [];
  if ("const" in schema) checks.push(enumCheck([constant]));
  return checks;
}

function enumCheck(allowed: readonly unknown[]): Check {
  const includes = membership(allowed);
  return (value, run) => {
    if (includes(value, run)) return true;
    if (run.hasEnough) return false;
    const strings = allowed.filter((candidate) => typeof candidate === "string").slice(0, 500);
    const suggestion = typeof value === "string" && value.length < 100 ? nearest(value, strings) : undefined;
    const expected = previewList(allowed);
    const message = allowed.length <= 2 ? `must be ${expected}` : `must be one of ${expected}`;
    return run.fail(message, {
      expected,
      found: preview(value),
      ...(suggestion === undefined ? {} : { suggestion }),
      weight: wrongConstant,
    });
  };
}

function numberChecks(schema: Record<string, unknown>): Check[] {
  const checks: Check[] = [];
  const bound = (keyword: string, words: string, holds: (value: number, limit: number) => boolean) => {
    const limit = schema[keyword];
    if (typeof limit !== "number") return;
    checks.push(
      (value, run) =>
        typeof value !== "number" ||
        holds(value, limit) ||
        run.fail(`must be ${words} ${limit}`, { expected: `${words} ${limit}`, found: String(value) }),
    );
  };
  // Draft 4 uses `exclusiveMinimum: true` together with `minimum`.
  const aboveOnly = schema["exclusiveMinimum"] === true;
  const belowOnly = schema["exclusiveMaximum"] === true;
  bound("minimum", aboveOnly ? "more than" : "at least", (value, limit) =>
    aboveOnly ? value > limit : value >= limit,
  );
  bound("maximum", belowOnly ? "less than" : "at most", (value, limit) =>
    belowOnly ? value < limit : value <= limit,
  );
  bound("exclusiveMinimum", "more than", (value, limit) => value > limit);
  bound("exclusiveMaximum", "less than", (value, limit) => value < limit);
  bound("multipleOf", "a multiple of", isMultiple);
  return checks;
}

function lengthChecks(schema: Record<string, unknown>): Check[] {
  const { minLength, maxLength } = schema;
  const checks: Check[] = [];
  if (typeof minLength === "number")
    checks.push(
      (value, run) =>
        typeof value !== "string" ||
        lengthFits(value, minLength, Infinity, run) ||
        run.fail(`must have at least ${plural(minLength, "character")}`, {
          expected: `at least ${plural(minLength, "character")}`,
          found: plural(codePoints(value), "character"),
        }),
    );
  if (typeof maxLength === "number")
    checks.push(
      (value, run) =>
        typeof value !== "string" ||
        lengthFits(value, 0, maxLength, run) ||
        run.fail(`must have at most ${plural(maxLength, "character")}`, {
          expected: `at most ${plural(maxLength, "character")}`,
          found: plural(codePoints(value), "character"),
        }),
    );
  return checks;
}

function patternCheck(source: string): Check {
  const matches = compilePattern(source);
  return (value, run) =>
    typeof value !== "string" ||
    matches(value, run) ||
    run.fail(`must match the pattern ${source}`, { expected: `pattern ${source}`, found: preview(value) });
}
