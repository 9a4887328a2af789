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
  /** Absent where nothing was written or parsed. */
  root?: Located | undefined;
}

/** Where a value is written (with its name if it has one), and where its members are. */
export interface Located extends Span {
  members: Map<string | number, Located>;
}

/** The position of a member: of its name if it has one, else of its value. */
export function findSpan({ root }: Pick<ConfigDocument, "root">, path: Path): Span | undefined {
  let here = root;
  for (const step of path) here = here?.members.get(step);
  return here;
}

/**
 * One file syntax. `set` and `remove` change part of the text and keep every other byte; `set` with the index after the
 * last one adds an item to a list. They may be simple: the caller parses the result again and rejects it if anything
 * else changed.
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

/** More mistakes than this in one text are only counted: nobody reads them, and a hostile text can have a million. */
const maxProblems = 100;

/** Aliases may make a document this many times as large as its text. */
const maxGrowth = 4;

/**
 * Parses text that may be hostile. Parsers recurse, so the nesting depth is limited before and after parsing: a
 * document that is too deep becomes a problem in the result and cannot overflow the stack.
 */
export async function parseDocument(text: string, syntax: SyntaxName): Promise<ConfigDocument> {
  const brackets = tooManyBrackets(text);
  if (brackets !== undefined) return rejected(tooDeep, brackets);
  const { parse } = await notation(syntax);
  try {
    const document = parse(text);
    const fault = sizeFault(document.value, text.length * maxGrowth + 10_000);
    if (fault) return rejected(fault === "deep" ? tooDeep : tooLarge);
    return { ...document, problems: countedProblems(document.problems) };
  } catch (error) {
    if (error instanceof RangeError) return rejected(tooDeep);
    throw error;
  }
}

function rejected(message: string, offset = 0): ConfigDocument {
  return { value: undefined, problems: [{ message, offset }] };
}

function countedProblems(problems: SyntaxProblem[]): SyntaxProblem[] {
  if (problems.length <= maxProblems) return problems;
  const { offset = 0 } = problems[maxProblems] ?? {};
  const rest = (problems.length - maxProblems).toLocaleString("en");
  return [
    ...problems.slice(0, maxProblems),
    { message: `there are ${rest} more mistakes after this`, offset },
  ];
}

export const tooDeep = `nested deeper than ${maxDepth} levels`;
const tooLarge = "aliases (`*name`) repeat too much of the document";

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

/** Whether a value is nested too deeply, or has more members and characters than it may. Parts that repeat count again. */
export function sizeFault(value: unknown, room = 1_000_000): "deep" | "large" | undefined {
  let left = room;
  const visit = (part: unknown, depth: number): "deep" | "large" | undefined => {
    left -= typeof part === "string" ? part.length + 1 : 1;
    if (left < 0) return "large";
    if (typeof part !== "object" || part === null) return undefined;
    if (depth > maxDepth) return "deep";
    for (const member of Object.values(part)) {
      const fault = visit(member, depth + 1);
      if (fault) return fault;
    }
    return undefined;
  };
  return visit(value, 1);
}

/** Of several members with the same name the last one counts; the part that they belong to is not used. */
export function duplicateKey(offset: number, path: Path): SyntaxProblem {
  return { message: `duplicate key \`${path.at(-1)}\``, offset, path };
}

export function bareObject(): Record<string, unknown> {
  return Object.create(null) as Record<string, unknown>;
}

/** The line and column of an offset, both starting at 1. */
export function positionAt(text: string, offset: number): Position {
  return positionsIn(text)(offset);
}

export interface Position {
  line: number;
  column: number;
}

/** The same for many offsets of one text: its lines are found once. */
export function positionsIn(text: string): (offset: number) => Position {
  let starts: number[] | undefined;
  return (offset) => {
    starts ??= lineStarts(text);
    let [low, high] = [0, starts.length - 1];
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((starts[middle] ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    return { line: low + 1, column: offset - (starts[low] ?? 0) + 1 };
  };
}

function lineStarts(text: string): number[] {
  const starts = [0];
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  return starts;
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

/** The value inside of objects, and of lists of one item. */
export function nest(path: Path, value: unknown): unknown {
  return path.reduceRight((inner, step) => (typeof step === "number" ? [inner] : { [step]: inner }), value);
}
