import { PlugboardError } from "../../index.ts";
import { shellWord } from "../../lib/argv.ts";
import { nearest } from "../../lib/suggest.ts";
import { exampleValue } from "./example-values.ts";
import { propertiesOf, propertySchema, typesOf } from "./schema-parts.ts";
import type { Schema } from "./schema-parts.ts";

/**
 * Rewrites `--key value`, `--key=value`, `--key` and `--no-key` as `key=value`. Only the names of the schema are flags;
 * dashes may stand for what is written otherwise there: `--max-results` for `maxResults` and `max_results`.
 */
export function flagsToPairs(
  words: readonly string[],
  schema: Schema,
  of: "tool" | "prompt" = "tool",
): string[] {
  const pairs: string[] = [];
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? "";
    if (!isFlag(word)) {
      pairs.push(word);
      continue;
    }
    const [, written = "", given] = /^--([^=]+)(?:=([\s\S]*))?$/.exec(word) ?? [];
    const key = flagKey(written, schema);
    const negated = key === undefined ? flagKey(written.replace(/^no-/, ""), schema) : undefined;
    if (key === undefined && negated !== undefined && isBoolean(negated, schema)) {
      if (given !== undefined) throw mistake(`--${written} takes no value.`, `Write ${negated}=${given}.`);
      pairs.push(`${negated}=false`);
      continue;
    }
    if (key === undefined) throw unknownFlag(written, schema, of);
    const next = words[at + 1];
    if (given !== undefined) pairs.push(`${key}=${given}`);
    else if (isBoolean(key, schema)) {
      const isValue = next !== undefined && /^(true|false|yes|no)$/i.test(next);
      pairs.push(`${key}=${isValue ? next : "true"}`);
      if (isValue) at++;
    } else if (next === undefined || isFlag(next))
      throw mistake(`--${written} needs a value.`, `For example: --${written} ${exampleWord(key, schema)}`);
    else {
      pairs.push(`${key}=${next}`);
      at++;
    }
  }
  return pairs;
}

export function isFlag(word: string): boolean {
  return /^--[^=-]/.test(word);
}

/** The parameter that a flag means, with what follows its name after a dot. */
export function flagKey(written: string, schema: Schema): string | undefined {
  const names = propertiesOf(schema, schema).map(([name]) => name);
  if (names.includes(written)) return written;
  const [first = "", ...inner] = written.split(".");
  const alike = names.filter((name) => name === first || plain(name) === plain(first));
  const name = names.includes(first) ? first : alike.length === 1 ? alike[0] : undefined;
  return name === undefined ? undefined : [name, ...inner].join(".");
}

function plain(name: string): string {
  return name.replaceAll(/[-_]/g, "").toLowerCase();
}

export function isBoolean(key: string, schema: Schema): boolean {
  const types = typesOf(propertySchema(schema, key, schema), schema);
  return types.has("boolean") && !types.has("string");
}

function exampleWord(key: string, schema: Schema): string {
  const value = exampleValue(propertySchema(schema, key, schema), schema, key, 1);
  return shellWord(typeof value === "string" ? value : JSON.stringify(value));
}

/** Options of `plugboard call` and `plugboard prompt` themselves. */
const ownFlags = [
  "json",
  "config",
  "yes",
  "output",
  "timeout",
  "whole",
  "profile",
  "trace",
  "verbose",
  "help",
];

function unknownFlag(written: string, schema: Schema, of: "tool" | "prompt"): PlugboardError {
  const names = propertiesOf(schema, schema).map(([name]) => name);
  if (ownFlags.includes(written))
    return mistake(`--${written} takes no value here.`, `Write --${written} alone.`);
  const near = nearest(written, [...names, ...ownFlags]);
  const known = names.slice(0, 10).map((name) => `--${name}`);
  const hint =
    near !== undefined
      ? `Did you mean --${near}?`
      : names.length === 0
        ? `The ${of} takes no parameters.`
        : `Its parameters are ${known.join(", ")}${names.length > 10 ? ", …" : ""}.`;
  return mistake(
    `Neither \`plugboard ${of === "tool" ? "call" : of}\` nor the ${of} has an option --${written}.`,
    hint,
  );
}

function mistake(message: string, hint: string): PlugboardError {
  return new PlugboardError("usage-invalid", message, { hint });
}
