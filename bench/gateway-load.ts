/**
 * Mixed load on a gateway whose servers are killed at random: clients of both eras come and go, call, list, read, listen,
 * answer questions and cancel. Checks that each request is answered once, and that the gateway's memory, handles, files
 * and processes do not grow. Run: node bench/gateway-load.ts [--minutes 60]
 */
import { parseArgs } from "node:util";
import { openLoad } from "./gateway/load-scene.ts";
import { growth, print } from "./samples.ts";
import type { Sample } from "./samples.ts";

const { values } = parseArgs({ options: { minutes: { type: "string", default: "1" } } });
const minutes = Number(values.minutes);
const parts = 6;
const samples: Sample[] = [];

await using load = await openLoad();
for (let part = 1; part <= parts; part++) {
  await load.run((minutes * 60_000) / parts);
  const taken = await load.sample(`${((minutes * part) / parts).toFixed(1)} minutes`);
  samples.push(taken);
  print(taken);
}
print(await load.close());
const problems = [...load.problems];
// What is compiled and cached in the beginning is not growth.
const [, first] = samples;
const last = samples.at(-1);
if (first && last) {
  // Sockets of clients and to servers stay open for a while.
  problems.push(...growth(first, last, 32, 32));
  // What is resident goes up and down with what the collector gives back.
  const before = Math.max(...samples.slice(0, parts / 2).map(({ residentMb }) => residentMb));
  if (last.residentMb > before * 1.2) problems.push(`resident MB from ${before} to ${last.residentMb}`);
}
for (const [what, times] of [...load.counts].toSorted(([one], [other]) => one.localeCompare(other)))
  console.log(`${String(times).padStart(8)} ${what}`);
for (const problem of problems.slice(0, 50)) console.log(`PROBLEM: ${problem}`);
console.log(
  problems.length === 0 ? "flat, and every request was answered once" : `${problems.length} problems`,
);
process.exitCode = problems.length === 0 ? 0 : 1;
