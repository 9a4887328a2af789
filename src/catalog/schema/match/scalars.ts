import { compilePattern } from "../pattern.ts";
import type { Run } from "../run.ts";
import { isMultiple, lengthFits } from "../measure.ts";
import type { NumberBounds, TextBounds } from "./plan.ts";

export function textFits({ least, most, pattern }: TextBounds, text: string, run: Run): boolean {
  return lengthFits(text, least, most, run) && (pattern === undefined || pattern(text, run));
}

export function numberFits(bounds: NumberBounds, value: number): boolean {
  const { least, most, above, below, divisor } = bounds;
  return (
    value >= least &&
    value <= most &&
    !(value <= above) &&
    !(value >= below) &&
    (divisor === undefined || isMultiple(value, divisor))
  );
}

const maxScalars = 8;
const maxScalarLength = 100;

/** The values of a short `enum` or a `const`. For long lists and long strings a set is faster. */
export function fewScalars(schema: Record<string, unknown>): readonly unknown[] | undefined {
  const isConstant = "const" in schema;
  if (isConstant && "enum" in schema) return undefined;
  const allowed: unknown = isConstant ? [schema["const"]] : schema["enum"];
  if (!Array.isArray(allowed) || allowed.length > maxScalars) return undefined;
  return allowed.every(isShortScalar) ? allowed : undefined;
}

function isShortScalar(value: unknown): boolean {
  if (typeof value === "string") return value.length <= maxScalarLength;
  return typeof value !== "object" || value === null;
}

export function textBounds(schema: Record<string, unknown>): TextBounds | undefined {
  const { minLength, maxLength, pattern } = schema;
  const bounds = {
    least: typeof minLength === "number" ? minLength : 0,
    most: typeof maxLength === "number" ? maxLength : Infinity,
    pattern: typeof pattern === "string" ? compilePattern(pattern) : undefined,
  };
  const isBound = bounds.least > 0 || bounds.most < Infinity || bounds.pattern !== undefined;
  return isBound ? bounds : undefined;
}

export function numberBounds(schema: Record<string, unknown>): NumberBounds | undefined {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = schema;
  const limits = [minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf];
  if (!limits.some((limit) => typeof limit === "number")) return undefined;
  const or = (limit: unknown, none: number) => (typeof limit === "number" ? limit : none);
  return {
    least: or(minimum, -Infinity),
    most: or(maximum, Infinity),
    // Draft 4 uses `exclusiveMinimum: true` together with `minimum`.
    above: or(exclusiveMinimum === true ? minimum : exclusiveMinimum, NaN),
    below: or(exclusiveMaximum === true ? maximum : exclusiveMaximum, NaN),
    divisor: typeof multipleOf === "number" ? multipleOf : undefined,
  };
}
