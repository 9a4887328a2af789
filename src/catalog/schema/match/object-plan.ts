import { isRecord } from "../../../lib/record.ts";
import type { Parts } from "../parts.ts";
import { alwaysPlan, createPlan, type Member, type ObjectPlan, type Plan, type Row } from "./plan.ts";

/**
 * The engine stores parsed objects with more members than about this as hash tables, whose names are slow to list. A
 * schema may also name thousands of properties, and a value should only pay for those that it has.
 */
const maxInOrder = 100;

export function objectPlan(schema: Record<string, unknown>, parts: Parts): ObjectPlan | undefined {
  const { properties, required, additionalProperties } = schema;
  if (!isRecord(properties) && !Array.isArray(required) && additionalProperties === undefined)
    return undefined;
  const known = isRecord(properties) ? properties : {};
  const names = Array.isArray(required) ? required.filter((name) => typeof name === "string") : [];
  const size = Object.keys(known).length;
  const isOpen = additionalProperties === undefined || additionalProperties === true;
  return {
    required: [...new Set(names)],
    properties: known,
    size,
    isLarge: size === 0 || size > maxInOrder,
    rest: isOpen ? undefined : createPlan(additionalProperties, parts),
    row: undefined,
    plans: new Map(),
    isDense: false,
    parts,
  };
}

export function rowOf(plan: ObjectPlan): Row {
  const needed = new Set(plan.required);
  const names = new Set([...Object.keys(plan.properties), ...plan.required]);
  const members = [...names].map((name, position): Member => {
    const known = plan.plans.get(name) ?? propertyPlan(plan, name);
    return { name, position, isRequired: needed.has(name), plan: known ?? plan.rest ?? alwaysPlan };
  });
  return { members, byName: new Map(members.map((member) => [member.name, member])) };
}

/** The plan for a property that the schema names; undefined for other names. */
export function propertyPlan(
  { properties, plans, parts, isLarge }: ObjectPlan,
  name: string,
): Plan | undefined {
  if (!Object.hasOwn(properties, name)) return undefined;
  const made = createPlan(properties[name], parts);
  if (isLarge) plans.set(name, made);
  return made;
}

/** True if the plan names a member that all objects inherit, so finding it proves nothing. */
export function namesInherited({ properties, required }: ObjectPlan): boolean {
  return Object.getOwnPropertyNames(Object.prototype).some(
    (name) => Object.hasOwn(properties, name) || required.includes(name),
  );
}
