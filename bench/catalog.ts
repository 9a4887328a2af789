/**
 * Measures the cost of finding a tool among 10 and among 10,000: calls through the hub and through all kinds of views,
 * which take turns so that load on the machine affects them equally; an unknown name; `summary()`; and how long listing
 * blocks the event loop, with the server in its own process. Exits with 1 if a limit is exceeded.
 * Run: node bench/catalog.ts
 */
import { createInterface } from "node:readline";
import { createHub } from "../src/index.ts";
import type { Hub, View } from "../src/index.ts";
import { echoServer, listOf, respond, toolsNamed } from "./echo-server.ts";
import { median } from "./median.ts";

const turns = 200;
const warmUpTurns = 40;
const callsATurn = 25;

if (process.argv[2] === "serve") serve(Number(process.argv[3]), Number(process.argv[4]));
else await measure();

async function measure(): Promise<void> {
  for (const count of [10, 10_000]) await measureCalls(count);
  await measureManyCallers(10_000, 1_000);
  for (const pageSize of [500, 10_000]) await measureListing(10_000, pageSize);
}

async function measureCalls(count: number): Promise<void> {
  await using hub = await createHub({
    servers: { it: { server: echoServer({ tools: toolsNamed(count) }) } },
    bundles: { some: { servers: ["it"], tools: { allow: ["tool_*"] } } },
  });
  await hub.tools();
  const views: Record<string, View> = {
    hub,
    caller: hub.view({ caller: "alice" }),
    bundle: hub.view({ bundle: "some" }),
    globs: hub.view({ tools: ["mcp__it__tool_*", "*_7"] }),
    "caller, globs, servers": hub.view({ caller: "bob", servers: ["it"], tools: ["tool_*"] }),
  };
  const id = `mcp__it__tool_${count - 1}`;
  const call = (view: View) => view.callTool(id, { text: "hello" });
  const medians = await takeTurns(
    Object.fromEntries(Object.entries(views).map(([name, view]) => [name, () => call(view)])),
  );
  console.log(`\ncalls, ${count} tools`);
  for (const [name, us] of medians) {
    const ratio = us / (medians.get("hub") ?? NaN);
    report(`${name}: ${us.toFixed(1)} µs, relative to the hub`, ratio, name === "hub" ? Infinity : 1.1);
  }
  const unknown = (view: View) => async () => {
    await view.findTool("mcp__it__tool_99999x").catch(() => undefined);
    await view.findTool("toool_42").catch(() => undefined);
  };
  const costs = await takeTurns(
    {
      unknown: unknown(hub),
      "unknown, globs": unknown(views["globs"] as View),
      summary: () => hub.summary(),
      "summary, globs": () => (views["globs"] as View).summary(),
      digest: () => hub.digest(),
      "digest, globs": () => (views["globs"] as View).digest(),
    },
    1,
  );
  for (const [name, us] of costs) {
    const perName = name.startsWith("unknown") ? us / 2 : us;
    report(`${name}: ms`, perName / 1000, name.startsWith("unknown") ? 2 : 1);
  }
}

/**
 * Many callers take turns. Their data does not fit in the CPU caches, which costs a microsecond or two. That is a lot
 * relative to an in-process call of ten microseconds, so the limit is absolute.
 */
async function measureManyCallers(count: number, callers: number): Promise<void> {
  await using hub = await createHub({
    servers: { it: { server: echoServer({ tools: toolsNamed(count) }) } },
  });
  await hub.tools();
  const views = Array.from({ length: callers }, (_, at) => hub.view({ caller: `c${at}`, tools: ["tool_*"] }));
  const call = (view: View) => view.callTool(`mcp__it__tool_${count - 1}`, { text: "hello" });
  for (const view of views) await call(view);
  let next = 0;
  const inTurn = (many: number) => () => call(views[next++ % many] as View);
  const medians = await takeTurns({
    hub: () => call(hub),
    ...Object.fromEntries([1, 10, 100, callers].map((many) => [`${many} callers`, inTurn(many)])),
  });
  console.log(`\ncallers in turn, ${count} tools`);
  const alone = medians.get("hub") ?? NaN;
  for (const [name, us] of medians) report(`${name}: ${us.toFixed(1)} µs, more than the hub`, us - alone, 5);
}

/** The longest time in which nothing else could run. Best of three, because the machine itself pauses sometimes. */
async function measureListing(count: number, pageSize: number): Promise<void> {
  let best = { longest: Infinity, took: Infinity };
  for (let round = 0; round < 3; round++) {
    const args = [import.meta.filename, "serve", String(count), String(pageSize)];
    await using hub = await createHub({ servers: { it: { command: process.execPath, args } } });
    await hub.connect("it");
    const now = await longestBlock(hub);
    if (now.longest < best.longest) best = now;
  }
  console.log(`\nlisting ${count} tools, ${pageSize} to a page: ${best.took.toFixed(0)} ms`);
  report("longest block: ms", best.longest, 50);
}

async function longestBlock(hub: Hub): Promise<{ longest: number; took: number }> {
  let longest = 0;
  let isOver = false;
  let last = performance.now();
  const begun = last;
  const look = () => {
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
    if (!isOver) setImmediate(look);
  };
  setImmediate(look);
  await hub.tools();
  const took = performance.now() - begun;
  // The snapshot is written after the response.
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
  isOver = true;
  return { longest, took };
}

/** The median of each, in microseconds. */
async function takeTurns(
  works: Record<string, () => Promise<unknown>>,
  times = callsATurn,
): Promise<Map<string, number>> {
  const samples = new Map<string, number[]>(Object.keys(works).map((name) => [name, []]));
  for (let turn = -warmUpTurns; turn < turns; turn++) {
    for (const [name, work] of Object.entries(works)) {
      const begun = performance.now();
      for (let time = 0; time < times; time++) await work();
      if (turn >= 0) samples.get(name)?.push(((performance.now() - begun) * 1000) / times);
    }
  }
  return new Map([...samples].map(([name, all]) => [name, median(all)]));
}

function report(what: string, value: number, atMost: number): void {
  const isMet = value <= atMost;
  if (!isMet) process.exitCode = 1;
  const bar = atMost === Infinity ? "" : ` (at most ${atMost}${isMet ? "" : ", MISSED"})`;
  console.log(`  ${what}: ${value.toFixed(3)}${bar}`);
}

/** A stdio server that lists many tools. */
function serve(count: number, pageSize: number): void {
  const list = listOf(toolsNamed(count), pageSize);
  createInterface({ input: process.stdin }).on("line", (line) => {
    const answer = respond(JSON.parse(line) as never, list);
    if (answer) process.stdout.write(`${JSON.stringify(answer)}\n`);
  });
}
