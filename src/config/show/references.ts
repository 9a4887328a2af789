import { splitArgv } from "../../lib/argv.ts";
import { isPlainWord } from "../../lib/plain-word.ts";
import { hidden } from "../../lib/secret-words.ts";
import { escapeTemplate, parseTemplate } from "../template.ts";
import type { Reference } from "../template.ts";
import { showWord } from "./arguments.ts";
import { mark, showPlain } from "./marked.ts";
import { showUrl } from "./url.ts";

/**
 * The arguments of a command line as they may be shown: options, plain words, packages, paths, numbers and hosts.
 * Everything else is hidden, as are values of variables, headers and options whose name stands for a secret.
 */
export function shownArgs(args: readonly string[]): string[] {
  return args.map((word, index) => shownWord(word, args[index - 1]));
}

/** One word of a command line, which may follow an option. */
export function shownWord(word: string, before?: string): string {
  return aroundReferences(word, (marked) => showWord(marked, before));
}

/**
 * A URL with its scheme, host and path. Hides the user name and password, the fragment, and parts of the path and
 * values of parameters that may be secrets.
 */
export function shownUrl(url: string): string {
  return aroundReferences(url, showUrl);
}

/**
 * Shows a text with `${…}` in it. `show` judges the text around the references and must keep their marks; if it loses
 * one, nothing is shown.
 */
export function aroundReferences(text: string, show: (marked: string) => string): string {
  if (text.includes(mark)) return hidden;
  const parts = parseTemplate(text);
  const references = parts.filter((part) => typeof part !== "string").map(shownReference);
  const marked = parts.map((part) => (typeof part === "string" ? escapeTemplate(part) : mark)).join("");
  let next = 0;
  const shown = show(marked).replaceAll(mark, () => references[next++] ?? "");
  return next === references.length ? shown : hidden;
}

/** A reference with its name, but never with its value or default. The command of `${cmd:…}` may contain secrets. */
export function shownReference({ kind, name, fallback }: Reference): string {
  const shown = kind === "env" ? shownName(name) : `${kind}:${shownSource(kind, name)}`;
  if (fallback === undefined) return `\${${shown}}`;
  return `\${${shown}:-${fallback === "" ? "" : hidden}}`;
}

/** The name of a variable or secret, unless somebody wrote a token in its place. */
export function shownName(name: string): string {
  return !/\d/.test(name) || isPlainWord(name) ? name : hidden;
}

function shownSource(kind: Reference["kind"], name: string): string {
  if (kind === "secret") return shownName(name);
  if (kind === "file") return showPlain(name);
  return splitArgv(name)
    .map((word, index, words) => showWord(word, words[index - 1]))
    .join(" ");
}
