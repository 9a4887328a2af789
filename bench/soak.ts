/**
 * Connects and disconnects, then calls, over and over, and checks for leaks: heap (after garbage collection), handles,
 * open files, child processes. Fails if one of them grows.
 * Run: node bench/soak.ts [--cycles 2000] [--calls 1000000] [--in-flight 32]
 */
import { fork } from "node:child_process";
import { parseArgs } from "node:util";
import { createHub } from "../src/index.ts";
import type { Hub } from "../src/index.ts";
import { fakeStdio, startFakeHttp } from "../test/fixtures/fake/index.ts";
import { growth, print, sample } from "./samples.ts";

if (process.argv[2] === "fakes") await serveFakes();
else await soak();

async function soak(): Promise<void> {
  const { values } = parseArgs({
    options: {
      cycles: { type: "string", default: "20" },
      calls: { type: "string", default: "20000" },
      "in-flight": { type: "string", default: "32" },
    },
  });
  const { fakes, urls } = await startFakes();
  const hub = await createHub({
    servers: {
      "stdio-modern": fakeStdio({ versions: "modern" }),
      "stdio-legacy": fakeStdio({ versions: "legacy" }),
      "http-modern": { url: urls.modern },
      "http-legacy": { url: urls.legacy },
      sse: { type: "sse", url: urls.sse },
    },
  });
  const problems = [
    ...(await soakCycles(hub, Number(values.cycles))),
    ...(await soakCalls(hub, Number(values.calls), Number(values["in-flight"]))),
  ];
  await hub.close();
  fakes.disconnect();
  await new Promise((resolve) => fakes.once("exit", resolve));
  const end = await sample("closed");
  print(end);
  if (end.children > 0) problems.push(`${end.children} child processes are left after close`);
  for (const problem of problems) console.log(`GROWS: ${problem}`);
  console.log(problems.length === 0 ? "flat" : "not flat");
  process.exitCode = problems.length === 0 ? 0 : 1;
}

/** Each cycle connects every server, calls it once and disconnects it. Samples while nothing is connected. */
async function soakCycles(hub: Hub, cycles: number): Promise<string[]> {
  const names = hub.status().map(({ name }) => name);
  const cycle = async (name: string) => {
    await hub.connect(name);
    await callOnce(hub, name);
    await hub.disconnect(name);
  };
  return watch("cycles", cycles, async (count) => {
    for (let i = 0; i < count; i++) await Promise.all(names.map(cycle));
  });
}

/** Spreads all calls evenly over the same connections. Samples while everything is connected. */
async function soakCalls(hub: Hub, calls: number, inFlight: number): Promise<string[]> {
  const names = hub.status().map(({ name }) => name);
  return watch(
    "calls",
    calls,
    async (count) => {
      let begun = 0;
      const work = async () => {
        while (begun < count) await callOnce(hub, names[begun++ % names.length] ?? "");
      };
      await Promise.all(Array.from({ length: inFlight }, work));
    },
    inFlight,
  );
}

async function callOnce(hub: Hub, server: string): Promise<void> {
  const params = { name: "add", arguments: { a: 1, b: 2 } };
  const answer = await hub.forwardCall(`${server}.${params.name}`, params);
  const sum = "result" in answer ? (answer.result["structuredContent"] as { sum?: unknown }).sum : undefined;
  if (sum !== 3) throw new Error(`${server} answered ${JSON.stringify(answer)}`);
}

/**
 * Runs a tenth as a warm-up, then the rest in two halves, and compares the samples after each. While connections are
 * open, the number of sockets may vary by `pooled`, the number of calls in flight.
 */
async function watch(
  what: string,
  total: number,
  run: (count: number) => Promise<void>,
  pooled = 0,
): Promise<string[]> {
  const from = performance.now();
  const warmUp = Math.ceil(total / 10);
  const middle = Math.ceil((total - warmUp) / 2);
  await run(warmUp);
  const first = await sample(`${warmUp} ${what}`);
  print(first);
  await run(middle);
  print(await sample(`${warmUp + middle} ${what}`));
  await run(total - warmUp - middle);
  const last = await sample(`${total} ${what}`);
  print(last);
  console.log(`${total} ${what} in ${((performance.now() - from) / 1000).toFixed(0)} s`);
  return growth(first, last, pooled);
}

interface Urls {
  modern: string;
  legacy: string;
  sse: string;
}

/** Runs the fakes in another process, so that their memory is not counted as ours. */
async function startFakes() {
  const fakes = fork(import.meta.filename, ["fakes"]);
  const urls = await new Promise<Urls>((resolve, reject) => {
    fakes.once("message", (message) => resolve(message as Urls));
    fakes.once("exit", () => reject(new Error("the fake servers did not start")));
  });
  return { fakes, urls };
}

async function serveFakes(): Promise<void> {
  const modern = await startFakeHttp({ versions: "modern" });
  const legacy = await startFakeHttp({ versions: "legacy" });
  setInterval(() => {
    for (const fake of [modern, legacy]) fake.received.length = 0;
  }, 500);
  process.on("disconnect", () => process.exit());
  process.send?.({ modern: modern.url, legacy: legacy.url, sse: legacy.sseUrl } satisfies Urls);
}
