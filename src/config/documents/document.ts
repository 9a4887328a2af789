/** The path to a value in a configuration: member names and list indexes, starting at the root. */
export type Path = readonly (string | number)[];

export interface Span {
  start: number;
  end: number;
}

export interface SyntaxProblem {
  message: string;
  offset: number;
  /** Set when the problem affects only this part of the document, for example a duplicate member. */
  path?: Path;
}

/** A parsed text with source positions. Its objects have no prototype, so `__proto__` is an ordinary name. */
export interface ConfigDocument {
  value: unknown;
  problems: SyntaxProblem[];
  /** The position of a member: of its name if it has one, else of its value. */
  find(path: Path): Span | undefined;
}

/**
 * One file syntax. `set` and `remove` change part of the text and keep every other byte. They may be simple: the
 * caller parses the result again and rejects it if anything else changed.
 */
export interface Notation {
  parse(text: string): ConfigDocument;
  set(text: string, path: Path, value: unknown): string;
  remove(text: string, path: Path): string;
  stringify(value: Record<string, unknown>): string;
}

export type SyntaxName = "json" | "toml" | "yaml";

export function syntaxOf(file: string): SyntaxName | undefined {
  if (/\.jsonc?$/i.test(file)) return "json";
  if (/\.toml$/i.test(file)) return "toml";
  if (/\.ya?ml$/i.test(file)) return "yaml";
  return undefined;
}

/** TOML and YAML are loaded only when a file needs them. */
export async function notation(syntax: SyntaxName): Promise<Notation> {
  switch (syntax) {
    case "json":
      return (await import("./json.ts")).json;
    case "toml":
      return (await import("./toml.ts")).toml;
    case "yaml":
      return (await import("./yaml.ts")).yaml;
  }
}

export const maxDepth = 64;

/**
 * Parses text that may be hostile. Parsers recurse, so the nesting depth is limited before and after parsing: a
 * document that is too deep becomes a problem in the result and cannot overflow the stack.
 */
export async function parseDocument(text: string, syntax: SyntaxName): Promise<ConfigDocument> {
  const rejected = { value: undefined, find: () => undefined };
  const brackets = tooManyBrackets(text);
  if (brackets !== undefined) return { ...rejected, problems: [tooDeep(brackets)] };
  const { parse } = await notation(syntax);
  try {
    const document = parse(text);
    if (depthOf(document.value) > maxDepth) return { ...rejected, problems: [tooDeep(0)] };
    return document;
  } catch (error) {
    if (error instanceof RangeError) return { ...rejected, problems: [tooDeep(0)] };
    throw error;
  }
}

function tooDeep(offset: number): SyntaxProblem {
  return { message: `nested deeper than ${maxDepth} levels`, offset };
}

/** Counts open brackets outside quotes. Rough, but it stops `[[[[…` and never rejects a normal file. */
function tooManyBrackets(text: string): number | undefined {
  let depth = 0;
  let quote = 0;
  for (let i = 0; i < text.length; i++) {
    const character = text.charCodeAt(i);
    if (character === 10) quote = 0;
    else if (quote !== 0) {
      if (character === 92) i++;
      else if (character === quote) quote = 0;
    } else if (character === 34) quote = character;
    else if (character === 91 || character === 123) {
      if (++depth > maxDepth * 2) return i;
    } else if (character === 93 || character === 125) depth = Math.max(0, depth - 1);
  }
  return undefined;
}

function depthOf(value: unknown, limit = maxDepth + 1): number {
  if (typeof value !== "object" || value === null || limit === 0) return 0;
  let deepest = 0;
  for (const member of Object.values(value)) deepest = Math.max(deepest, depthOf(member, limit - 1));
  return deepest + 1;
}

export function bareObject(): Record<string, unknown> {
  return Object.create(null) as Record<string, unknown>;
}

/** The line and column of an offset, both starting at 1. */
export function positionAt(text: string, offset: number): { line: number; column: number } {
  const before = text.slice(0, offset);
  const line = before.split("\n").length;
  return { line, column: offset - before.lastIndexOf("\n") };
}

export function formatPath(path: Path): string {
  return path
    .map((step, index) => {
      if (typeof step === "number") return `[${step}]`;
      if (!/^[\w$-]+$/.test(step)) return `[${JSON.stringify(step)}]`;
      return index === 0 ? step : `.${step}`;
    })
    .join("");
}

export function valueAt(value: unknown, path: Path): unknown {
  let here = value;
  for (const step of path) {
    if (typeof here !== "object" || here === null || !Object.hasOwn(here, step)) return undefined;
    here = (here as Record<string | number, unknown>)[step];
  }
  return here;
}

export function splice(text: string, start: number, length: number, insertion: string): string {
  return text.slice(0, start) + insertion + text.slice(start + length);
}

export function nest(path: Path, value: unknown): unknown {
  return path.reduceRight((inner, step) => ({ [step]: inner }), value);
}
