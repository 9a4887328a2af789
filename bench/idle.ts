/**
 * Measures the cost of idle connections: our process's heap (after garbage collection) and resident memory for each of
 * fifty idle stdio servers. Fails above 0.5 MB each. Run: node bench/idle.ts [connections]
 */
import { setTimeout as sleep } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { createHub } from "../src/index.ts";
import { fakeStdio } from "../test/fixtures/fake/index.ts";

const barMb = 0.5;
const warmUp = 5;
const connections = Number(process.argv[2] ?? 50);
setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

const names = Array.from({ length: warmUp + connections }, (_, index) => `s${index}`);
await using hub = await createHub({ servers: Object.fromEntries(names.map((name) => [name, fakeStdio()])) });
// The first connections load the code that all of them share.
await connectAndList(names.slice(0, warmUp));
const before = await memory();
await connectAndList(names.slice(warmUp));
const after = await memory();

const heapMb = (after.heapMb - before.heapMb) / connections;
const residentMb = (after.residentMb - before.residentMb) / connections;
console.log(`${connections} idle stdio connections, each with its tools listed`);
console.log(`heap      ${before.heapMb.toFixed(1)} -> ${after.heapMb.toFixed(1)} MB, ${each(heapMb)}`);
console.log(
  `resident  ${before.residentMb.toFixed(1)} -> ${after.residentMb.toFixed(1)} MB, ${each(residentMb)}`,
);
const isMet = Math.max(heapMb, residentMb) < barMb;
console.log(`bar: less than ${barMb} MB each, ${isMet ? "met" : "MISSED"}`);
if (!isMet) process.exitCode = 1;

async function connectAndList(some: readonly string[]): Promise<void> {
  await Promise.all(some.map((name) => hub.connect(name)));
  await hub.view({ servers: some }).tools();
}

async function memory(): Promise<{ heapMb: number; residentMb: number }> {
  for (let i = 0; i < 5; i++) {
    collectGarbage();
    await sleep(100);
  }
  const { heapUsed, rss } = process.memoryUsage();
  return { heapMb: heapUsed / 1024 / 1024, residentMb: rss / 1024 / 1024 };
}

function each(mb: number): string {
  return `${(mb * 1024).toFixed(0)} KB each`;
}
