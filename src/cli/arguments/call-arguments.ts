import { PlugboardError } from "../../index.ts";
import type { Selection } from "../../index.ts";
import { parseExact, setExactText, stringifyExact } from "../../lib/exact-json.ts";
import { isRecord } from "../../lib/record.ts";
import { nearest } from "../../lib/suggest.ts";
import { flagsToPairs } from "./flags.ts";
import { argumentValue } from "./value.ts";
import { readTextFile } from "./text-file.ts";
import { parseJson } from "./json-text.ts";
import { itemSchema, propertiesOf, propertySchema, requiredOf, typesOf } from "./schema-parts.ts";
import type { Schema } from "./schema-parts.ts";
import type { Terminal } from "../terminal/terminal.ts";

type Arguments = Record<string, unknown>;

/** Where values that are not typed come from. */
export interface Sources extends Pick<Terminal, "cwd" | "readInput"> {
  readResult(handle: string, selection: Selection): Promise<unknown>;
}

/** Reads `key=value…` and `--key value…` according to the schema, or one object from `'{json}'`, `@file` or `-` (standard input). */
export async function readArguments(
  words: readonly string[],
  schema: Schema,
  sources: Sources,
): Promise<Arguments> {
  const [first] = words;
  if (first === undefined) return {};
  if (words.length === 1) {
    if (first === "-") return objectFrom(await sources.readInput(), "standard input");
    if (first.startsWith("@")) {
      const file = first.slice(1);
      return objectFrom(await readTextFile(file, sources.cwd), file);
    }
    if (first.trimStart().startsWith("{")) return objectFrom(first, "the argument");
  }
  const args: Arguments = {};
  const given = new Set<string>();
  const pairs = flagsToPairs(words, schema);
  for (const word of pairs) {
    const pair = parsePair(word, pairs, schema);
    assertNotMisspelt(pair.key, pairs, schema);
    const steps = stepsOf(pair.key, schema);
    const target = schemaAt(steps, schema);
    const value = await readValue(pair, target, schema, sources);
    place(args, steps, value, { ...pair, isRepeated: given.has(pair.key) });
    given.add(pair.key);
  }
  return args;
}

/**
 * Many tools ignore what they do not know. A key that is nearly the name of an optional parameter was meant as that; a
 * required one that is missing is noticed anyway.
 */
function assertNotMisspelt(key: string, pairs: readonly string[], schema: Schema): void {
  const names = propertiesOf(schema, schema).map(([name]) => name);
  const [top = ""] = names.includes(key) ? [key] : key.split(".");
  if (names.includes(top)) return;
  const near = nearest(top, names);
  if (near === undefined || requiredOf(schema, schema).has(near)) return;
  if (pairs.some((pair) => pair.startsWith(`${near}=`) || pair.startsWith(`${near}:=`))) return;
  throw new PlugboardError("usage-invalid", `The tool has no parameter "${top}". Did you mean ${near}?`, {
    hint: "To send it anyway, write all arguments as one JSON object.",
  });
}

interface Pair {
  key: string;
  isJson: boolean;
  text: string;
}

function parsePair(word: string, words: readonly string[], schema: Schema): Pair {
  const [, key, sign, text = ""] = /^([^=]+?)(:?=)([\s\S]*)$/.exec(word) ?? [];
  if (key !== undefined) return { key, isJson: sign === ":=", text };
  const names = propertiesOf(schema, schema).map(([name]) => name);
  const [only] = names;
  const isObvious = words.length === 1 && names.length === 1 && only !== undefined;
  throw new PlugboardError("usage-invalid", `Not a valid argument: ${word}`, {
    hint: isObvious
      ? `Did you mean ${only}=${word}?`
      : "Write key=value, or a single '{\"json\": …}', @file, or - for standard input.",
  });
}

async function readValue(
  { key, isJson, text }: Pair,
  schema: unknown,
  root: Schema,
  { cwd, readResult }: Sources,
): Promise<unknown> {
  if (isJson) return await parseJson(text, `the value of ${key}`);
  if (!text.startsWith("@")) return argumentValue(text, schema, root);
  if (text.startsWith("@result:")) {
    const { handle, ...selection } = parseReference(text);
    const value = await readResult(handle, selection);
    return typeof value === "string" ? argumentValue(value, schema, root) : value;
  }
  const hint = `To pass the text itself, write ${key}:='${JSON.stringify(text)}'.`;
  return argumentValue(await readTextFile(text.slice(1), cwd, hint), schema, root);
}

/** `@result:<handle>`, then `:<part>` and `#<JSON pointer>` for less than all of it. */
function parseReference(text: string): Selection & { handle: string } {
  const [, handle, part, select] = /^@result:([^:#]*)(?::([^#]*))?(?:#([\s\S]*))?$/.exec(text) ?? [];
  return { handle: handle ?? "", part, select };
}

/** `a.b` means `b` inside `a`, unless a parameter is named `a.b`. */
export function stepsOf(key: string, schema: Schema): string[] {
  const isDeclared = propertiesOf(schema, schema).some(([name]) => name === key);
  const steps = isDeclared ? [key] : key.split(".");
  if (steps.some((step) => step === "" || step === "__proto__")) {
    throw new PlugboardError("usage-invalid", `Not a valid argument name: ${key}`);
  }
  return steps;
}

export function schemaAt(steps: readonly string[], root: Schema): unknown {
  let schema: unknown = root;
  for (const step of steps) {
    const isItem = /^\d+$/.test(step) && typesOf(schema, root).has("array");
    schema = isItem ? itemSchema(schema, root) : propertySchema(schema, step, root);
  }
  return schema;
}

function place(
  args: Arguments,
  steps: readonly string[],
  value: unknown,
  { key, text, isRepeated }: Pair & { isRepeated: boolean },
): void {
  let holder = args;
  for (const [index, step] of steps.slice(0, -1).entries()) {
    const next = steps[index + 1] ?? "";
    if (!Object.hasOwn(holder, step)) holder[step] = /^\d+$/.test(next) ? [] : {};
    const inner = holder[step];
    if (typeof inner !== "object" || inner === null) {
      throw new PlugboardError(
        "usage-invalid",
        `"${key}": ${step} already has a value that is not an object.`,
      );
    }
    holder = inner as Arguments;
  }
  const last = steps.at(-1) ?? "";
  const before = Object.hasOwn(holder, last) ? holder[last] : undefined;
  if (isRepeated && !(Array.isArray(before) && Array.isArray(value))) {
    throw new PlugboardError("usage-invalid", `"${key}" was given twice, but takes one value.`);
  }
  holder[last] = isRepeated ? joined(before as unknown[], value as unknown[]) : value;
  if (typeof value === "number") setExactText(holder, last, text);
}

/** One list after the other, with the texts of their numbers. */
function joined(before: unknown[], more: unknown[]): unknown {
  return parseExact(`[${[...listItems(before), ...listItems(more)].join(",")}]`);
}

function listItems(list: unknown[]): string[] {
  const items = stringifyExact(list).slice(1, -1);
  return items === "" ? [] : [items];
}

async function objectFrom(text: string, where: string): Promise<Arguments> {
  const value = await parseJson(text, where);
  if (isRecord(value)) return value;
  throw new PlugboardError("usage-invalid", `The arguments in ${where} must be one JSON object.`);
}
