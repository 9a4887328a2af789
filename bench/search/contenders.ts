import MiniSearch from "minisearch";
import { stem } from "../../src/catalog/search/stem.ts";
import { stopWords } from "../../src/catalog/search/stop-words.ts";
import type { BenchTool } from "./sets.ts";

/** Another way to search, made for one catalogue: returns the ids of the best ten. */
export type Contender = (tools: readonly BenchTool[]) => (text: string) => string[];

/** BM25 over the words of name and description, with the usual constants. */
export const plainBm25: Contender = (tools) => {
  const words = (text: string) => text.toLowerCase().match(/[a-z0-9_]+/g) ?? [];
  const documents = tools.map((tool) => words(`${tool.name} ${tool.description ?? ""}`));
  const average = documents.reduce((sum, one) => sum + one.length, 0) / documents.length;
  const postings = new Map<string, Map<number, number>>();
  for (const [at, document] of documents.entries())
    for (const word of document) {
      const counts = postings.get(word) ?? new Map<number, number>();
      counts.set(at, (counts.get(at) ?? 0) + 1);
      postings.set(word, counts);
    }
  return (text) => {
    const scores = new Map<number, number>();
    for (const word of words(text)) {
      const counts = postings.get(word) ?? new Map<number, number>();
      const rarity = Math.log(1 + (documents.length - counts.size + 0.5) / (counts.size + 0.5));
      for (const [at, count] of counts) {
        const norm = 1.2 * (0.25 + (0.75 * (documents[at]?.length ?? 0)) / average);
        scores.set(at, (scores.get(at) ?? 0) + (rarity * count * 2.2) / (count + norm));
      }
    }
    const best = [...scores].sort((one, other) => other[1] - one[1]).slice(0, 10);
    return best.map(([at]) => tools[at]?.id ?? "");
  };
};

/** MiniSearch as its documentation begins. */
export const miniSearch: Contender = (tools) => {
  const index = new MiniSearch<BenchTool>({ fields: ["name", "description"] });
  index.addAll(tools);
  return (text) => best(index, text);
};

/** MiniSearch with our stop words and stems, names split, every field, weights, prefixes and slips of the finger. */
export const tunedMiniSearch: Contender = (tools) => {
  const index = new MiniSearch<BenchTool & { parameters: string }>({
    fields: ["name", "server", "description", "parameters"],
    tokenize: (text) =>
      text
        .replaceAll(/([a-z0-9])([A-Z])/g, "$1 $2")
        .split(/[^\p{L}\p{N}]+/u)
        .filter((word) => word !== ""),
    processTerm: (term) => (stopWords.has(term.toLowerCase()) ? null : stem(term.toLowerCase())),
    searchOptions: {
      boost: { name: 3, server: 1.5, parameters: 0.5 },
      prefix: (term) => term.length > 3,
      fuzzy: (term) => (term.length > 4 ? 0.2 : false),
    },
  });
  index.addAll(tools.map((tool) => ({ ...tool, parameters: parametersOf(tool) })));
  return (text) => best(index, text);
};

function best(index: MiniSearch<never>, text: string): string[] {
  return index
    .search(text)
    .slice(0, 10)
    .map(({ id }) => String(id));
}

function parametersOf({ inputSchema }: BenchTool): string {
  const properties = (inputSchema?.["properties"] ?? {}) as Record<string, { description?: string } | null>;
  return Object.entries(properties)
    .map(([name, parameter]) => `${name} ${parameter?.description ?? ""}`)
    .join(" ");
}
