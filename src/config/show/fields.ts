import * as z from "zod/mini";
import { isRecord } from "../../lib/record.ts";
import { hidden } from "../../lib/secret-words.ts";
import { fieldAliases } from "../check-server.ts";
import type { ServerEntry } from "../model.ts";
import { bundleSchema, settingsSchema } from "../schema.ts";
import { serverSchema, showings } from "../server-schema.ts";
import type { Showing } from "../server-schema.ts";
import { hide } from "./marked.ts";
import { aroundReferences, shownArgs, shownName, shownUrl, shownWord } from "./references.ts";

/** The entry as it may be shown: only fields that the schema declares harmless. References stay as written. */
export function shownEntry({ written }: Pick<ServerEntry, "written">): unknown {
  return shownBy(serverSchema, written);
}

/** The same for top-level settings. */
export function shownSettings(settings: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return shownBy(settingsSchema, settings) as Record<string, unknown>;
}

/** The same for a bundle. */
export function shownBundle(bundle: unknown): unknown {
  return shownBy(bundleSchema, bundle);
}

interface Definition {
  type: string;
  innerType?: z.core.$ZodType;
  in?: z.core.$ZodType;
  shape?: Record<string, z.core.$ZodType>;
  valueType?: z.core.$ZodType;
  element?: z.core.$ZodType;
  options?: z.core.$ZodType[];
}

/** Goes only as deep as the schema, so a deeply nested value costs nothing. */
function shownBy(schema: z.core.$ZodType, value: unknown, outer?: Showing): unknown {
  const definition = schema._zod.def as unknown as Definition;
  const as = showings.get(schema)?.as ?? outer;
  switch (definition.type) {
    case "optional":
      return shownBy(definition.innerType ?? schema, value, as);
    case "pipe":
      return shownBy(definition.in ?? schema, value, as);
    case "union":
      return shownAsOption(optionFor(definition.options ?? [], value), value, as);
    case "object":
      return isRecord(value) ? shownMembers(value, (key) => fieldOf(definition, key)) : hidden;
    case "record":
      if (as === undefined || !isRecord(value)) return hidden;
      return shownMembers(value, () => definition.valueType, as);
    case "array":
      if (!Array.isArray(value)) return hidden;
      if (as === "arguments" && value.every((item) => typeof item === "string")) return shownArgs(value);
      return value.map((item: unknown) => shownBy(definition.element ?? z.unknown(), item, as));
    case "string":
      return typeof value === "string" ? shownText(value, as) : hidden;
    case "int":
    case "number":
      return typeof value === "number" ? value : hidden;
    case "boolean":
      return typeof value === "boolean" ? value : hidden;
    case "enum":
    case "literal":
      if (schema._zod.values?.has(value as string)) return value;
      // Other clients' names for a transport are words of the same kind.
      return as === "word" && typeof value === "string" ? shownText(value, as) : hidden;
    default:
      return as === "text" && isScalar(value) ? value : hidden;
  }
}

function shownAsOption(
  option: z.core.$ZodType | undefined,
  value: unknown,
  as: Showing | undefined,
): unknown {
  return option ? shownBy(option, value, as) : hidden;
}

/** A field does not inherit: each one of an object has to be declared itself. */
function shownMembers(
  value: Record<string, unknown>,
  schemaOf: (key: string) => z.core.$ZodType | undefined,
  as?: Showing,
): Record<string, unknown> {
  const members = Object.entries(value).map(([key, member]) => {
    const schema = schemaOf(key);
    return [
      as === "names" ? shownName(key) : key,
      schema === undefined ? hidden : shownBy(schema, member, as),
    ];
  });
  return Object.fromEntries(members) as Record<string, unknown>;
}

function fieldOf({ shape = {} }: Definition, key: string): z.core.$ZodType | undefined {
  const name = fieldAliases.get(key) ?? key;
  return Object.hasOwn(shape, name) ? shape[name] : undefined;
}

function optionFor(options: readonly z.core.$ZodType[], value: unknown): z.core.$ZodType | undefined {
  const types: Record<string, boolean> = {
    string: typeof value === "string",
    pipe: typeof value === "string",
    array: Array.isArray(value),
    object: isRecord(value),
    record: isRecord(value),
    boolean: typeof value === "boolean",
  };
  return options.find(
    (option) =>
      option._zod.values?.has(value as string) || types[(option._zod.def as unknown as Definition).type],
  );
}

function shownText(text: string, as: Showing | undefined): string {
  switch (as) {
    case "text":
      return aroundReferences(text, (marked) => marked);
    case "arguments":
    case "word":
      return shownWord(text);
    case "url":
      return shownUrl(text);
    case "names":
    case undefined:
      return aroundReferences(text, hide);
  }
}

function isScalar(value: unknown): boolean {
  return ["string", "number", "boolean"].includes(typeof value);
}
