/**
 * Compares the call rate of this checkout with that of another one, in one process and in turns, so that load on the
 * machine affects both equally. Each pair uses new hubs and servers. Fails if the median of the pairs is below 0.97 of
 * the other's rate. Requires Linux with two cores and `taskset`. Run: node bench/against.ts FOLDER [pairs]
 */
import { execFileSync, fork } from "node:child_process";
import { join, resolve } from "node:path";
import { createHub } from "../src/index.ts";
import { median } from "./median.ts";

type CreateHub = typeof createHub;
type Call = () => Promise<unknown>;

const bar = 0.97;
const inFlight = 32;
const turns = 12;
const turnMs = 100;
const serialCalls = 150;
const args = { text: "hello" };
const echo = join(import.meta.dirname, "calls.ts");

const [folder, pairs = "9"] = process.argv.slice(2);
if (folder === undefined) throw new Error("Run: node bench/against.ts FOLDER [pairs]");
const other = (await import(join(resolve(folder), "src", "index.ts"))) as { createHub: CreateHub };
place(process.pid, 0);

for (const [kind, open] of Object.entries({ stdio: openStdio, http: openHttp })) {
  const rates: Record<"serial" | "parallel", number[]> = { serial: [], parallel: [] };
  for (let pair = 0; pair < Number(pairs); pair++) {
    const [mine, theirs] = [await open(createHub), await open(other.createHub)];
    const { serial, parallel } = await compare(mine.call, theirs.call, pair % 2 === 0);
    rates.serial.push(serial);
    rates.parallel.push(parallel);
    await Promise.all([mine.close(), theirs.close()]);
    process.stderr.write(".");
  }
  for (const [how, ratios] of Object.entries(rates)) {
    const middle = median(ratios);
    const verdict = middle >= bar ? "kept" : "MISSED";
    const spread = `${Math.min(...ratios).toFixed(2)}–${Math.max(...ratios).toFixed(2)}`;
    console.log(
      `${kind}, ${how}: ${middle.toFixed(3)} times the other's rate (${spread}; bar ${bar}: ${verdict})`,
    );
    if (middle < bar) process.exitCode = 1;
  }
}

/** Our rate relative to the other, over many short turns of both. */
async function compare(mine: Call, theirs: Call, isFirst: boolean) {
  const order: [0 | 1, Call][] = isFirst ? [[0, mine], [1, theirs]] : [[1, theirs], [0, mine]]; // prettier-ignore
  for (const [, call] of order) await parallel(call, 3 * turnMs);
  const serial: [number[], number[]] = [[], []];
  const many: [number[], number[]] = [[], []];
  for (let turn = 0; turn < turns; turn++) {
    for (const [whose, call] of order) serial[whose].push(await oneByOne(call));
    for (const [whose, call] of order) many[whose].push(await parallel(call, turnMs));
  }
  return {
    serial: median(serial[0]) / median(serial[1]),
    parallel: median(many[0]) / median(many[1]),
  };
}

/** Sequential calls per second, based on the median call. */
async function oneByOne(call: Call): Promise<number> {
  const took: number[] = [];
  for (let i = 0; i < serialCalls; i++) {
    const from = performance.now();
    await call();
    took.push(performance.now() - from);
  }
  return 1000 / median(took);
}

async function parallel(call: Call, forMs: number): Promise<number> {
  const from = performance.now();
  let calls = 0;
  const work = async () => {
    while (performance.now() < from + forMs) {
      await call();
      calls++;
    }
  };
  await Promise.all(Array.from({ length: inFlight }, work));
  return (calls * 1000) / (performance.now() - from);
}

async function openStdio(create: CreateHub): Promise<{ call: Call; close(): Promise<void> }> {
  const command = { command: "taskset", args: ["-c", "1", process.execPath, echo, "stdio"] };
  const hub = await create({ servers: { it: command } });
  await hub.tools();
  return { call: () => hub.callTool("mcp__it__echo", args), close: () => hub.close() };
}

async function openHttp(create: CreateHub): Promise<{ call: Call; close(): Promise<void> }> {
  const server = fork(echo, ["http"]);
  const port = await new Promise<number>((done) => server.once("message", done));
  place(server.pid ?? 0, 1);
  const hub = await create({ servers: { it: { url: `http://127.0.0.1:${port}/mcp` } } });
  await hub.tools();
  const close = async () => {
    await hub.close();
    server.disconnect();
  };
  return { call: () => hub.callTool("mcp__it__echo", args), close };
}

function place(pid: number, core: number): void {
  execFileSync("taskset", ["-apc", String(core), String(pid)], { stdio: "ignore" });
}
