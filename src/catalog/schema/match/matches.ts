import type { Run } from "../run.ts";
import { layOut } from "./lay-out.ts";
import { namesInherited, propertyPlan, rowOf } from "./object-plan.ts";
import {
  arrayBit,
  booleanBit,
  fractionBit,
  integerBit,
  nullBit,
  objectBit,
  otherBit,
  stringBit,
  type Alternatives,
  type ArrayPlan,
  type Further,
  type ObjectPlan,
  type Plan,
} from "./plan.ts";
import { numberFits, textFits } from "./scalars.ts";

/**
 * True if a value matches a plan; does not report why not. Objects, arrays and alternatives cost steps for their
 * content and count as a level of depth; scalars are free. Kept small so that the engine inlines it in loops.
 */
export function matches(plan: Plan, value: unknown, run: Run): boolean {
  const bit = bitOf(value);
  return (plan.plain & bit) !== 0 || matchesFully(plan, value, bit, run);
}

function bitOf(value: unknown): number {
  if (typeof value === "string") return stringBit;
  if (typeof value === "number") return Number.isInteger(value) ? integerBit : fractionBit;
  if (typeof value === "boolean") return booleanBit;
  if (value === null) return nullBit;
  if (typeof value !== "object") return otherBit;
  return Array.isArray(value) ? arrayBit : objectBit;
}

function matchesFully(plan: Plan, value: unknown, bit: number, run: Run): boolean {
  if ((plan.types & bit) === 0) return layOutAndMatch(plan, value, run);
  if (plan.scalars !== undefined && !plan.scalars.includes(value)) return false;
  switch (bit) {
    case stringBit:
      if (plan.text !== undefined && !textFits(plan.text, value as string, run)) return false;
      break;
    case integerBit:
    case fractionBit:
      if (plan.number !== undefined && !numberFits(plan.number, value as number)) return false;
      break;
    case arrayBit:
      if (plan.array !== undefined && !itemsMatch(plan.array, value as unknown[], run)) return false;
      break;
    case objectBit:
      if (plan.object !== undefined && !objectMatches(plan.object, value as Record<string, unknown>, run))
        return false;
      break;
  }
  return plan.further === undefined || furtherMatches(plan.further, value, run);
}

/** Called if the plan does not allow the type. A plan that is not laid out yet allows none, so lay it out and retry. */
function layOutAndMatch(plan: Plan, value: unknown, run: Run): boolean {
  if (plan.source === undefined) return false;
  layOut(plan, plan.source);
  return matches(plan, value, run);
}

function itemsMatch(plan: ArrayPlan, value: readonly unknown[], run: Run): boolean {
  const { length } = value;
  if (length < plan.least || length > plan.most) return false;
  run.enter();
  const holds =
    firstMatch(plan.first, value, run) &&
    (plan.rest === undefined || restMatches(plan.first.length, plan.rest, value, run));
  run.depth--;
  return holds;
}

function firstMatch(plans: readonly Plan[], value: readonly unknown[], run: Run): boolean {
  const end = Math.min(plans.length, value.length);
  run.steps -= end;
  for (let index = 0; index < end; index++)
    if (!matches(plans[index] as Plan, value[index], run)) return false;
  return true;
}

function restMatches(start: number, plan: Plan, value: readonly unknown[], run: Run): boolean {
  run.spend(Math.max(value.length - start, 0));
  for (let index = start; index < value.length; index++) if (!matches(plan, value[index], run)) return false;
  return true;
}

/** True if an object has the required members and all its members match. */
function objectMatches(plan: ObjectPlan, value: Record<string, unknown>, run: Run): boolean {
  run.enter();
  const holds = plan.isLarge
    ? largeObjectMatches(plan, value, run)
    : matchesInOrder(plan, value, run) || failObject(value, run);
  run.depth--;
  return holds;
}

/** Charges for the names of a large object: listing them takes time even if the first one decides. */
function failObject(value: object, run: Run): false {
  const { length } = Object.keys(value);
  if (length > 100) run.spend(4 * length);
  return false;
}

/** Most values have their members in the order of the schema, so the next name is nearly always the expected one. */
function matchesInOrder(plan: ObjectPlan, value: Record<string, unknown>, run: Run): boolean {
  const row = (plan.row ??= rowOf(plan));
  const { members } = row;
  const { rest } = plan;
  let position = 0;
  let missing = plan.required.length;
  // `for in` is the only loop over members that needs no separate lookup for each.
  for (const name in value) {
    run.steps -= 2;
    const member =
      position < members.length && members[position]?.name === name
        ? members[position]
        : row.byName.get(name);
    if (member === undefined) {
      if (rest !== undefined && !matches(rest, value[name], run)) return false;
      continue;
    }
    position = member.position + 1;
    if (member.isRequired) missing--;
    if (!matches(member.plan, value[name], run)) return false;
  }
  return missing === 0;
}

/**
 * Listing the names of a large object costs several times as much as looking up a name. So this looks up each name in
 * the schema, as long as values turn out to have most of them.
 */
function largeObjectMatches(plan: ObjectPlan, value: Record<string, unknown>, run: Run): boolean {
  // With the standard prototype, a member that is found is known to be the value's own.
  return plan.isDense && Object.getPrototypeOf(value) === Object.prototype
    ? matchesByName(plan, value, run)
    : matchesByKey(plan, value, run);
}

function matchesByName(plan: ObjectPlan, value: Record<string, unknown>, run: Run): boolean {
  const { members } = (plan.row ??= rowOf(plan));
  run.spend(members.length >> 1);
  let present = 0;
  for (const { name, plan: wanted, isRequired } of members) {
    const member = value[name];
    if (member === undefined && !Object.hasOwn(value, name)) {
      if (isRequired) return false;
      continue;
    }
    present++;
    if (!matches(wanted, member, run)) return false;
  }
  if (present < members.length >> 2) plan.isDense = false;
  if (plan.rest === undefined) return true;
  const names = Object.keys(value);
  return names.length === present || otherMembersMatch(plan, plan.rest, names, value, run);
}

function otherMembersMatch(
  plan: ObjectPlan,
  rest: Plan,
  names: readonly string[],
  value: Record<string, unknown>,
  run: Run,
): boolean {
  run.spend(names.length);
  for (const name of names)
    if (!Object.hasOwn(plan.properties, name) && !matches(rest, value[name], run)) return false;
  return true;
}

function matchesByKey(plan: ObjectPlan, value: Record<string, unknown>, run: Run): boolean {
  const { required, plans, rest } = plan;
  const names = Object.keys(value);
  run.spend(2 * names.length + (required.length >> 3));
  if (names.length < required.length) return false;
  for (const name of required) if (!Object.hasOwn(value, name)) return false;
  let known = 0;
  for (const name of names) {
    const property = plans.get(name) ?? propertyPlan(plan, name);
    if (property !== undefined) known++;
    const wanted = property ?? rest;
    if (wanted !== undefined && !matches(wanted, value[name], run)) return false;
  }
  plan.isDense = known > plan.size >> 1 && !namesInherited(plan);
  return true;
}

function furtherMatches(further: Further, value: unknown, run: Run): boolean {
  run.enter();
  const holds =
    (further.any === undefined || anyMatches(further.any, value, run)) &&
    (further.one === undefined || oneMatches(further.one, value, run)) &&
    (further.all === undefined || allMatch(further.all, value, run)) &&
    (further.checks === undefined || further.checks(value, run));
  run.depth--;
  return holds;
}

function allMatch(plans: readonly Plan[], value: unknown, run: Run): boolean {
  for (const plan of plans) if (!matches(plan, value, run)) return false;
  return true;
}

function anyMatches(alternatives: Alternatives, value: unknown, run: Run): boolean {
  const branches = candidates(alternatives, value);
  for (let index = 0; index < branches.length; index++) {
    run.steps--;
    if (matches(branches[index] as Plan, value, run)) return true;
  }
  return false;
}

function oneMatches(alternatives: Alternatives, value: unknown, run: Run): boolean {
  const branches = candidates(alternatives, value);
  let isMatched = false;
  for (let index = 0; index < branches.length; index++) {
    run.steps--;
    if (!matches(branches[index] as Plan, value, run)) continue;
    if (isMatched) return false;
    isMatched = true;
  }
  return isMatched;
}

/** The branches to try: an object can only match branches that allow its tag. */
function candidates({ branches, choice }: Alternatives, value: unknown): readonly Plan[] {
  if (choice === undefined || typeof value !== "object" || value === null || Array.isArray(value))
    return branches;
  return choice.byTag.get((value as Record<string, unknown>)[choice.name]) ?? choice.untagged;
}
