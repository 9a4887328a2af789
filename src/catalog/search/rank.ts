import type { Query } from "./query.ts";
import { countOf, slotOf } from "./postings.ts";
import type { Postings } from "./postings.ts";
import { tuning } from "./tuning.ts";

/** The documents that a search may find, with what the ranking needs to know about all of them. */
export interface Population {
  /** 1 for each slot that may be found. */
  readonly isShown: Uint8Array;
  /** By slot: how much a document's length holds its terms back. */
  readonly norms: Float32Array;
  readonly count: number;
}

export interface Ranked {
  slot: number;
  score: number;
}

/** Ranks documents by BM25 over weighted terms. */
export function rank(query: Query, postings: Postings, population: Population, limit: number): Ranked[] {
  const scores = new Float32Array(population.isShown.length);
  const touched: number[] = [];
  for (const { term, weight, alternatives } of query.concepts) {
    const best = new Map<number, number>();
    for (const one of [{ term, weight: 1 }, ...alternatives])
      for (const [slot, score] of termScores(one.term, postings, population))
        if ((best.get(slot) ?? 0) < score * one.weight) best.set(slot, score * one.weight);
    for (const [slot, score] of best) {
      if (scores[slot] === 0) touched.push(slot);
      scores[slot] = (scores[slot] ?? 0) + weight * score;
    }
  }
  const found = touched.map((slot) => ({ slot, score: scores[slot] ?? 0 }));
  return found.sort((one, other) => other.score - one.score || one.slot - other.slot).slice(0, limit);
}

function* termScores(
  term: string,
  postings: Postings,
  { isShown, norms, count }: Population,
): Iterable<[number, number]> {
  const shown = (postings.get(term) ?? []).filter((posting) => isShown[slotOf(posting)] === 1);
  const rarity = Math.log(1 + (count - shown.length + 0.5) / (shown.length + 0.5));
  for (const posting of shown) {
    const slot = slotOf(posting);
    const times = countOf(posting);
    yield [slot, (rarity * times * (tuning.saturation + 1)) / (times + (norms[slot] ?? 1))];
  }
}
