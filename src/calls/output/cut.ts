import { copiedText } from "../../lib/copied-text.ts";
import { boundaryAfter, boundaryBefore } from "./boundary.ts";
import { measure } from "./token-estimate.ts";

export interface CutTexts {
  /** In the order of the input; `undefined` for texts between head and tail that were dropped. */
  texts: (string | undefined)[];
  /** The index of the text after which the marker goes; with `tail`, the marker goes between the two. */
  markAt: number;
  /** The text after the marker, from the same input. */
  tail: string;
  keptTokens: number;
}

/**
 * Cuts several texts as if they were one: two thirds of the budget for the head, the rest for the tail. A short text
 * before or after a huge one is therefore kept whole. Reads no more than the budget requires.
 */
export function cutTexts(texts: readonly { text: string; tokens: number }[], budget: number): CutTexts {
  let headLeft = Math.max(0, Math.floor((budget * 2) / 3));
  let tailLeft = Math.max(0, budget) - headLeft;
  const kept: (string | undefined)[] = texts.map(() => undefined);

  let first = 0;
  for (; first < texts.length - 1; first++) {
    const { text, tokens } = texts[first] ?? { text: "", tokens: 0 };
    if (tokens > headLeft) break;
    kept[first] = text;
    headLeft -= tokens;
  }
  let last = texts.length - 1;
  for (; last > first; last--) {
    const { text, tokens } = texts[last] ?? { text: "", tokens: 0 };
    if (tokens > tailLeft) break;
    kept[last] = text;
    tailLeft -= tokens;
  }

  const opening = texts[first]?.text ?? "";
  const head = measureHead(opening, headLeft, 0);
  kept[first] = pieceOf(opening, 0, head.at);
  const closing = texts[last]?.text ?? "";
  const end = measureTail(closing, tailLeft, first === last ? head.at : 0);
  const tail = pieceOf(closing, end.at);
  if (first !== last) kept[last] = tail;
  const wholeTokens = kept.reduce(
    (sum, text, index) =>
      sum + (text === undefined || index === first || index === last ? 0 : (texts[index]?.tokens ?? 0)),
    0,
  );
  return {
    texts: kept,
    markAt: first,
    tail: first === last ? tail : "",
    keptTokens: wholeTokens + Math.ceil(head.tokens) + Math.ceil(end.tokens),
  };
}

/** Results are kept for as long as a conversation lasts, and what was cut off must not be kept with them. */
function pieceOf(text: string, start: number, end = text.length): string {
  return start === 0 && end >= text.length ? text : copiedText(text.slice(start, end));
}

export function headOf(text: string, budget: number, from = 0): number {
  return measureHead(text, budget, from).at;
}

interface Cut {
  at: number;
  /** Of what is kept. */
  tokens: number;
}

function measureHead(text: string, budget: number, from: number): Cut {
  if (budget < 1) return { at: from, tokens: 0 };
  const { end, tokens } = measure(text, from, text.length, budget);
  const at = boundaryBefore(text, from, end);
  return { at, tokens: Math.max(0, tokens - measure(text, at, end).tokens) };
}

/** Most texts have at least a token for each of so many characters; the tail is read further back where they do not. */
const usualCharactersPerToken = 5;
const maxCharactersPerToken = 24;

function measureTail(text: string, budget: number, notBefore: number): Cut {
  if (budget < 1) return { at: text.length, tokens: 0 };
  let from = text.length;
  let { tokens } = { tokens: 0 };
  for (let reach = usualCharactersPerToken; tokens < budget && from > notBefore; reach *= 2) {
    from = Math.max(notBefore, text.length - budget * Math.min(reach, maxCharactersPerToken));
    ({ tokens } = measure(text, from, text.length));
    if (reach >= maxCharactersPerToken) break;
  }
  const start = tokens <= budget ? from : measure(text, from, text.length, tokens - budget).end;
  const at = Math.max(notBefore, boundaryAfter(text, start));
  return { at, tokens: Math.max(0, tokens - measure(text, from, at).tokens) };
}
