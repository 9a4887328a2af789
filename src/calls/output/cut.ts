import { boundaryAfter, boundaryBefore } from "./boundary.ts";
import { estimateTokens, measure } from "./token-estimate.ts";

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
  const headEnd = headOf(opening, headLeft);
  const head = opening.slice(0, headEnd);
  kept[first] = head;
  const closing = texts[last]?.text ?? "";
  const tail = closing.slice(tailOf(closing, tailLeft, first === last ? headEnd : 0));
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
    keptTokens: wholeTokens + estimateTokens(head) + estimateTokens(tail),
  };
}

export function headOf(text: string, budget: number, from = 0): number {
  if (budget < 1) return from;
  const { end } = measure(text, from, text.length, budget);
  return boundaryBefore(text, from, end);
}

/** The maximum number of characters read for each token of the tail. */
const maxCharactersPerToken = 24;

function tailOf(text: string, budget: number, notBefore: number): number {
  if (budget < 1) return text.length;
  const from = Math.max(notBefore, text.length - budget * maxCharactersPerToken);
  const surplus = measure(text, from, text.length).tokens - budget;
  const start = surplus <= 0 ? from : measure(text, from, text.length, surplus).end;
  return Math.max(notBefore, boundaryAfter(text, start));
}
