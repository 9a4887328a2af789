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
/** What JSON cannot say, such as undefined. */
export const otherBit = 128;
export const anyBits = 255;

/**
 * What a schema asks of a value, laid out for a quick yes or no. All plans are objects of one shape that one function
 * reads: the engine optimizes that function for all schemas, where a closure for each keyword costs a call it cannot
 * inline.
 */
export interface Plan {
  /** The types that may match. None until the plan is laid out, so being lazy costs nothing afterwards. */
  types: number;
  /** The types of which nothing more is asked. */
  plain: number;
  /** The only values that may match, when they are few and scalar. */
  scalars: readonly unknown[] | undefined;
  text: TextBounds | undefined;
  number: NumberBounds | undefined;
  array: ArrayPlan | undefined;
  object: ObjectPlan | undefined;
  further: Further | undefined;
  /** What is still to be laid out. */
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
  /** Exclusive bounds; NaN when there is none, because nothing compares with it. */
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
  /** Each name once. */
  required: readonly string[];
  properties: Record<string, unknown>;
  /** How many properties the schema names. */
  size: number;
  isLarge: boolean;
  /** What all other members have to match; undefined when they may be anything. */
  rest: Plan | undefined;
  /** All members that the schema speaks of, made when a value first needs them. */
  row: Row | undefined;
  /** Large objects only: the plans of the members that values had so far. */
  plans: Map<string, Plan>;
  /** Large objects only: true if the last value had so many members that looking for each of them pays. */
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

/** What costs more than a look at the value itself. */
export interface Further {
  all: readonly Plan[] | undefined;
  any: Alternatives | undefined;
  one: Alternatives | undefined;
  /** The keywords that are too rare to have a plan. */
  checks: Check | undefined;
}

export interface Alternatives {
  branches: readonly Plan[];
  /** The branches that objects can match, by what they say in the member that tells them apart. */
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

/** The plan of a schema, to be laid out when a value first reaches it. */
export function createPlan(schema: unknown, parts: Parts): Plan {
  if (schema === false) return neverPlan;
  if (!isRecord(schema)) return alwaysPlan;
  return typePlan(schema) ?? planOf(0, { schema, parts });
}

/** Most schemas only name a type. They share a plan, which is then nearly always in the processor's cache. */
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
