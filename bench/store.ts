/**
 * Measures what processes share through the SQLite store: CPU time of listening while nothing happens, the way of a message
 * to another process, and what single operations cost. Exits with 1 if listening takes more than 0.5 % of a core, or if
 * half of the messages need more than 100 ms. Run: node bench/store.ts
 */
import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { openSqliteStore } from "../src/store/sqlite/store.ts";
import { median } from "./median.ts";

const idleMs = 10_000;
const messages = 100;
const [path] = process.argv.slice(2);
const warn = (message: string) => {
  throw new Error(message);
};

if (path === undefined) await measure();
else await listen(path);

async function measure(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "plugboard-bench-"));
  const file = join(folder, "state.sqlite");
  const store = await openSqliteStore({ path: file }, warn);
  const other = fork(import.meta.filename, [file], { execArgv: [] });
  try {
    await once(other, "message");
    const idle = await idleShare(async () => store.messages.subscribe("news", () => undefined));
    console.log(`listening while nothing happens  ${(idle * 100).toFixed(3)} % of a core`);
    const times: number[] = [];
    for (let i = 0; i < messages; i++) {
      const heard = once(other, "message");
      const began = performance.now();
      await store.messages.publish("news", i);
      await heard;
      times.push(performance.now() - began);
      await sleep(Math.random() * 50);
    }
    const way = median(times);
    console.log(
      `a message to another process     ${way.toFixed(1)} ms, slowest ${Math.max(...times).toFixed(1)} ms`,
    );
    await cost("publish                        ", () => store.messages.publish("x", 1));
    await cost("append one entry               ", () => store.log.append("log", [1]));
    const many = Array.from({ length: 64 }, (_, i) => ({ i, text: "x".repeat(200) }));
    await cost("append 64 entries              ", () => store.log.append("log", many));
    await cost("add to a counter               ", () => store.counters.add("calls", { lastsMs: 60_000 }));
    await cost("get a value                    ", () => store.get("none"));
    process.exitCode = idle <= 0.005 && way <= 100 ? 0 : 1;
  } finally {
    other.kill();
    await store.close();
    rmSync(folder, { recursive: true });
  }
}

async function idleShare(begin: () => Promise<() => void>): Promise<number> {
  const used = async () => {
    const before = process.cpuUsage();
    await sleep(idleMs);
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1_000 / idleMs;
  };
  const without = await used();
  const stop = await begin();
  const share = await used();
  stop();
  return share - without;
}

async function cost(name: string, work: () => Promise<unknown>): Promise<void> {
  const turns: number[] = [];
  for (let turn = 0; turn < 20; turn++) {
    const began = process.cpuUsage();
    for (let i = 0; i < 50; i++) await work();
    const { user, system } = process.cpuUsage(began);
    turns.push((user + system) / 50);
  }
  console.log(`${name}  ${median(turns).toFixed(1)} µs of CPU time`);
}

/** The other process: says when it hears something. */
async function listen(file: string): Promise<void> {
  const store = await openSqliteStore({ path: file }, warn);
  await store.messages.subscribe("news", () => process.send?.("heard"));
  process.send?.("ready");
  process.on("disconnect", () => process.exit());
}
