import { nearest } from "../../../lib/suggest.ts";
import { membership } from "../equality.ts";
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

/** Nothing to check when a type is missing or is a word that JSON Schema does not know. */
export function typeCheck(schema: Record<string, unknown>): Check | undefined {
  const { type } = schema;
  const names = (Array.isArray(type) ? type : [type]).filter((name) => name !== undefined) as string[];
  if (schema["nullable"] === true && names.length > 0) names.push("null");
  const tests = names.map((name) => (Object.hasOwn(typeTests, name) ? typeTests[name] : undefined));
  if (tests.length === 0 || tests.includes(undefined)) return undefined;
  const [first, ...others] = tests as ((value: unknown) => boolean)[];
  if (first === undefined) return undefined;
  return (value, run) => {
    if (first(value)) return true;
    for (const test of others) if (test(value)) return true;
    if (run.hasEnough) return false;
    const found = typeName(value);
    const isNumber = found === "number" && names.includes("integer");
    return run.fail(
      `must be ${orList(names.map(withArticle))}, but is ${isNumber ? preview(value) : withArticle(found)}`,
      { expected: orList(names), found, weight: wrongType },
    );
  };
}

/** `enum`, `const`, and what strings and numbers are bounded by. `format` is an annotation and checks nothing. */
export function scalarChecks(schema: Record<string, unknown>): Check[] {
  const checks: Check[] = [];
  const { enum: allowed, const: constant } = schema;
  if (Array.isArray(allowed)) checks.push(enumCheck(allowed));
  if ("const" in schema) checks.push(enumCheck([constant]));
  checks.push(...numberChecks(schema), ...lengthChecks(schema));
  if (typeof schema["pattern"] === "string") checks.push(patternCheck(schema["pattern"]));
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
    const message = allowed.length === 1 ? `must be ${expected}` : `must be one of ${expected}`;
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
  // Draft 4 wrote `exclusiveMinimum: true` beside `minimum`.
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

/** Decimal fractions are not exact in binary, so a quotient may miss a whole number by a rounding error. */
function isMultiple(value: number, divisor: number): boolean {
  if (!(divisor > 0)) return true;
  const quotient = value / divisor;
  if (!Number.isFinite(quotient)) return value % divisor === 0;
  return Math.abs(quotient - Math.round(quotient)) <= 1e-9;
}

function lengthChecks(schema: Record<string, unknown>): Check[] {
  const { minLength, maxLength } = schema;
  const checks: Check[] = [];
  if (typeof minLength === "number")
    checks.push(
      (value, run) =>
        typeof value !== "string" ||
        (value.length >= minLength && codePoints(value, minLength * 2) >= minLength) ||
        run.fail(`must have at least ${plural(minLength, "character")}`, {
          expected: `at least ${plural(minLength, "character")}`,
          found: plural(codePoints(value), "character"),
        }),
    );
  if (typeof maxLength === "number")
    checks.push(
      (value, run) =>
        typeof value !== "string" ||
        value.length <= maxLength ||
        (value.length <= maxLength * 2 && codePoints(value) <= maxLength) ||
        run.fail(`must have at most ${plural(maxLength, "character")}`, {
          expected: `at most ${plural(maxLength, "character")}`,
          found: plural(codePoints(value), "character"),
        }),
    );
  return checks;
}

/** Length as JSON Schema means it, looking at no more than `units` code units. */
function codePoints(text: string, units = text.length): number {
  let count = 0;
  const end = Math.min(units, text.length);
  for (let i = 0; i < end; i++) {
    count++;
    const isPair = (text.charCodeAt(i) & 0xfc00) === 0xd800 && (text.charCodeAt(i + 1) & 0xfc00) === 0xdc00;
    if (isPair) i++;
  }
  return count;
}

function patternCheck(source: string): Check {
  const matches = compilePattern(source);
  return (value, run) =>
    typeof value !== "string" ||
    matches(value, run) ||
    run.fail(`must match the pattern ${source}`, { expected: `pattern ${source}`, found: preview(value) });
}
