import { stem } from "./stem.ts";
import { stopWords } from "./stop-words.ts";

const longestWord = 64;

/**
 * The terms of a text: words in lower case, split at case changes and digits, without stop words, stemmed. A word that
 * was split is a term as a whole too (`GitHub`: git, hub, github). Scripts without spaces give pairs of characters.
 * Linear in the text; at most `most` terms.
 */
export function termsOf(text: string, most: number): string[] {
  return collect(text, most, (word) => !stopWords.has(word));
}

/** The same with the stop words, for texts that have nothing else. */
export function allTermsOf(text: string, most: number): string[] {
  return collect(text, most, () => true);
}

function collect(text: string, most: number, isMeant: (word: string) => boolean): string[] {
  const terms: string[] = [];
  for (const [run] of text.matchAll(runs)) {
    if (terms.length >= most) break;
    addRun(run, terms, isMeant);
  }
  return terms;
}

/** Letters and digits of one kind of script. */
const unspaced = "\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Hangul}\\p{Script=Thai}";
const runs = new RegExp(`[${unspaced}]+|[[\\p{L}\\p{N}]--[${unspaced}]]+`, "gv");
const isUnspaced = new RegExp(`^[${unspaced}]`, "v");
const parts = /\p{Lu}+(?!\p{Ll})|\p{Lu}?\p{Ll}+|\p{N}+|[^\p{Lu}\p{Ll}\p{N}]+/gu;

function addRun(run: string, terms: string[], isMeant: (word: string) => boolean): void {
  if (isUnspaced.test(run)) return addPairs(run, terms);
  if (run.length > longestWord) return;
  const lower = run.toLowerCase();
  const whole = /^(?:[a-z]+|\p{N}+)$/u.test(run) ? [run] : (run.match(parts) ?? []);
  const words = whole.length > 1 ? [...whole.map((part) => part.toLowerCase()), lower] : [lower];
  for (const word of words) if (isMeant(word)) terms.push(stem(word));
}

function addPairs(run: string, terms: string[]): void {
  const characters = Array.from(run.slice(0, 2_000));
  if (characters.length === 1) terms.push(run);
  for (let at = 0; at + 1 < characters.length; at++) terms.push(`${characters[at]}${characters[at + 1]}`);
}
