import fc from "fast-check";
import { expect, it } from "vitest";
import { Boards } from "../../../src/catalog/search/board.ts";
import { Population } from "../../../src/catalog/search/population.ts";
import { parseQuery } from "../../../src/catalog/search/query.ts";
import { rank } from "../../../src/catalog/search/rank.ts";
import { RelatedWords } from "../../../src/catalog/search/related-words.ts";
import { SearchIndex } from "../../../src/catalog/search/search-index.ts";
import { defaultNaming } from "../../../src/catalog/names.ts";
import { indexTools } from "../../../src/catalog/tool-index.ts";
import { connectionKey } from "../../../src/servers/connection-key.ts";

const rules = { config: {}, naming: defaultNaming };
const related = new RelatedWords();
const boards = new Boards();

async function listOf(server: string, descriptions: readonly string[]) {
  const entries = descriptions.map((description, at) => ({
    name: `tool_${at}`,
    description,
    inputSchema: { type: "object" },
  }));
  const index = await indexTools(server, { entries, hashes: [] }, rules);
  return { key: connectionKey({ server }), index };
}

type List = Awaited<ReturnType<typeof listOf>>;

function results(index: SearchIndex, lists: readonly List[], query: string) {
  const population = new Population(
    index.postings,
    lists.flatMap(({ key }) => [...index.slotsOf(key)]),
  );
  const found = rank(parseQuery(query, index.words, related), population, boards, 100);
  return found.map(({ tool, score }) => ({ id: tool.id, score: Number(score.toPrecision(5)) }));
}

const word = fc.constantFrom("file", "mail", "weather", "issue", "map", "song", "invoice", "branch", "house");
const description = fc.array(word, { maxLength: 6 }).map((some) => some.join(" "));
const change = fc.record({
  server: fc.constantFrom("a", "b", "c"),
  descriptions: fc.array(description, { maxLength: 5 }),
  isForgotten: fc.boolean(),
});

it("M49 after any changes a search finds the same as if everything had just been read", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(change, { maxLength: 12 }), description, async (changes, query) => {
      const changed = new SearchIndex();
      const lists = new Map<string, List>();
      for (const { server, descriptions, isForgotten } of changes) {
        if (isForgotten) {
          changed.forget((key) => key.server === server);
          lists.delete(server);
          continue;
        }
        const list = await listOf(server, descriptions);
        lists.set(server, list);
        await changed.update([list]);
      }
      const fresh = new SearchIndex();
      await fresh.update([...lists.values()]);
      expect(changed.postings.size).toBe(fresh.postings.size);
      for (const text of [query, "file mail", "weathr"])
        expect(results(changed, [...lists.values()], text)).toEqual(
          results(fresh, [...lists.values()], text),
        );
    }),
    { numRuns: 100 },
  );
});

it("M49 of a changed list only the changed tools are read again", async () => {
  const index = new SearchIndex();
  const entries = ["one", "two", "three"].map((name) => ({ name, inputSchema: { type: "object" } }));
  const before = await indexTools("a", { entries, hashes: [] }, rules);
  const key = connectionKey({ server: "a" });
  await index.update([{ key, index: before }]);
  const slots = new Map([...index.slotsOf(key)].map(([{ name }, slot]) => [name, slot]));
  const documents = [...index.postings.documents];
  const next = [
    entries[0],
    { name: "two", description: "changed", inputSchema: { type: "object" } },
    entries[2],
  ];
  const after = await indexTools("a", { entries: next as typeof entries, hashes: [] }, rules, before);
  await index.update([{ key, index: after }]);
  for (const [{ name }, slot] of index.slotsOf(key)) {
    if (name === "two") continue;
    expect(slot).toBe(slots.get(name));
    expect(index.postings.documents[slot]).toBe(documents[slot]);
  }
});
