import type { ToolEntry } from "../tool-entry.ts";
import { Best } from "./best.ts";
import type { Board, Boards } from "./board.ts";
import type { Population } from "./population.ts";
import { countOf, slotOf } from "./postings.ts";
import type { Concept, Query } from "./query.ts";
import { tuning } from "./tuning.ts";

export interface Ranked {
  tool: ToolEntry;
  /** Higher is better. */
  score: number;
}

/** So many of the best by their words are looked at closely. */
const mostCandidates = 100;

/**
 * Ranks tools: BM25 over weighted terms for each clause, the clauses together, then how much of a tool's and its
 * server's name is asked for, and how good the server's other tools are.
 */
export function rank(query: Query, population: Population, boards: Boards, limit: number): Ranked[] {
  const { all, clause, concept } = boards.of(population.norms.length);
  const matched = new Map<number, number>();
  for (const concepts of query) {
    for (const one of concepts) {
      scoreConcept(one, population, concept, matched);
      concept.drain((slot, score) => clause.add(slot, one.emphasis * score));
    }
    // More than the sum: a tool that does one of the things asked for is better than one that touches on many.
    clause.drain((slot, score) => all.add(slot, query.length === 1 ? score : score * Math.sqrt(score)));
  }
  const best = new Best(Math.max(mostCandidates, 2 * limit));
  all.drain((slot, score) => best.add(slot, score));
  const candidates = best.items.map((slot, at) => {
    const total = best.scores[at] ?? 0;
    return { slot, score: query.length === 1 ? total : Math.cbrt(total * total) };
  });
  return refine(candidates, population, matched).slice(0, limit);
}

/** The best match of a concept in each tool. Its rarity is that of all its terms together. */
function scoreConcept(
  { term, others }: Concept,
  population: Population,
  board: Board,
  matched: Map<number, number>,
): void {
  const own = population.postings(term);
  const near = own.length > 0 ? [] : population.near(term);
  const terms = [
    { term, weight: 1, postings: own },
    ...others.map((one) => ({ ...one, postings: population.postings(one.term) })),
    ...near.map((one) => ({ term: one, weight: tuning.near, postings: population.postings(one) })),
  ].filter(({ postings }) => postings.length > 0);
  const rarity = population.rarity(
    terms.reduce((sum, { weight, postings }) => sum + weight * postings.length, 0),
  );
  const { norms } = population;
  for (const { term: one, weight, postings } of terms) {
    const id = population.idOf(one) ?? -1;
    matched.set(id, Math.max(weight, matched.get(id) ?? 0));
    const most = weight * rarity * (tuning.saturation + 1);
    for (const posting of postings) {
      const slot = slotOf(posting);
      const count = countOf(posting);
      board.raise(slot, (most * count) / (count + (norms[slot] ?? 1)));
    }
  }
}

function refine(
  candidates: readonly { slot: number; score: number }[],
  population: Population,
  matched: ReadonlyMap<number, number>,
): Ranked[] {
  const { nameCoverage, serverCoverage, siblings } = tuning;
  const covered = (terms: Uint32Array, least: number) => coverage(terms, population, matched, least);
  const servers = new Map<string, number>();
  const found: Ranked[] = [];
  for (const { slot, score: words } of candidates) {
    const tool = population.tools[slot];
    const document = population.document(slot);
    if (!tool || !document) continue;
    const ofName = covered(document.nameTerms, 0);
    // Only the very words of a server's name mean that server.
    const ofServer = covered(document.serverTerms, 1);
    const score = words * (1 + nameCoverage * ofName) * (1 + serverCoverage * ofServer * ofServer);
    servers.set(tool.server, Math.max(score, servers.get(tool.server) ?? 0));
    found.push({ tool, score });
  }
  for (const one of found) one.score += siblings * (servers.get(one.tool.server) ?? 0);
  return found.sort((one, other) => other.score - one.score || (one.tool.id < other.tool.id ? -1 : 1));
}

/** How much of a name is asked for, from 0 to 1; rare words count more. */
function coverage(
  terms: Uint32Array,
  population: Population,
  matched: ReadonlyMap<number, number>,
  least: number,
): number {
  let all = 0;
  let asked = 0;
  for (const term of terms) {
    const rarity = population.rarityOf(term);
    const weight = matched.get(term) ?? 0;
    all += rarity;
    if (weight >= least) asked += rarity * weight;
  }
  return all === 0 ? 0 : asked / all;
}
