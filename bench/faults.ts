/**
 * Uses legacy and modern servers, local and remote, while they are killed, upgraded, rolled back, silent, slow, down or
 * forgetful, and their tokens expire. Checks that lists, subscriptions, calls and logins come back by themselves after
 * each of these, and that memory, handles, files and processes do not grow.
 * Run: node bench/faults.ts [--minutes 60]
 */
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { isPlugboardError } from "../src/index.ts";
import type { Hub } from "../src/index.ts";
import { openScene, troubles } from "../test/fixtures/faults/scene.ts";
import { growth, print, sample } from "./samples.ts";
import type { Sample } from "./samples.ts";

const { values } = parseArgs({ options: { minutes: { type: "string", default: "1" } } });
const minutes = Number(values.minutes);
const parts = 6;
const scene = await openScene();
const counts = { calls: 0, lists: 0, reads: 0, failures: new Map<string, number>() };
const slowest = new Map<string, { times: number; ms: number }>();
const problems: string[] = [];
const samples: Sample[] = [];

for (let part = 1; part <= parts; part++) {
  const end = performance.now() + (minutes * 60_000) / parts;
  await Promise.all([...Object.keys(troubles).map((server) => trouble(server, end)), ...users(end)]);
  samples.push(await sample(`${((minutes * part) / parts).toFixed(1)} minutes`));
  print(samples.at(-1) as Sample);
}
await scene[Symbol.asyncDispose]();
print(await sample("closed"));
const [first] = samples;
const last = samples.at(-1);
if (first && last) problems.push(...growth(first, last, 16, 4));
for (const [what, { times, ms }] of [...slowest].sort(([one], [other]) => one.localeCompare(other)))
  console.log(
    `${what.padEnd(28)} ${String(times).padStart(5)} times, back after at most ${(ms / 1000).toFixed(1)} s`,
  );
const { failures, ...done } = counts;
console.log(JSON.stringify(done), "failed meanwhile:", JSON.stringify(Object.fromEntries(failures)));
for (const problem of problems) console.log(`PROBLEM: ${problem}`);
console.log(problems.length === 0 ? "flat, and everything came back" : "not good");
process.exitCode = problems.length === 0 ? 0 : 1;

/** One trouble after the other, with a pause in which everything has to work. */
async function trouble(server: string, end: number): Promise<void> {
  const kinds = troubles[server] ?? [];
  for (let round = 0; performance.now() < end; round++) {
    const kind = kinds[round % kinds.length] as (typeof kinds)[number];
    try {
      await scene.cause(server, kind);
      const ms = await scene.recovered(server);
      const what = `${server} ${kind}`;
      const before = slowest.get(what) ?? { times: 0, ms: 0 };
      slowest.set(what, { times: before.times + 1, ms: Math.max(before.ms, ms) });
    } catch (error) {
      problems.push(`${server} ${kind}: ${String(error)}`);
    }
    await sleep(1_000 + Math.random() * 4_000);
  }
}

/** Some users who call, list and read whatever they like; that fails while a server is in trouble. */
function users(end: number): Promise<void>[] {
  return Array.from({ length: 4 }, async () => {
    const servers = Object.keys(troubles);
    while (performance.now() < end) {
      const server = servers[Math.floor(Math.random() * servers.length)] ?? "";
      await useOnce(scene.hub, server).catch((error: unknown) => {
        const code = isPlugboardError(error) ? error.code : String(error);
        counts.failures.set(code, (counts.failures.get(code) ?? 0) + 1);
      });
      await sleep(Math.random() * 100);
    }
  });
}

async function useOnce(hub: Hub, server: string): Promise<void> {
  const view = hub.view({ servers: [server] });
  const what = Math.random();
  if (what < 0.6) {
    await view.callTool(`${server}.add`, { a: 1, b: 2 });
    counts.calls++;
  } else if (what < 0.8) {
    await view.tools();
    counts.lists++;
  } else {
    await view.readResource(server, "fake://readme");
    counts.reads++;
  }
}
