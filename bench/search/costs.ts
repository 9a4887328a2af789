import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { createHub } from "../../src/index.ts";
import type { Hub } from "../../src/index.ts";
import { echoServer } from "../echo-server.ts";
import type { BenchTool } from "./sets.ts";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

const toolCount = 10_000;
const serverCount = 200;
const rounds = 10;

export interface Costs {
  indexMs: number;
  indexMb: number;
  queryMs: number;
  changedServerMs: number;
  changedToolMs: number;
}

/** Measures a hub with 10,000 tools behind 200 servers, all in this process. */
export async function measureCosts(tools: readonly BenchTool[], texts: readonly string[]): Promise<Costs> {
  const lists = Array.from({ length: serverCount }, (_, at) => ownTools(tools, at));
  const servers = lists.map((list, at) => [`server${at}`, { server: echoServer({ tools: list }) }] as const);
  await using hub = await createHub({ servers: Object.fromEntries(servers) });
  await hub.tools();
  const before = heapMb();
  const indexMs = await timed(() => hub.search("anything"));
  const indexMb = heapMb() - before;
  const queries: number[] = [];
  for (let round = 0; round < rounds; round++)
    for (const text of texts) queries.push(await timed(() => hub.search(text)));
  const changes: number[] = [];
  for (const at of [1, 2, 3, 4, 5]) {
    for (const tool of lists[at] ?? []) tool.description = `${tool.description ?? ""} Changed.`;
    changes.push(await afterChange(hub, `server${at}`));
  }
  const single: number[] = [];
  for (const at of [6, 7, 8, 9, 10]) {
    const [tool] = lists[at] ?? [];
    if (tool) tool.description = "Changed.";
    single.push(await afterChange(hub, `server${at}`));
  }
  return {
    indexMs,
    indexMb,
    queryMs: median(queries),
    changedServerMs: median(changes),
    changedToolMs: median(single),
  };
}

/** The catalogue's tools once around, as often as needed, with names of their own. */
function ownTools(tools: readonly BenchTool[], server: number) {
  return Array.from({ length: toolCount / serverCount }, (_, at) => {
    const number = (server * toolCount) / serverCount + at;
    const { server: from = "", name = "", ...tool } = tools[number % tools.length] ?? {};
    return { ...tool, name: `${from.replaceAll(/\W+/g, "_")}_${name.replaceAll(/\W+/g, "_")}_${number}` };
  });
}

async function afterChange(hub: Hub, server: string): Promise<number> {
  await hub.refresh(server);
  return timed(() => hub.search("anything"));
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

function heapMb(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed / 1e6;
}

function median(values: number[]): number {
  return values.toSorted((one, other) => one - other)[values.length >> 1] ?? NaN;
}
