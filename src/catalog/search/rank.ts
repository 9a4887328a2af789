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
  const hasOneClause = query.length === 1;
  for (const concepts of query) {
    for (const one of concepts) {
      const found = matchesOf(one, population, matched);
      scoreConcept(found, one.emphasis, population, hasOneClause ? all : clause, concept);
    }
    // More than the sum: a tool that does one of the things asked for is better than one that touches on many.
    clause.drain((slot, score) => all.add(slot, score * Math.sqrt(score)));
  }
  const best = new Best(Math.max(mostCandidates, 2 * limit));
  all.drain((slot, score) => best.add(slot, score));
  const candidates = best.items.map((slot, at) => {
    const total = best.scores[at] ?? 0;
    return { slot, score: hasOneClause ? total : Math.cbrt(total * total) };
  });
  return refine(candidates, population, matched).slice(0, limit);
}

/** Where a term of a concept is, and how much of a match it is. */
interface Match {
  readonly weight: number;
  readonly postings: readonly number[];
}

/** Where the terms of a concept are. Notes in `matched` which terms are asked for. */
function matchesOf(
  { term, others }: Concept,
  population: Population,
  matched: Map<number, number>,
): readonly Match[] {
  const matches: Match[] = [];
  const add = (one: string, weight: number) => {
    const id = population.idOf(one);
    const postings = id === undefined ? [] : population.postings(id);
    if (id === undefined || postings.length === 0) return;
    matched.set(id, Math.max(weight, matched.get(id) ?? 0));
    matches.push({ weight, postings });
  };
  add(term, 1);
  if (matches.length === 0) for (const one of population.near(term)) add(one, tuning.near);
  for (const { term: other, weight } of others) add(other, weight);
  return matches;
}

/** Adds the best match of a concept in each tool. Its rarity is that of all its terms together. */
function scoreConcept(
  matches: readonly Match[],
  emphasis: number,
  population: Population,
  to: Board,
  concept: Board,
): void {
  const count = matches.reduce((sum, { weight, postings }) => sum + weight * postings.length, 0);
  const most = emphasis * population.rarity(count) * (tuning.saturation + 1);
  const { norms } = population;
  const isAlone = matches.length === 1;
  for (const { weight, postings } of matches) {
    for (const posting of postings) {
      const slot = slotOf(posting);
      const times = countOf(posting);
      const score = (weight * most * times) / (times + (norms[slot] ?? 1));
      if (isAlone) to.add(slot, score);
      else concept.raise(slot, score);
    }
  }
  concept.drain((slot, score) => to.add(slot, score));
}

function refine(
  candidates: readonly { slot: number; score: number }[],
  population: Population,
  matched: ReadonlyMap<number, number>,
): Ranked[] {
  const { nameCoverage, serverCoverage, siblings } = tuning;
  const servers = new Map<string, { covered: number; best: number }>();
  const found: Ranked[] = [];
  for (const { slot, score: words } of candidates) {
    const tool = population.tools[slot];
    const document = population.document(slot);
    if (!tool || !document) continue;
    let server = servers.get(tool.server);
    if (!server) {
      const terms = document.server.map((term) => population.idOf(term) ?? -1);
      // Only the very words of a server's name mean that server.
      server = { covered: coverage(terms, terms.length, population, matched, 1), best: 0 };
      servers.set(tool.server, server);
    }
    const ofName = coverage(document.terms, document.named, population, matched, 0);
    const score = words * (1 + nameCoverage * ofName) * (1 + serverCoverage * server.covered ** 2);
    server.best = Math.max(score, server.best);
    found.push({ tool, score });
  }
  for (const one of found) one.score += siblings * (servers.get(one.tool.server)?.best ?? 0);
  return found.sort((one, other) => other.score - one.score || (one.tool.id < other.tool.id ? -1 : 1));
}

/** How much of a name is asked for, from 0 to 1; rare words count more. The name has the first `count` terms. */
function coverage(
  terms: ArrayLike<number>,
  count: number,
  population: Population,
  matched: ReadonlyMap<number, number>,
  least: number,
): number {
  let all = 0;
  let asked = 0;
  for (let at = 0; at < count; at++) {
    const term = terms[at] ?? -1;
    const rarity = population.rarityOf(term);
    const weight = matched.get(term) ?? 0;
    all += rarity;
    if (weight >= least) asked += rarity * weight;
  }
  return all === 0 ? 0 : asked / all;
}
