export interface EnvFile {
  values: Map<string, string>;
  /** Lines that are not understood. Their text is not repeated, because it may contain a secret. */
  mistakes: { line: number; message: string }[];
}

/**
 * Reads the text of a `.env` file: `NAME=value`, with or without `export`, quotes and comments. Quoted values may have
 * several lines; in double quotes, `\n`, `\r`, `\t` and an escaped character are replaced. `$` has no meaning, and the
 * last of several values with the same name counts. A mistake costs only its own line.
 */
export function parseEnvFile(text: string): EnvFile {
  const values = new Map<string, string>();
  const mistakes: EnvFile["mistakes"] = [];
  let line = 1;
  for (let at = 0; at < text.length;) {
    const [found, end] = readEntry(text, at);
    if (typeof found === "string") mistakes.push({ line, message: found });
    else if (found) values.set(found.name, found.value);
    for (; at < end; at++) if (text.charCodeAt(at) === 10) line++;
  }
  return { values, mistakes };
}

type Read = [found: { name: string; value: string } | string | undefined, end: number];

const nothing = /^\s*(?:#|$)/;
const assignment = /^\s*(?:export\s+)?([A-Za-z_][\w.-]*)\s*=(\s*)/;

/** Reads one entry, and returns where the next one starts. */
function readEntry(text: string, at: number): Read {
  const end = endOfLine(text, at);
  const line = text.slice(at, end);
  if (nothing.test(line)) return [undefined, end];
  const start = assignment.exec(line);
  if (!start) return ["expected NAME=value", end];
  const [whole, name = "", space = ""] = start;
  const from = at + whole.length;
  const quote = text[from];
  if (quote !== '"' && quote !== "'" && quote !== "`")
    return [{ name, value: withoutComment(space + text.slice(from, end)) }, end];
  const closing = closingQuote(text, from, quote);
  if (closing === undefined) return ["the quote is not closed", end];
  const last = endOfLine(text, closing);
  if (!nothing.test(text.slice(closing + 1, last)))
    return ["only a comment may follow the closing quote", last];
  const inside = text.slice(from + 1, closing).replaceAll("\r\n", "\n");
  return [{ name, value: quote === '"' ? unescaped(inside) : inside }, last];
}

/** After the line break, if there is one. */
function endOfLine(text: string, at: number): number {
  const end = text.indexOf("\n", at);
  return end === -1 ? text.length : end + 1;
}

function closingQuote(text: string, from: number, quote: string): number | undefined {
  for (let at = from + 1; at < text.length; at++) {
    if (text[at] === quote) return at;
    if (text[at] === "\\" && quote === '"') at++;
  }
  return undefined;
}

const escapes: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t" };

function unescaped(text: string): string {
  return text.replace(/\\([^])/g, (_whole, character: string) => escapes[character] ?? character);
}

/** As in a shell, `#` starts a comment only after a space. */
function withoutComment(text: string): string {
  const comment = /\s#/.exec(text);
  return (comment ? text.slice(0, comment.index) : text).trim();
}
