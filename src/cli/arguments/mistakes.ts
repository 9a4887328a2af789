import { createValidator } from "../../host.ts";
import { PlugboardError, isPlugboardError } from "../../index.ts";
import type { Mistake } from "../../host.ts";
import type { ToolEntry } from "../../index.ts";
import { nearest } from "../../lib/suggest.ts";
import { isRecord } from "../../lib/record.ts";
import { looksSecret } from "../../lib/secret-words.ts";
import { callLine } from "./call-line.ts";
import { exampleValue } from "./example-values.ts";
import { flagsToPairs } from "./flags.ts";
import { propertiesOf, propertySchema } from "./schema-parts.ts";

type Arguments = Record<string, unknown>;

export interface Typed {
  args: Arguments;
  /** The arguments as they were typed. */
  words: readonly string[];
  /** Options that the corrected line must repeat; without them no line is suggested. */
  options: readonly string[] | undefined;
}

/**
 * Adds a corrected command line to an error about arguments, if one can be found. It repeats no value that was not
 * typed, and none whose name says that it is a secret.
 */
export function withCorrection(error: unknown, tool: ToolEntry, { args, words, options }: Typed): unknown {
  if (!isPlugboardError(error, "arguments-invalid") || !options) return error;
  const files = filesIn(words, tool);
  const corrected = files && correct(tool, args, mistakesIn(error.data));
  if (!corrected) return error;
  const { message, server, data } = error;
  const line = callLine(tool, corrected, { options, written: writtenFor(corrected, args, files) });
  return new PlugboardError("arguments-invalid", message, {
    server,
    tool: tool.id,
    data: { ...data, corrected: line },
    cause: error,
    hint: `Try: ${line}`,
  });
}

/** The arguments that were typed as `key=@file`; undefined if one is inside another, or all came from elsewhere. */
function filesIn(words: readonly string[], { inputSchema }: ToolEntry): Map<string, string> | undefined {
  if (words.length === 1 && /^(?:-$|@)/.test(words[0] ?? "")) return undefined;
  const files = new Map<string, string>();
  const isTop = (key: string) =>
    !key.includes(".") || propertiesOf(inputSchema, inputSchema).some(([name]) => name === key);
  for (const word of flagsToPairs(words, inputSchema)) {
    const [, key = "", text] = /^([^=]+?)=(@[\s\S]*)$/.exec(word) ?? [];
    if (text === undefined || key.endsWith(":")) continue;
    if (!isTop(key) || files.has(key)) return undefined;
    files.set(key, text);
  }
  return files;
}

/** What stands for values that must not be shown: the file that was named, or dots. */
function writtenFor(
  corrected: Arguments,
  args: Arguments,
  files: ReadonlyMap<string, string>,
): Map<string, string> {
  const written = new Map<string, string>();
  for (const [name, value] of Object.entries(corrected)) {
    const typed = [name, ...Object.keys(args)].find(
      (key) =>
        Object.hasOwn(args, key) && args[key] === value && (key === name || !Object.hasOwn(corrected, key)),
    );
    const file = typed === undefined ? undefined : files.get(typed);
    if (file !== undefined) written.set(name, file);
    else if (typed !== undefined && (looksSecret(name) || looksSecret(typed))) written.set(name, "…");
  }
  return written;
}

/** Fixes misspelt names, picks the closest allowed values, and fills in examples for missing or mistyped ones. */
function correct({ inputSchema }: ToolEntry, args: Arguments, mistakes: Mistake[]): Arguments | undefined {
  let fixed: Arguments = { ...args };
  for (const { path, expected, suggestion } of mistakes) {
    if (!/^[^.[\]]+$/.test(path)) return undefined;
    const { [path]: value, ...others } = fixed;
    if (expected === "no such property")
      fixed = suggestion === undefined ? others : { ...others, [suggestion]: value };
  }
  const validate = createValidator(inputSchema);
  for (const { path, suggestion } of validate(fixed)) {
    if (!/^[^.[\]]+$/.test(path)) return undefined;
    const misspelt = misspeltName(path, fixed, inputSchema);
    if (misspelt !== undefined) {
      const { [misspelt]: value, ...others } = fixed;
      fixed = { ...others, [path]: value };
      continue;
    }
    const schema = propertySchema(inputSchema, path, inputSchema);
    fixed = { ...fixed, [path]: suggestion ?? exampleValue(schema, inputSchema, path, 1) };
  }
  return validate(fixed).length === 0 ? fixed : undefined;
}

/** The argument that was probably meant by a missing one: no schema knows its name, and it is spelt nearly the same. */
function misspeltName(
  missing: string,
  args: Arguments,
  schema: ToolEntry["inputSchema"],
): string | undefined {
  if (Object.hasOwn(args, missing)) return undefined;
  const known = new Set(propertiesOf(schema, schema).map(([name]) => name));
  return nearest(
    missing,
    Object.keys(args).filter((name) => !known.has(name)),
  );
}

function mistakesIn(data: Record<string, unknown> | undefined): Mistake[] {
  const list = data?.["mistakes"];
  return Array.isArray(list) ? (list.filter(isRecord) as unknown as Mistake[]) : [];
}
