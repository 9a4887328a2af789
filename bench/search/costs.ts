import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { createHub } from "../../src/index.ts";
import { echoServer } from "../echo-server.ts";
import type { BenchTool } from "./sets.ts";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

const toolCount = 10_000;
const serverCount = 200;
const rounds = 10;

/** Milliseconds: by the clock, and of processor time, which says more on a machine that is busy with other things. */
export interface Cost {
  ms: number;
  processorMs: number;
}

export interface Costs {
  query: Cost;
  index: Cost;
  indexMb: number;
  changedServer: Cost;
  changedTool: Cost;
}

/** Measures a hub with 10,000 tools behind 200 servers, all in this process. */
export async function measureCosts(tools: readonly BenchTool[], texts: readonly string[]): Promise<Costs> {
  const lists = Array.from({ length: serverCount }, (_, at) => ownTools(tools, at));
  const servers = lists.map((list, at) => [`server${at}`, { server: echoServer({ tools: list }) }] as const);
  await using hub = await createHub({ servers: Object.fromEntries(servers) });
  await hub.tools();
  const before = heapMb();
  const index = await timed(() => hub.search("anything"));
  const indexMb = heapMb() - before;
  const queries: Cost[] = [];
  for (let round = 0; round < rounds; round++)
    for (const text of texts) queries.push(await timed(() => hub.search(text)));
  const change = async (at: number, mostTools: number) => {
    for (const tool of lists[at]?.slice(0, mostTools) ?? [])
      tool.description = `Changed. ${tool.description ?? ""}`;
    await hub.refresh(`server${at}`);
    return timed(() => hub.search("anything"));
  };
  const whole: Cost[] = [];
  for (let at = 0; at < 20; at++) whole.push(await change(at, Infinity));
  const single: Cost[] = [];
  for (let at = 20; at < 40; at++) single.push(await change(at, 1));
  return {
    query: typical(queries),
    index,
    indexMb,
    changedServer: typical(whole),
    changedTool: typical(single),
  };
}

/** The catalogue's tools, as often as needed, with names that say which server they are from. */
function ownTools(tools: readonly BenchTool[], server: number) {
  return Array.from({ length: toolCount / serverCount }, (_, at) => {
    const number = (server * toolCount) / serverCount + at;
    const { server: from = "", name = "", ...tool } = tools[number % tools.length] ?? {};
    const round = number < tools.length ? "" : `_${Math.floor(number / tools.length)}`;
    return { ...tool, name: `${from}_${name}`.replaceAll(/\W+/g, "_") + round };
  });
}

async function timed(work: () => Promise<unknown>): Promise<Cost> {
  const start = performance.now();
  const processor = processorMs();
  await work();
  return { ms: performance.now() - start, processorMs: processorMs() - processor };
}

function processorMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

function heapMb(): number {
  collectGarbage();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return (heapUsed + arrayBuffers) / 1e6;
}

/** The median by the clock. Processor time is counted too coarsely for single searches, so it is the average. */
function typical(costs: readonly Cost[]): Cost {
  const byClock = costs.map(({ ms }) => ms).sort((one, other) => one - other);
  const processor = costs.reduce((sum, one) => sum + one.processorMs, 0);
  return { ms: byClock[costs.length >> 1] ?? NaN, processorMs: processor / costs.length };
}
