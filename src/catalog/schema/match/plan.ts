import { isRecord } from "../../../lib/record.ts";
import { annotations, type Parts } from "../parts.ts";
import type { PatternTest } from "../pattern.ts";
import type { Check } from "../run.ts";

export const stringBit = 1;
export const integerBit = 2;
export const fractionBit = 4;
export const booleanBit = 8;
export const nullBit = 16;
export const arrayBit = 32;
export const objectBit = 64;
/** Values that JSON cannot represent, such as undefined. */
export const otherBit = 128;
export const anyBits = 255;

/**
 * What a schema requires of a value, prepared for a quick yes or no. All plans have the same shape and are read by one
 * function, which the engine optimizes for all schemas. A closure per keyword would cost a call that it cannot inline.
 */
export interface Plan {
  /** The types that may match. None until the plan is laid out, so laziness needs no extra check. */
  types: number;
  /** The types that need no further check. */
  plain: number;
  /** The only values that may match, if they are few and scalar. */
  scalars: readonly unknown[] | undefined;
  text: TextBounds | undefined;
  number: NumberBounds | undefined;
  array: ArrayPlan | undefined;
  object: ObjectPlan | undefined;
  further: Further | undefined;
  /** The schema, until it is laid out. */
  source: Source | undefined;
}

export interface Source {
  schema: Record<string, unknown>;
  parts: Parts;
}

export interface TextBounds {
  least: number;
  most: number;
  pattern: PatternTest | undefined;
}

export interface NumberBounds {
  least: number;
  most: number;
  /** Exclusive bounds; NaN if there is none, because every comparison with it is false. */
  above: number;
  below: number;
  divisor: number | undefined;
}

export interface ArrayPlan {
  least: number;
  most: number;
  first: readonly Plan[];
  rest: Plan | undefined;
}

export interface ObjectPlan {
  /** Without duplicates. */
  required: readonly string[];
  properties: Record<string, unknown>;
  /** How many properties the schema names. */
  size: number;
  isLarge: boolean;
  /** The plan for all other members; undefined if they may be anything. */
  rest: Plan | undefined;
  /** All members that the schema names, created when a value first needs them. */
  row: Row | undefined;
  /** Large objects only: the plans for members that values have had so far. */
  plans: Map<string, Plan>;
  /** Large objects only: true if the last value had enough members that looking up each name is cheaper. */
  isDense: boolean;
  parts: Parts;
}

export interface Row {
  members: readonly Member[];
  byName: ReadonlyMap<string, Member>;
}

export interface Member {
  name: string;
  position: number;
  isRequired: boolean;
  plan: Plan;
}

/** Checks that need more than the value itself. */
export interface Further {
  all: readonly Plan[] | undefined;
  any: Alternatives | undefined;
  one: Alternatives | undefined;
  /** The checks for keywords that are too rare for a plan. */
  checks: Check | undefined;
}

export interface Alternatives {
  branches: readonly Plan[];
  /** The branches that objects can match, by the member that distinguishes them. */
  choice: Choice | undefined;
}

export interface Choice {
  name: string;
  byTag: ReadonlyMap<unknown, readonly Plan[]>;
  untagged: readonly Plan[];
}

const bits: Record<string, number> = {
  string: stringBit,
  number: integerBit | fractionBit,
  integer: integerBit,
  boolean: booleanBit,
  null: nullBit,
  array: arrayBit,
  object: objectBit,
};

export function typeBits(names: readonly string[] | undefined): number {
  return names === undefined ? anyBits : names.reduce((sum, name) => sum | (bits[name] ?? 0), 0);
}

export const alwaysPlan: Plan = planOf(anyBits);
export const neverPlan: Plan = planOf(0);
const typePlans = new Map(Object.entries(bits).map(([name, types]) => [name, planOf(types)]));

/** Creates a plan that is laid out when a value first reaches it. */
export function createPlan(schema: unknown, parts: Parts): Plan {
  if (schema === false) return neverPlan;
  if (!isRecord(schema)) return alwaysPlan;
  return typePlan(schema) ?? planOf(0, { schema, parts });
}

/** Most schemas only name a type. They share one plan, which is then nearly always in the processor's cache. */
function typePlan(schema: Record<string, unknown>): Plan | undefined {
  for (const keyword in schema) if (keyword !== "type" && !annotations.has(keyword)) return undefined;
  return typeof schema["type"] === "string" ? typePlans.get(schema["type"]) : undefined;
}

function planOf(types: number, source?: Source): Plan {
  return {
    types,
    plain: types,
    scalars: undefined,
    text: undefined,
    number: undefined,
    array: undefined,
    object: undefined,
    further: undefined,
    source,
  };
}
