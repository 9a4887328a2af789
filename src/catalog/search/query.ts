import type { RelatedWords } from "./related-words.ts";
import { tuning } from "./tuning.ts";
import type { Words } from "./words.ts";

/** One thing that is asked for: a term, and others that may stand for it. The best match of them counts. */
export interface Concept {
  readonly term: string;
  /** How much it counts because it was said more than once. */
  readonly emphasis: number;
  readonly others: readonly { readonly term: string; readonly weight: number }[];
}

/** Each clause asks for something of its own. */
export type Query = readonly (readonly Concept[])[];

/** Whoever asks with more than this does not ask for a tool; the beginning says what it is about. */
const mostCharacters = 8_000;
const mostTerms = 300;

/** A path is about a file; whose home it is in says nothing. */
const paths = /(^|[\s'"(])(?:~|\/(?:home|Users)\/[\w.-]+)?((?:\/[\w.-]+)+)/g;
const ends = /[.?!;\n](?=\s|$)|,\s+(?:and|or|then)\s|\s\+\s/;

/** Splits a text into clauses, and these into terms. Empty if there is no word in it. */
export function parseQuery(text: string, words: Words, related: RelatedWords): Query {
  const start = text.slice(0, mostCharacters).replaceAll(paths, "$1file $2");
  const clauses = clausesOf(start.split(ends), words, false);
  // Who asks only with stop words means them.
  const said = clauses.length > 0 ? clauses : clausesOf([start], words, true);
  const count = new Set(said.flat()).size;
  const weight = tuning.related * Math.min(1, tuning.relatedTerms / count);
  return said.map((terms) => conceptsOf(terms, related, weight));
}

function clausesOf(texts: readonly string[], words: Words, keepsStopWords: boolean): string[][] {
  const clauses: string[][] = [];
  let left = mostTerms;
  for (const text of texts) {
    if (left <= 0) break;
    const { parts, wholes } = words.termsOf(text, left, keepsStopWords);
    left -= parts.length;
    if (parts.length > 0) clauses.push([...parts, ...wholes]);
  }
  return clauses;
}

function conceptsOf(terms: readonly string[], related: RelatedWords, weight: number): Concept[] {
  const counts = new Map<string, number>();
  for (const term of terms) counts.set(term, (counts.get(term) ?? 0) + 1);
  const joined = joinedTerms(terms);
  return [...counts].map(([term, count]) => ({
    term,
    emphasis: Math.sqrt(count),
    others: [
      ...Array.from(joined.get(term) ?? [], (other) => ({ term: other, weight: 1 })),
      ...related.of(term).map((other) => ({ term: other, weight })),
    ],
  }));
}

/** For each term what it makes with its neighbours, because some write `zip code` and others `zipcode`. */
function joinedTerms(terms: readonly string[]): Map<string, Set<string>> {
  const joined = new Map(terms.map((term) => [term, new Set<string>()]));
  for (const [at, term] of terms.entries()) {
    const next = terms[at + 1];
    if (next === undefined) break;
    joined.get(term)?.add(term + next);
    joined.get(next)?.add(term + next);
  }
  return joined;
}
