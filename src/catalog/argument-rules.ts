import type { ServerConfig } from "../config/server-schema.ts";
import { matchesGlob } from "../lib/glob.ts";
import { isRecord } from "../lib/record.ts";

type Schema = Record<string, unknown>;

/** What the configuration says about the arguments of one tool. */
export interface ArgumentRules {
  /** Filled in where whoever calls does not give a value. */
  defaults: Readonly<Record<string, unknown>>;
  /** Also those that the tool does not name. Neither shown to nor accepted from whoever calls. */
  hidden: ReadonlySet<string>;
}

/** Undefined if there are no rules for this tool. Patterns may name arguments that only some of their tools have. */
export function argumentRules(
  name: string,
  schema: Schema,
  { tools }: ServerConfig,
): ArgumentRules | undefined {
  if (!tools?.defaults && !tools?.hideArguments) return undefined;
  /** A schema may leave open which arguments there are; then only a rule for this very tool knows. */
  const isOpen = !isRecord(schema["properties"]) || schema["$ref"] !== undefined;
  const has = (glob: string, argument: string) => declares(schema, argument) || (isOpen && glob === name);
  const matching = <T>(rules: Readonly<Record<string, T>> = {}) =>
    Object.entries(rules).filter(([glob]) => matchesGlob(glob, name));
  const defaults = matching(tools.defaults).flatMap(([glob, rule]) =>
    Object.entries(rule).filter(([argument]) => has(glob, argument)),
  );
  // Hidden whether declared or not: many servers take more arguments than their schemas name.
  const hidden = new Set(matching(tools.hideArguments).flatMap(([, names]) => names));
  if (defaults.length === 0 && hidden.size === 0) return undefined;
  return { defaults: Object.fromEntries(defaults), hidden };
}

/** True if a schema names an argument, at the top or in a part that holds for the same object. */
export function declares(schema: unknown, argument: string, depth = 0): boolean {
  if (!isRecord(schema) || depth > deepest) return false;
  const { properties } = schema;
  if (isRecord(properties) && Object.hasOwn(properties, argument)) return true;
  const inner = [...branches, "then", "else"].flatMap((key) => schema[key] ?? []);
  return inner.some((one) => declares(one, argument, depth + 1));
}

/** A schema without the hidden arguments, where arguments with a default are optional; or why that is impossible. */
export function visibleSchema(
  schema: Schema,
  { defaults, hidden }: ArgumentRules,
): { schema: Schema } | { problem: string } {
  const missing = requiredOf(schema).find((name) => hidden.has(name) && !Object.hasOwn(defaults, name));
  if (missing !== undefined)
    return {
      problem: `the configuration hides its required argument "${missing}" and gives no default for it`,
    };
  try {
    const shown = withoutHidden(schema, hidden, 0);
    const required = requiredOf(shown).filter((name) => !Object.hasOwn(defaults, name));
    const { properties } = shown;
    const told = isRecord(properties) ? withDefaults(properties, defaults) : properties;
    return {
      schema: {
        ...shown,
        ...(told !== undefined && { properties: told }),
        ...(shown["required"] !== undefined && { required }),
      },
    };
  } catch (error) {
    if (!(error instanceof Unclear)) throw error;
    return {
      problem: "the configuration hides arguments, and its schema does not say in one place which it has",
    };
  }
}

/** The arguments that are sent: what was given, and the defaults for the rest. The same object if nothing is filled in. */
export function filledArguments(
  args: Record<string, unknown>,
  { defaults }: ArgumentRules,
): Record<string, unknown> {
  const missing = Object.entries(defaults).filter(
    ([key]) => !Object.hasOwn(args, key) || args[key] === undefined,
  );
  return missing.length === 0 ? args : { ...args, ...Object.fromEntries(missing) };
}

/** A reference may declare the arguments somewhere else. */
class Unclear extends Error {}

const deepest = 16;
const branches = ["allOf", "anyOf", "oneOf"] as const;
const conditions = ["if", "then", "else"] as const;

function withoutHidden(schema: Schema, hidden: ReadonlySet<string>, depth: number): Schema {
  if (hidden.size === 0) return schema;
  if (depth > deepest || schema["$ref"] !== undefined || schema["$dynamicRef"] !== undefined)
    throw new Unclear();
  const shown: Schema = { ...schema };
  const isShown = (name: unknown) => !hidden.has(String(name));
  const keep = (members: unknown) =>
    isRecord(members)
      ? Object.fromEntries(Object.entries(members).filter(([name]) => isShown(name)))
      : members;
  for (const key of ["properties", "dependentSchemas"] as const)
    if (key in schema) shown[key] = keep(schema[key]);
  if (Array.isArray(schema["required"])) shown["required"] = schema["required"].filter(isShown);
  for (const key of ["dependentRequired", "dependencies"] as const)
    if (isRecord(schema[key]))
      shown[key] = Object.fromEntries(
        Object.entries(keep(schema[key]) as Schema).map(([name, needed]) => [
          name,
          Array.isArray(needed) ? needed.filter(isShown) : needed,
        ]),
      );
  const inner = (one: unknown) => (isRecord(one) ? withoutHidden(one, hidden, depth + 1) : one);
  for (const key of branches) if (Array.isArray(schema[key])) shown[key] = schema[key].map(inner);
  for (const key of conditions) if (key in schema) shown[key] = inner(schema[key]);
  return shown;
}

function withDefaults(properties: Schema, defaults: Readonly<Record<string, unknown>>): Schema {
  const told = Object.entries(properties).map(([name, schema]) =>
    Object.hasOwn(defaults, name) && isRecord(schema)
      ? [name, { ...schema, default: defaults[name] }]
      : [name, schema],
  );
  return Object.fromEntries(told) as Schema;
}

function requiredOf({ required }: Schema): string[] {
  return Array.isArray(required) ? required.filter((name) => typeof name === "string") : [];
}
