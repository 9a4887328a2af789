import { stem } from "./stem.ts";
import { stopWords } from "./stop-words.ts";

/** The terms of a text, with repetitions, in their order. */
export interface Terms {
  /** Words in lower case, stemmed, split at case changes and digits; characters in pairs where there are no spaces. */
  readonly parts: string[];
  /** Words that were split, as a whole: `github` for `GitHub`. */
  readonly wholes: string[];
}

const longestWord = 64;
const longestUnspaced = 2_000;

const runs = /[\p{L}\p{M}\p{N}]+/gu;
const ascii = /^[A-Za-z0-9]+$/;
const plain = /^(?:[A-Z]?[a-z]+|[A-Z]+|[0-9]+)$/;
const pieces = /\p{Lu}+(?!\p{Ll})|\p{Lu}?\p{Ll}[\p{Ll}\p{M}]*|\p{N}+|[^\p{Lu}\p{Ll}\p{N}]+/gu;
const unspaced =
  "[\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Hangul}\\p{Script=Thai}]";
const isUnspaced = new RegExp(`^${unspaced}`, "u");
const scripts = new RegExp(`${unspaced}+|(?:(?!${unspaced}).)+`, "gu");

/** Most texts use the same few thousand words. */
const mostRemembered = 8_000;
/** A longer piece of a text would keep the whole text in memory. */
const longestRemembered = 12;

/** Splits texts into terms, and remembers what became of a word. */
export class Words {
  /** What became of a word; most often one term. */
  readonly #withStopWords = new Map<string, Terms | string>();
  readonly #withoutStopWords = new Map<string, Terms | string>();

  /** At most `most` parts and a few more. Linear in the text. */
  termsOf(text: string, most: number, keepsStopWords = false): Terms {
    const terms: Terms = { parts: [], wholes: [] };
    for (const run of text.match(runs) ?? []) {
      if (terms.parts.length >= most) break;
      const split = this.#split(run, keepsStopWords);
      if (typeof split === "string") {
        if (split !== "") terms.parts.push(split);
        continue;
      }
      for (const part of split.parts) terms.parts.push(part);
      for (const whole of split.wholes) terms.wholes.push(whole);
    }
    return terms;
  }

  #split(run: string, keepsStopWords: boolean): Terms | string {
    const remembered = keepsStopWords ? this.#withStopWords : this.#withoutStopWords;
    const known = remembered.get(run);
    if (known !== undefined) return known;
    const terms: Terms = { parts: [], wholes: [] };
    if (ascii.test(run)) addWord(run, terms, keepsStopWords);
    else
      for (const part of run.normalize("NFKC").match(scripts) ?? []) {
        if (isUnspaced.test(part)) addPairs(part, terms.parts);
        else addWord(part, terms, keepsStopWords);
      }
    const isOne = terms.parts.length <= 1 && terms.wholes.length === 0;
    const split = isOne ? (terms.parts[0] ?? "") : terms;
    if (run.length > longestRemembered) return split;
    if (remembered.size >= mostRemembered) remembered.clear();
    remembered.set(run, split);
    return split;
  }
}

function addWord(word: string, { parts, wholes }: Terms, keepsStopWords: boolean): void {
  if (word.length > longestWord) return;
  const add = (one: string, to: string[]) => {
    const lower = one.toLowerCase();
    if (keepsStopWords || !stopWords.has(lower)) to.push(stem(lower));
  };
  if (plain.test(word)) return add(word, parts);
  const split = word.match(pieces) ?? [];
  for (const piece of split) add(piece, parts);
  if (split.length > 1) add(word, wholes);
}

function addPairs(text: string, parts: string[]): void {
  const characters = Array.from(text.slice(0, longestUnspaced));
  if (characters.length === 1) parts.push(text);
  for (let at = 0; at + 1 < characters.length; at++) parts.push(`${characters[at]}${characters[at + 1]}`);
}
