/**
 * Measures what a lock file costs with 10,000 tools: listing them with and without it, how long that blocks the event
 * loop, a call, reading the lock, and flagging all definitions. Exits with 1 if a limit is exceeded.
 * Run: node bench/pins.ts
 */
import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { formatLock, readLock, writtenPins } from "../src/config/lock/lock-file.ts";
import { createHub } from "../src/index.ts";
import type { Hub } from "../src/index.ts";
import { echoServer, toolsNamed } from "./echo-server.ts";

const count = 10_000;
const folder = mkdtempSync(join(tmpdir(), "plugboard-pins-"));
const lock = join(folder, "plugboard.lock");
try {
  await measure();
} finally {
  rmSync(folder, { recursive: true, force: true, maxRetries: 20 });
}

async function measure(): Promise<void> {
  const servers = { it: { server: echoServer({ tools: toolsNamed(count) }) } };
  {
    await using hub = await createHub({ servers });
    const [checked] = await hub.checkPins();
    if (!checked?.surface) throw new Error("It cannot be pinned.");
    writeFileSync(lock, formatLock({ it: writtenPins(checked.surface) }));
    report(`flagging ${count} definitions: ms`, await fastest(() => hub.flags()), 1_000);
  }
  report(
    `reading a lock of ${(statSync(lock).size / 1e6).toFixed(1)} MB: ms`,
    await fastest(() => readLock(lock)),
    1_000,
  );
  const open = (options = {}) =>
    createHub({ servers: { it: { server: echoServer({ tools: toolsNamed(count) }) } } }, options);
  const plain = await listing(open);
  const pinned = await listing(() => open({ lock }));
  report("listing without a lock: ms", plain.took, Infinity);
  report("listing with a lock: ms", pinned.took, Infinity);
  report("more for each tool: µs", ((pinned.took - plain.took) / count) * 1000, 100);
  report("longest block without a lock: ms", plain.longest, Infinity);
  report("longest block with a lock: ms", pinned.longest, Math.max(50, plain.longest * 1.5));
  await using without = await open();
  await using withLock = await open({ lock });
  const [one, other] = await calls(without, withLock);
  report(
    `a call: ${one.toFixed(1)} µs without, ${other.toFixed(1)} µs with a lock; more: µs`,
    other - one,
    1,
  );
}

/** The best of five, because the machine does other things too. */
async function fastest(work: () => Promise<unknown>): Promise<number> {
  let best = Infinity;
  for (let round = 0; round < 5; round++) {
    const begun = performance.now();
    await work();
    best = Math.min(best, performance.now() - begun);
  }
  return best;
}

async function listing(open: () => Promise<Hub>): Promise<{ took: number; longest: number }> {
  let best = { took: Infinity, longest: Infinity };
  for (let round = 0; round < 3; round++) {
    await using hub = await open();
    await hub.connect("it");
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
    const tools = await hub.tools();
    const took = performance.now() - begun;
    isOver = true;
    if (tools.length !== count) throw new Error(`${tools.length} tools are available.`);
    if (took < best.took) best = { took, longest };
  }
  return best;
}

/** The medians of both, which take turns. */
async function calls(one: Hub, other: Hub): Promise<[number, number]> {
  const hubs = [one, other];
  const samples: number[][] = [[], []];
  for (let turn = -40; turn < 400; turn++) {
    for (const [at, hub] of hubs.entries()) {
      const begun = performance.now();
      for (let time = 0; time < 25; time++)
        await hub.callTool(`mcp__it__tool_${count - 1}`, { text: "hello" });
      if (turn >= 0) samples[at]?.push(((performance.now() - begun) * 1000) / 25);
    }
  }
  const [a = NaN, b = NaN] = samples.map(
    (all) => all.sort((x, y) => x - y)[Math.floor(all.length / 2)] ?? NaN,
  );
  return [a, b];
}

function report(what: string, value: number, atMost: number): void {
  const isMet = value <= atMost;
  if (!isMet) process.exitCode = 1;
  const bar = atMost === Infinity ? "" : ` (at most ${atMost.toFixed(0)}${isMet ? "" : ", MISSED"})`;
  console.log(`${what}: ${value.toFixed(1)}${bar}`);
}
