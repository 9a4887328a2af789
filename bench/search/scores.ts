import type { BenchQuery } from "./sets.ts";

/** In percent. */
export interface Score {
  recallAt5: number;
  ndcgAt10: number;
}

/** Averages over the queries. `find` returns the ids of the tools that it finds, the best first. */
export async function scoreOf(
  queries: readonly BenchQuery[],
  find: (text: string) => string[] | Promise<string[]>,
): Promise<Score> {
  let recall = 0;
  let ndcg = 0;
  for (const query of queries) {
    const score = scoreQuery(query, await find(query.text));
    recall += score.recallAt5;
    ndcg += score.ndcgAt10;
  }
  const percent = (sum: number) => (100 * sum) / Math.max(1, queries.length);
  return { recallAt5: percent(recall), ndcgAt10: percent(ndcg) };
}

function scoreQuery({ relevant, groups = relevant.map((id) => [id]) }: BenchQuery, found: string[]): Score {
  const hit = new Set<string[]>();
  let dcg = 0;
  let early = 0;
  for (const [at, id] of found.slice(0, 10).entries()) {
    const group = groups.find((one) => !hit.has(one) && one.includes(id));
    if (!group) continue;
    hit.add(group);
    dcg += gain(at);
    if (at < 5) early++;
  }
  let ideal = 0;
  for (let at = 0; at < Math.min(10, groups.length); at++) ideal += gain(at);
  return { recallAt5: early / groups.length, ndcgAt10: dcg / ideal };
}

const gain = (at: number): number => 1 / Math.log2(at + 2);
