/**
 * The best position at or before `end` to cut `text`: after a line, else a sentence, a word, a comma or bracket, else
 * between two visible characters. Never before `from`, and never far before `end`.
 */
export function boundaryBefore(text: string, from: number, end: number): number {
  if (end >= text.length) return text.length;
  const reach = Math.max(from, end - Math.min(lineReach, Math.floor((end - from) / 3)));
  const line = text.slice(reach, end).lastIndexOf("\n");
  if (line !== -1) return reach + line + 1;
  for (const isBoundary of softBoundaries) {
    for (let at = end; at > Math.max(reach, end - wordReach); at--) if (isBoundary(text, at)) return at;
  }
  return Math.max(from, characterStart(text, end));
}

/** The same in the other direction: the best position at or after `start` to begin. */
export function boundaryAfter(text: string, start: number): number {
  if (start <= 0) return 0;
  const reach = Math.min(text.length, start + Math.min(lineReach, Math.floor((text.length - start) / 3)));
  const line = text.slice(start - 1, reach).indexOf("\n");
  if (line !== -1) return start + line;
  for (const isBoundary of softBoundaries) {
    for (let at = start; at < Math.min(reach, start + wordReach); at++) if (isBoundary(text, at)) return at;
  }
  return characterEnd(text, start);
}

const lineReach = 4000;
const wordReach = 300;

type IsBoundary = (text: string, at: number) => boolean;

const before = (characters: string): IsBoundary => {
  const set = new Set(characters);
  return (text, at) => set.has(text[at - 1] ?? "");
};
const isBehindSpace = before(" \t");
const isBehindStop = before(".!?:");
const isBehindWideStop = before("。\uff01\uff1f");
const isBehindComma = before(",;}])>、\uff0c\uff1b");

const softBoundaries: readonly IsBoundary[] = [
  (text, at) => isBehindWideStop(text, at) || (isBehindSpace(text, at) && isBehindStop(text, at - 1)),
  isBehindSpace,
  (text, at) => isBehindComma(text, at) && !joins(text, at),
];

/** The start of the visible character, with its accents, joiners and modifiers, that covers `at`. */
function characterStart(text: string, at: number): number {
  return joins(text, at) ? (segmentAt(text, at)?.start ?? outsidePair(text, at, -1)) : at;
}

function characterEnd(text: string, at: number): number {
  return joins(text, at) ? (segmentAt(text, at)?.end ?? outsidePair(text, at, 1)) : at;
}

/** False in the common case: plain text on at least one side, where a cut cannot split a character. */
function joins(text: string, at: number): boolean {
  const next = text.charCodeAt(at);
  return next >= 0x300 || (next === 0x0a && text.charCodeAt(at - 1) === 0x0d);
}

const segmentReach = 48;

/** The visible character around `at`; `undefined` if it is extremely long. `start` is `at` if one begins there. */
function segmentAt(text: string, at: number): { start: number; end: number } | undefined {
  const from = Math.max(0, at - segmentReach);
  const window = text.slice(from, at + segmentReach);
  const found = new Intl.Segmenter(undefined, { granularity: "grapheme" })
    .segment(window)
    .containing(at - from);
  if (!found) return undefined;
  if (found.index === at - from) return { start: at, end: at };
  const end = found.index + found.segment.length;
  if ((found.index === 0 && from > 0) || (end === window.length && from + end < text.length))
    return undefined;
  return { start: from + found.index, end: from + end };
}

function outsidePair(text: string, at: number, step: 1 | -1): number {
  const isInside = (text.charCodeAt(at - 1) & 0xfc00) === 0xd800 && (text.charCodeAt(at) & 0xfc00) === 0xdc00;
  return isInside ? at + step : at;
}
