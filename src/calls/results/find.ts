import { PlugboardError } from "../../errors.ts";

export interface Found {
  start: number;
  end: number;
  /** Starts at 1. */
  line: number;
  column: number;
}

/**
 * Finds `pattern` in a text, ignoring case; `*` matches anything within a line. Takes linear time for any pattern,
 * because texts and patterns may be hostile. If one excerpt covers several matches, only the first is listed.
 */
export function findInText(
  text: string,
  pattern: string,
  limit: number,
): { matches: Found[]; more: boolean } {
  const needles = pattern.split("*").filter((needle) => needle !== "");
  if (needles.length === 0 || pattern.length > maxPatternLength) {
    throw new PlugboardError("usage-invalid", `\`find\` takes 1 to ${maxPatternLength} characters of text`);
  }
  const folded = fold(text);
  const searches = needles.map((needle) => createSearch(folded, fold(needle)));
  const count = createLineCount(text);
  const matches: Found[] = [];
  let lineEnd = -1;
  for (let from = 0; ;) {
    const [first, ...others] = searches;
    const start = first?.next(from) ?? -1;
    if (!first || start === -1) return { matches, more: false };
    if (lineEnd < start) lineEnd = endOfLine(text, start);
    let end = start + first.length;
    let isOnLine = true;
    for (const search of others) {
      const at = search.next(end);
      if (at === -1) return { matches, more: false };
      isOnLine &&= at + search.length <= lineEnd;
      if (!isOnLine) break;
      end = at + search.length;
    }
    if (isOnLine && matches.length === limit) return { matches, more: true };
    if (isOnLine) matches.push({ start, end, ...count(start) });
    from = !isOnLine || lineEnd - end <= contextLength ? Math.max(end, lineEnd) : end + contextLength;
  }
}

/** The lines of a match with up to two lines of context; long lines are clipped on both sides. */
export function excerptAround(text: string, start: number, end: number): string {
  const from = Math.max(linesBack(text, start), start - contextLength);
  const shownEnd = Math.min(end, start + 4 * contextLength);
  const to = Math.min(linesForward(text, shownEnd), shownEnd + contextLength);
  const opening = from === 0 || text[from - 1] === "\n" ? "" : "…";
  const closing = to === text.length || text[to] === "\n" ? "" : "…";
  return opening + text.slice(from, to).toWellFormed() + closing;
}

const maxPatternLength = 1000;
const contextLength = 300;
const linesAround = 2;

/** Converts to lower case without changing the position of any character. */
function fold(text: string): string {
  const lower = text.toLowerCase();
  if (lower.length === text.length) return lower;
  return text
    .replaceAll(/[^\x00-\x7f]+/g, (run) =>
      Array.from(run, (character) => {
        const small = character.toLowerCase();
        return small.length === character.length ? small : character;
      }).join(""),
    )
    .replaceAll(/[A-Z]+/g, (run) => run.toLowerCase());
}

/** Knuth–Morris–Pratt search: never reads a character of the text twice between two matches. */
function createSearch(text: string, needle: string): { length: number; next(from: number): number } {
  const fallback = new Int32Array(needle.length);
  for (let at = 1, matched = 0; at < needle.length; at++) {
    while (matched > 0 && needle[at] !== needle[matched]) matched = fallback[matched - 1] ?? 0;
    if (needle[at] === needle[matched]) matched++;
    fallback[at] = matched;
  }
  let found = -2;
  const next = (from: number): number => {
    if (found === -1 || found >= from) return found;
    for (let at = from, matched = 0; at < text.length; at++) {
      const code = text.charCodeAt(at);
      while (matched > 0 && code !== needle.charCodeAt(matched)) matched = fallback[matched - 1] ?? 0;
      if (code === needle.charCodeAt(matched)) matched++;
      if (matched === needle.length) return (found = at - matched + 1);
    }
    return (found = -1);
  };
  return { length: needle.length, next };
}

function createLineCount(text: string): (at: number) => { line: number; column: number } {
  let line = 1;
  let lineStart = 0;
  let lineEnd = endOfLine(text, 0);
  return (at) => {
    while (lineEnd < at) {
      line++;
      lineStart = lineEnd + 1;
      lineEnd = endOfLine(text, lineStart);
    }
    return { line, column: at - lineStart + 1 };
  };
}

function endOfLine(text: string, at: number): number {
  const end = text.indexOf("\n", at);
  return end === -1 ? text.length : end;
}

function linesBack(text: string, at: number): number {
  const floor = Math.max(0, at - contextLength);
  let from = at;
  for (let lines = 0; from > floor; from--) if (text[from - 1] === "\n" && lines++ === linesAround) break;
  return from;
}

function linesForward(text: string, at: number): number {
  const ceiling = Math.min(text.length, at + contextLength);
  let to = at;
  for (let lines = 0; to < ceiling; to++) if (text[to] === "\n" && lines++ === linesAround) break;
  return to;
}
