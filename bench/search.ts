/**
 * Measures how well and how fast tools are found. Prints recall@5 and nDCG@10 for each set of queries in a folder,
 * beside plain BM25 and MiniSearch, and the costs at 10,000 tools. The folder has `*.queries.json`:
 * `{ tools: "file", queries: [{ id, text, relevant, groups? }] }`, and the files they name:
 * `{ tools: [{ id, server, name, description, inputSchema }] }`. Exits with 1 if another search ranks a set as well, or
 * a limit is exceeded. With `--dev` also prints both halves of each set (a change that helps only one of them fits the
 * queries, not the task) and compares with what the development queries are known to allow.
 * Run: node bench/search.ts FOLDER [--dev]
 */
import { miniSearch, plainBm25, tunedMiniSearch } from "./search/contenders.ts";
import { measureCosts } from "./search/costs.ts";
import type { Cost } from "./search/costs.ts";
import { ownSearch } from "./search/own.ts";
import { scoreOf } from "./search/scores.ts";
import type { Score } from "./search/scores.ts";
import { readFolder } from "./search/sets.ts";
import type { QuerySet } from "./search/sets.ts";

const contenders = { "plain BM25": plainBm25, MiniSearch: miniSearch, "MiniSearch, tuned": tunedMiniSearch };
const known: Record<string, number> = {
  "livemcp-agent": 56,
  "livemcp-10k-agent": 37,
  stabletoolbench: 73,
  metatool: 59,
};

const [folder, ...flags] = process.argv.slice(2);
if (folder === undefined || flags.some((flag) => flag !== "--dev")) {
  console.error("Usage: node bench/search.ts FOLDER [--dev]");
  process.exit(2);
}
const { sets, catalogues } = readFolder(folder);
const isDev = flags.includes("--dev");
for (const set of sets) await compare(set);
await costs();

async function compare({ name, catalogue, queries }: QuerySet): Promise<void> {
  const tools = catalogues.get(catalogue) ?? [];
  console.log(`\n${name}: ${queries.length} queries, ${tools.length} tools (recall@5 / nDCG@10)`);
  const find = await ownSearch(tools);
  const own = await scoreOf(queries, find);
  print("Plugboard", own);
  if (isDev)
    for (const half of [0, 1]) {
      const some = queries.filter((_, at) => at % 2 === half);
      print(half === 0 ? "  even queries" : "  odd queries", await scoreOf(some, find));
    }
  for (const [other, contender] of Object.entries(contenders)) {
    const score = await scoreOf(queries, contender(tools));
    print(other, score, score.ndcgAt10 < own.ndcgAt10);
  }
  const bar = isDev ? known[name] : undefined;
  if (bar !== undefined) print("known to be possible", { ndcgAt10: bar }, bar < own.ndcgAt10);
}

async function costs(): Promise<void> {
  const [largest] = [...catalogues].sort(([, one], [, other]) => other.length - one.length);
  const [name, tools] = largest ?? ["", []];
  const texts = sets.filter(({ catalogue }) => catalogue === name).flatMap(({ queries }) => queries);
  const measured = await measureCosts(
    tools,
    texts.map(({ text }) => text),
  );
  const { query, index, indexMb, changedServer, changedTool } = measured;
  console.log("\n10,000 tools, 200 servers, through the hub");
  limitTime("one search", query, 1);
  limitTime("the first search, which makes the index", index, 500);
  limitTime("a search after one server changed all its 50 tools", changedServer, 20);
  limitTime("a search after one tool changed", changedTool, 20);
  limit("memory of the index", `${indexMb.toFixed(1)} MB`, indexMb, 30);
}

function print(who: string, { recallAt5, ndcgAt10 }: Partial<Score>, isBeaten = true): void {
  const recall = recallAt5 === undefined ? "    –" : recallAt5.toFixed(1).padStart(5);
  console.log(
    `  ${who.padEnd(20)} ${recall} / ${ndcgAt10?.toFixed(1).padStart(5)}${isBeaten ? "" : "  NOT BEATEN"}`,
  );
  if (!isBeaten) process.exitCode = 1;
}

/** The limits are for processor time, so that other programs on the machine do not decide. */
function limitTime(what: string, { ms, processorMs }: Cost, most: number): void {
  limit(what, `${ms.toFixed(2)} ms, ${processorMs.toFixed(2)} ms of processor time`, processorMs, most);
}

function limit(what: string, shown: string, value: number, most: number): void {
  const isOver = value > most;
  console.log(`  ${what}: ${shown}${isOver ? `, MORE THAN ${most}` : ""}`);
  if (isOver) process.exitCode = 1;
}
