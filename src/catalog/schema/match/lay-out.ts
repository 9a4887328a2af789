import { rareAlternativeChecks } from "../check/alternatives.ts";
import { itemSchemas, rareArrayChecks } from "../check/arrays.ts";
import { hasPatterns, memberChecks, rareObjectChecks, requiredChecks } from "../check/objects.ts";
import { enumChecks, typeNames } from "../check/scalars.ts";
import { referenceIn, type Parts } from "../parts.ts";
import { every, type Check } from "../run.ts";
import { unevaluatedChecks } from "../unevaluated.ts";
import { alternativesOf } from "./choice.ts";
import { objectPlan } from "./object-plan.ts";
import {
  arrayBit,
  createPlan,
  fractionBit,
  integerBit,
  neverPlan,
  objectBit,
  stringBit,
  typeBits,
  type ArrayPlan,
  type Further,
  type Plan,
  type Source,
} from "./plan.ts";
import { fewScalars, numberBounds, textBounds } from "./scalars.ts";

/** Fills in a plan from its schema. Malformed and unknown keywords are ignored. */
export function layOut(plan: Plan, { schema: written, parts }: Source): void {
  const target = parts.follow(written);
  if (target !== written) {
    const made = parts.plan(target);
    if (made.source !== undefined) layOut(made, made.source);
    Object.assign(plan, made);
    return;
  }
  const schema = parts.isReplaced(written) ? {} : written;
  const isPatterned = hasPatterns(schema);
  plan.scalars = fewScalars(schema);
  plan.text = textBounds(schema);
  plan.number = numberBounds(schema);
  plan.array = arrayPlan(schema, parts);
  plan.object = isPatterned ? undefined : objectPlan(schema, parts);
  plan.further = furtherOf(schema, written, parts, [
    ...(plan.scalars === undefined ? enumChecks(schema) : []),
    ...(isPatterned ? [...requiredChecks(schema), ...memberChecks(schema, parts)] : []),
    ...rareArrayChecks(schema, parts),
    ...rareObjectChecks(schema, parts),
    ...rareAlternativeChecks(schema, parts),
    ...unevaluatedChecks(schema, parts),
  ]);
  plan.types = typeBits(typeNames(schema));
  plan.plain = plainBits(plan);
  plan.source = undefined;
}

function plainBits({ types, scalars, text, number, array, object, further }: Plan): number {
  if (scalars !== undefined || further !== undefined) return 0;
  const bounded =
    (text === undefined ? 0 : stringBit) |
    (number === undefined ? 0 : integerBit | fractionBit) |
    (array === undefined ? 0 : arrayBit) |
    (object === undefined ? 0 : objectBit);
  return types & ~bounded;
}

function arrayPlan(schema: Record<string, unknown>, parts: Parts): ArrayPlan | undefined {
  const { first, rest } = itemSchemas(schema);
  const { minItems, maxItems } = schema;
  const least = typeof minItems === "number" ? minItems : 0;
  const most = typeof maxItems === "number" ? maxItems : Infinity;
  if (first.length === 0 && rest === undefined && least === 0 && most === Infinity) return undefined;
  return {
    least,
    most,
    first: first.map((item) => createPlan(item, parts)),
    rest: rest === undefined || rest === true ? undefined : createPlan(rest, parts),
  };
}

function furtherOf(
  schema: Record<string, unknown>,
  written: Record<string, unknown>,
  parts: Parts,
  checks: readonly Check[],
): Further | undefined {
  const { allOf, anyOf, oneOf } = schema;
  const all = Array.isArray(allOf) ? allOf.map((inner) => createPlan(inner, parts)) : [];
  const any = Array.isArray(anyOf) && anyOf.length > 0 ? alternativesOf(anyOf, parts) : undefined;
  const one = Array.isArray(oneOf) && oneOf.length > 0 ? alternativesOf(oneOf, parts) : undefined;
  if (referenceIn(written) !== undefined) {
    const target = parts.target(written);
    all.push(target === undefined ? neverPlan : parts.plan(target));
  }
  if (all.length === 0 && any === undefined && one === undefined && checks.length === 0) return undefined;
  return {
    all: all.length === 0 ? undefined : all,
    any,
    one,
    checks: checks.length === 0 ? undefined : every(checks),
  };
}
