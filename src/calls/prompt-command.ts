import { PlugboardError } from "../errors.ts";

export interface PromptArgument {
  name: string;
  required?: boolean | undefined;
}

export interface PromptCommand {
  /** Without the slash: `mcp__server__prompt`. */
  command: string;
  args: Record<string, string>;
}

/**
 * Parses `/mcp__server__prompt a "b c" key=value`. Words fill the declared arguments in order; `key=value` names one.
 * Quotes only group at the start of a word or value, so an apostrophe inside a word is literal.
 */
export function parsePromptCommand(line: string, declared: readonly PromptArgument[]): PromptCommand {
  const names = new Set(declared.map(({ name }) => name));
  const [first = "", ...words] = splitWords(line.trim(), names);
  const command = first.replace(/^\//, "");
  const fail = (problem: string) => {
    const usage = promptUsage(command, declared);
    const message = `/${command}: ${problem}`;
    return new PlugboardError("usage-invalid", message, {
      data: { usage },
      hint: `Usage: ${usage}. Put quotes around values with spaces.`,
    });
  };

  const given = new Map<string, string>();
  const unnamed: string[] = [];
  for (const word of words) {
    const split = word.indexOf("=");
    const name = split === -1 ? "" : word.slice(0, split);
    if (!names.has(name)) unnamed.push(unquote(word));
    else if (given.has(name)) throw fail(`\`${name}\` is given twice`);
    else given.set(name, unquote(word.slice(split + 1)));
  }
  const open = declared.filter(({ name }) => !given.has(name));
  if (unnamed.length > open.length) {
    const extra = unnamed.slice(open.length).map((word) => `\`${word}\``);
    throw fail(
      `takes ${declared.length} argument${declared.length === 1 ? "" : "s"}; ${extra.join(", ")} too many`,
    );
  }
  open.forEach(({ name }, index) => {
    const value = unnamed[index];
    if (value !== undefined) given.set(name, value);
  });
  const missing = declared.filter(({ name, required }) => required && !given.has(name));
  if (missing.length > 0) throw fail(`${missing.map(({ name }) => `\`${name}\``).join(", ")} is missing`);
  return { command, args: Object.fromEntries(given) };
}

/** How a prompt is used, for example `/mcp__weather__forecast <city> [days]`. */
export function promptUsage(command: string, declared: readonly PromptArgument[]): string {
  const words = declared.map(({ name, required }) => (required ? `<${name}>` : `[${name}]`));
  return [`/${command.replace(/^\//, "")}`, ...words].join(" ");
}

/** Keeps the quotes, to distinguish `"a=b"` from `a="b"`. */
function splitWords(line: string, names: ReadonlySet<string>): string[] {
  const words: string[] = [];
  for (let at = 0; at < line.length;) {
    if (/\s/.test(line[at] ?? "")) {
      at++;
      continue;
    }
    const start = at;
    const value = start + namePrefix(line, start, names);
    at = quotedEnd(line, value) ?? value;
    while (at < line.length && !/\s/.test(line[at] ?? "")) at++;
    words.push(line.slice(start, at));
  }
  return words;
}

function namePrefix(line: string, at: number, names: ReadonlySet<string>): number {
  const longest = Math.max(0, ...Array.from(names, (name) => name.length));
  const split = line.slice(at, at + longest + 1).indexOf("=");
  return split !== -1 && names.has(line.slice(at, at + split)) ? split + 1 : 0;
}

/** The position after the closing quote; `undefined` if there is no quote here or it is not closed. */
function quotedEnd(line: string, at: number): number | undefined {
  const quote = line[at];
  if (quote !== '"' && quote !== "'") return undefined;
  for (let end = at + 1; end < line.length; end++) {
    if (line[end] === "\\" && quote === '"') end++;
    else if (line[end] === quote) return /\s|^$/.test(line[end + 1] ?? "") ? end + 1 : undefined;
  }
  return undefined;
}

function unquote(word: string): string {
  if (quotedEnd(word, 0) !== word.length) return word;
  const inner = word.slice(1, -1);
  return word.startsWith('"') ? inner.replaceAll(/\\(["\\])/g, "$1") : inner;
}
