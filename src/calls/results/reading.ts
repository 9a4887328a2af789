import { PlugboardError } from "../../errors.ts";
import { headOf } from "../output/cut.ts";
import { excerptAround, findInText } from "./find.ts";
import { estimateTokens } from "../output/token-estimate.ts";

export interface ReadingOptions {
  /** Starts at 1. */
  page?: number | undefined;
  pageTokens?: number | undefined;
  /** Text to find, ignoring case; `*` matches any characters within a line. */
  find?: string | undefined;
}

export interface ResultReading {
  /** The page or the matches, ready to show. */
  text: string;
  pages: number;
  /** The estimate for all pages. */
  tokens: number;
  page?: number;
  matches?: ResultMatch[];
  /** True if there are more matches than listed. */
  more?: boolean;
}

export interface ResultMatch {
  line: number;
  column: number;
  page: number;
  /** The line with its context, clipped if it is long. */
  text: string;
}

const defaultPageTokens = 10_000;
const minPageTokens = 50;
const maxMatches = 100;

export function readPage(
  text: string,
  { page = 1, pageTokens = defaultPageTokens }: ReadingOptions,
): ResultReading {
  const starts = pageStarts(text, pageTokens);
  if (!Number.isInteger(page) || page < 1 || page > starts.length) {
    throw new PlugboardError(
      "usage-invalid",
      `There is no page ${page}: the result has ${starts.length} ${starts.length === 1 ? "page" : "pages"}.`,
      {
        advice: `Ask for a page from 1 to ${starts.length}.`,
      },
    );
  }
  const shown = text.slice(starts[page - 1], starts[page] ?? text.length);
  return { text: shown, page, pages: starts.length, tokens: estimateTokens(text) };
}

/** Returns as many matches as fit on one page. */
export function searchText(
  text: string,
  find: string,
  { pageTokens = defaultPageTokens }: ReadingOptions,
): ResultReading {
  const starts = pageStarts(text, pageTokens);
  const found = findInText(text, find, maxMatches);
  const matches: ResultMatch[] = [];
  const shown: string[] = [];
  let room = pageTokens;
  let page = 0;
  for (const { start, end, line, column } of found.matches) {
    while ((starts[page] ?? Infinity) <= start) page++;
    const match = { line, column, page: Math.max(1, page), text: excerptAround(text, start, end) };
    const block = `line ${line}, page ${match.page}:\n${match.text}`;
    room -= estimateTokens(block) + 1;
    if (room < 0 && matches.length > 0) break;
    matches.push(match);
    shown.push(block);
  }
  const more = found.more || matches.length < found.matches.length;
  return { text: shown.join("\n\n"), pages: starts.length, tokens: estimateTokens(text), matches, more };
}

/** The start of each page; an empty text has one empty page. */
function pageStarts(text: string, pageTokens: number): number[] {
  if (!(pageTokens >= minPageTokens)) {
    throw new PlugboardError("usage-invalid", `\`pageTokens\` must be at least ${minPageTokens}`);
  }
  const starts = [0];
  for (let at = 0; ;) {
    at = Math.max(headOf(text, pageTokens, at), at + 1);
    if (at >= text.length) return starts;
    starts.push(at);
  }
}
