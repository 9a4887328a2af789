import { stem } from "./stem.ts";
import { stopWords } from "./stop-words.ts";

const longestWord = 64;

/** The terms of a text, with repetitions, in their order. */
export interface Terms {
  /** Words in lower case, stemmed, split at case changes and digits; characters in pairs where there are no spaces. */
  parts: string[];
  /** Words that were split, as a whole: `github` for `GitHub`. */
  wholes: string[];
}

/** Splits a text into at most `most` parts, and some more wholes. Linear in the text. */
export function termsOf(text: string, most: number, keepsStopWords = false): Terms {
  const terms: Terms = { parts: [], wholes: [] };
  for (const [run] of text.matchAll(runs)) {
    if (terms.parts.length >= most) break;
    if (isUnspaced.test(run)) addPairs(run, terms.parts);
    else if (run.length <= longestWord) addWord(run, terms, keepsStopWords);
  }
  return terms;
}

/** Letters and digits of one kind of script. */
const unspaced = "\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Hangul}\\p{Script=Thai}";
const runs = new RegExp(`[${unspaced}]+|[[\\p{L}\\p{N}]--[${unspaced}]]+`, "gv");
const isUnspaced = new RegExp(`^[${unspaced}]`, "v");
const pieces = /\p{Lu}+(?!\p{Ll})|\p{Lu}?\p{Ll}+|\p{N}+|[^\p{Lu}\p{Ll}\p{N}]+/gu;
const plain = /^(?:[A-Z]?[a-z]+|[A-Z]+|[0-9]+)$/;

function addWord(run: string, { parts, wholes }: Terms, keepsStopWords: boolean): void {
  const add = (word: string, to: string[]) => {
    const lower = word.toLowerCase();
    if (keepsStopWords || !stopWords.has(lower)) to.push(stem(lower));
  };
  if (plain.test(run)) return add(run, parts);
  const split = run.match(pieces) ?? [];
  for (const piece of split) add(piece, parts);
  if (split.length > 1) add(run, wholes);
}

function addPairs(run: string, parts: string[]): void {
  const characters = Array.from(run.slice(0, 2_000));
  if (characters.length === 1) parts.push(run);
  for (let at = 0; at + 1 < characters.length; at++) parts.push(`${characters[at]}${characters[at + 1]}`);
}
