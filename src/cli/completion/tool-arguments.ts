import { schemaAt, stepsOf } from "../arguments/call-arguments.ts";
import { flagKey, isBoolean, isFlag } from "../arguments/flags.ts";
import { allowedValues, itemSchema, propertiesOf, typesOf } from "../arguments/schema-parts.ts";
import type { Schema } from "../arguments/schema-parts.ts";

/** The arguments that are not given yet, as `key=` or `--key`, or the values of the one that is typed. */
export function argumentCandidates(words: readonly string[], last: string, schema: Schema): string[] {
  const { given, open } = givenArguments(words, schema);
  if (open !== undefined) return valuesAt(open, last, schema);
  const [, dashes = "", key, sign = "", text = ""] = /^(--)?([^=]+?)(:?=)([\s\S]*)$/.exec(last) ?? [];
  if (key !== undefined) {
    const name = dashes === "" ? key : flagKey(key, schema);
    if (name === undefined) return [];
    const values = sign === ":=" ? jsonValuesAt(name, schema) : valuesAt(name, text, schema);
    return values.map((value) => `${dashes}${key}${sign}${value}`);
  }
  // A whole object, a file or standard input takes the place of all arguments.
  if (/^[{@-]/.test(words[0] ?? "") && !isFlag(words[0] ?? "")) return [];
  const names = argumentNames(schema).filter(
    (name) => !given.has(name) && !given.has(name.split(".")[0] ?? ""),
  );
  return names.map((name) => (last.startsWith("-") ? `--${name}` : `${name}=`));
}

/** The keys of the arguments, and the key of a last flag that waits for its value. */
function givenArguments(words: readonly string[], schema: Schema): { given: Set<string>; open?: string } {
  const given = new Set<string>();
  let open: string | undefined;
  for (const word of words) {
    if (open !== undefined) {
      open = undefined;
      continue;
    }
    const [, key = ""] = /^(?:--)?([^=]+?)(?::?=|$)/.exec(word) ?? [];
    const name = isFlag(word) ? (flagKey(key, schema) ?? flagKey(key.replace(/^no-/, ""), schema)) : key;
    if (name === undefined) continue;
    given.add(name);
    if (isFlag(word) && !word.includes("=") && !isBoolean(name, schema)) open = name;
  }
  return { given, ...(open !== undefined && { open }) };
}

/** Objects are typed property by property: `filter.since=`. */
function argumentNames(schema: Schema): string[] {
  const names = propertiesOf(schema, schema).flatMap(([name, own]) => {
    const inner = typesOf(own, schema).has("object") ? propertiesOf(own, schema) : [];
    return inner.length === 0 ? [name] : inner.map(([step]) => `${name}.${step}`);
  });
  return names.filter(
    (name) => /^[^\s={@-][^=]*(?<!:)$/.test(name) && !/(^|\.)(__proto__)?(\.|$)/.test(name),
  );
}

function valuesAt(key: string, text: string, root: Schema): string[] {
  const schema = schemaAt(stepsOf(key, root), root);
  const single = scalarValues(schema, root);
  if (single.length > 0 || !typesOf(schema, root).has("array")) return single;
  const typed = text.slice(0, text.lastIndexOf(",") + 1);
  const taken = new Set(typed.split(","));
  const items = scalarValues(itemSchema(schema, root), root);
  return items.filter((item) => !taken.has(item) && !item.includes(",")).map((item) => `${typed}${item}`);
}

function scalarValues(schema: unknown, root: Schema): string[] {
  const allowed = allowedValues(schema, root);
  if (allowed.length === 0) return typesOf(schema, root).has("boolean") ? ["true", "false"] : [];
  const texts = allowed.map((value) => (typeof value === "string" ? value : JSON.stringify(value)));
  // `key=@…` reads a file.
  return texts.filter((text) => !text.startsWith("@"));
}

function jsonValuesAt(key: string, root: Schema): string[] {
  const schema = schemaAt(stepsOf(key, root), root);
  const allowed = allowedValues(schema, root);
  if (allowed.length > 0) return allowed.map((value) => JSON.stringify(value));
  return typesOf(schema, root).has("boolean") ? ["true", "false"] : [];
}
