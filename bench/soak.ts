/**
 * Connects and disconnects, then calls, over and over, and checks for leaks: heap (after garbage collection), handles,
 * open files, child processes. Fails if one of them grows.
 * Run: node bench/soak.ts [--cycles 2000] [--calls 1000000] [--in-flight 32]
 */
import { fork } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { createHub } from "../src/index.ts";
import type { Hub } from "../src/index.ts";
import { fakeStdio, startFakeHttp } from "../test/fixtures/fake/index.ts";

interface Sample {
  at: string;
  heapMb: number;
  residentMb: number;
  /** The handles that keep this process alive, by type. */
  handles: Record<string, number>;
  files: number;
  children: number;
}

const allowedHeapMb = 2;
setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

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

function growth(first: Sample, last: Sample, pooled: number): string[] {
  const grown = (name: string, before: number, after: number, allowed = 0) =>
    after > before + allowed ? [`${name} from ${before} to ${after} (${first.at} to ${last.at})`] : [];
  return [
    ...grown("heap MB", first.heapMb, last.heapMb, allowedHeapMb),
    ...grown("open files", first.files, last.files, pooled),
    ...grown("child processes", first.children, last.children),
    ...Object.entries(last.handles).flatMap(([type, count]) => grown(type, first.handles[type] ?? 0, count)),
  ];
}

async function sample(at: string): Promise<Sample> {
  // Give pooled sockets and late timers a moment to close.
  await sleep(1500);
  for (let i = 0; i < 3; i++) {
    collectGarbage();
    await sleep(20);
  }
  const { heapUsed, rss } = process.memoryUsage();
  const handles: Record<string, number> = {};
  for (const type of process.getActiveResourcesInfo()) handles[type] = (handles[type] ?? 0) + 1;
  return {
    at,
    heapMb: round(heapUsed),
    residentMb: round(rss),
    handles,
    files: readdirSync("/proc/self/fd").length,
    children: childProcesses(),
  };
}

function print({ at, heapMb, residentMb, handles, files, children }: Sample): void {
  const types = Object.entries(handles)
    .sort(([a], [b]) => a.localeCompare(b))
    .map(([type, count]) => `${type} ${count}`);
  console.log(
    `${at.padEnd(16)} heap ${heapMb} MB, resident ${residentMb} MB, files ${files}, children ${children}, ` +
      `handles: ${types.join(", ") || "none"}`,
  );
}

/** The direct children, including the fake HTTP servers and, while servers run, the watchdog. */
function childProcesses(): number {
  const isChild = (pid: string) => {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
      return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1] === String(process.pid);
    } catch {
      return false;
    }
  };
  return readdirSync("/proc").filter((name) => /^\d+$/.test(name) && isChild(name)).length;
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

function round(bytes: number): number {
  return Math.round((bytes / 1024 / 1024) * 10) / 10;
}
