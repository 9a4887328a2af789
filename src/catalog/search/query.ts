import { relatedTo } from "./related-words.ts";
import { allTermsOf, termsOf } from "./words.ts";
import { tuning } from "./tuning.ts";

/** One thing that is asked for: a term, and others that mean nearly the same. The best match of them counts. */
export interface Concept {
  readonly term: string;
  readonly weight: number;
  readonly alternatives: readonly { term: string; weight: number }[];
}

export interface Query {
  readonly concepts: readonly Concept[];
}

/** Whoever asks with more than this does not ask for a tool; the beginning says what it is about. */
const mostCharacters = 8_000;
const mostTerms = 400;

/** Undefined if there is no word in the text. */
export function parseQuery(text: string): Query | undefined {
  const start = text.slice(0, mostCharacters);
  const found = termsOf(start, mostTerms);
  const terms = found.length > 0 ? found : allTermsOf(start, mostTerms);
  if (terms.length === 0) return undefined;
  const counts = new Map<string, number>();
  for (const term of terms) counts.set(term, (counts.get(term) ?? 0) + 1);
  const concepts = [...counts].map(([term, count]) => ({
    term,
    weight: count,
    alternatives: relatedTo(term).map((other) => ({ term: other, weight: tuning.related })),
  }));
  return { concepts };
}
