import { type ChildProcess, execFile, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { openStore } from "../../src/store/open.ts";
import type { LogEntry, Store } from "../../src/store/store.ts";
import { listen } from "../store/message-contract.ts";

const programs = join(import.meta.dirname, "..", "store", "programs");

test("twenty processes create the store at the same moment, and none of their 2,000 increments is lost", async () => {
  const path = statePath();
  const reports = await incrementTogether(path, 20, 100);
  expect(reports).toEqual(Array.from({ length: 20 }, () => ({ durable: true, warnings: [] })));
  expect(await read(path, "count")).toBe(2000);
});

test("twenty processes find the state damaged at the same moment: one moves it aside, none loses a write", async () => {
  const path = statePath();
  writeFileSync(path, "damaged ".repeat(2000), { mode: 0o600 });
  const reports = await incrementTogether(path, 20, 5);
  expect(reports.every((report) => report.durable)).toBe(true);
  expect(reports.flatMap((report) => report.warnings)).toHaveLength(1);
  expect(await read(path, "count")).toBe(100);
  expect(readdirSync(dirname(path)).filter((name) => name.includes(".corrupt-"))).toHaveLength(1);
});

test("a lease holder is killed, and all twelve waiters are served with strictly rising fences", async () => {
  const path = statePath();
  const holder = start("lease.ts", path, "hold");
  const { fence: first } = await message<{ fence: number }>(holder, isReport);
  const waiters = Array.from({ length: 12 }, () => start("lease.ts", path, "pass"));
  const endings = waiters.map((waiter) => once(waiter, "exit"));
  await Promise.all(waiters.map((waiter) => message(waiter, (value) => value === "ready")));
  holder.kill("SIGKILL");
  expect((await Promise.all(endings)).map(([code]) => code)).toEqual(waiters.map(() => 0));
  const fences = (await read(path, "fences")) as number[];
  expect(fences).toHaveLength(12);
  expect([first, ...fences]).toEqual([...new Set([first, ...fences])].sort((a, b) => a - b));
});

test.runIf(process.platform === "linux")(
  "when the disk takes no more, a write fails as store-unavailable and the last good value is still there",
  async () => {
    // A limit on file sizes looks to SQLite like a disk on which writing fails, and needs no rights to set up.
    const command = 'trap "" XFSZ; ulimit -f 200; exec "$@"';
    const args = ["-c", command, "sh", process.execPath, join(programs, "full-disk.ts"), statePath()];
    const { stdout } = await promisify(execFile)("/bin/sh", args);
    const { written, kept, error } = JSON.parse(stdout);
    expect(written).toBeGreaterThan(0);
    expect(kept).toMatchObject({ size: written });
    expect(error).toMatchObject({ code: "store-unavailable", retryable: true });
  },
);

test.each(Array.from({ length: 10 }, (_, steps) => steps))(
  "a process that is killed after %i steps leaves whole steps behind, and others go on at once",
  async (steps) => {
    const path = statePath();
    const store = await opened(path);
    const news = await listen(store, "news");
    const program = start("steps.ts", path);
    const { id } = await message<{ id: string }>(program, isReport);
    expect(await store.presence.isPresent("programs", id)).toBe(true);
    for (let done = 1; done <= steps; done++) {
      const report = message(
        program,
        (value) => isReport(value) && (value as { done?: number }).done === done,
      );
      program.send("step");
      await report;
    }
    await killed(program);
    expect(await store.presence.members("programs")).toEqual([]);
    /** How often the step at this place of a round was done. */
    const times = (place: number) => Math.floor((steps + 4 - place) / 5);
    await assertWhole(store, { log: times(0), count: times(1) });
    const rounds = Array.from({ length: times(2) }, (_, round) => ({ round }));
    expect(await news.until(rounds.length)).toEqual(rounds);
    expect((await store.get("round"))?.value).toBe([undefined, 0, 1][times(3)]);
    expect(await store.acquireLease("job", { ttlMs: 60_000 })).toBeDefined();
  },
);

test("processes that are killed at any moment leave nothing half done, and their messages arrive in order", async () => {
  const path = statePath();
  const store = await opened(path);
  const news = await listen(store, "news");
  const programs = Array.from({ length: 4 }, () => start("steps.ts", path));
  for (const program of programs) await message(program, isReport);
  const reached = programs.map((program, index) =>
    message(program, (value) => isReport(value) && ((value as { done?: number }).done ?? 0) > 20 + 7 * index),
  );
  for (const program of programs) program.send("run");
  for (const [index, program] of programs.entries()) {
    await reached[index];
    await killed(program);
  }
  expect(await store.presence.members("programs")).toEqual([]);
  const { last } = await store.log.extent("log");
  expect(last).toBeGreaterThan(12);
  await assertWhole(store, { log: last / 3 });
  await store.messages.publish("news", "end");
  while (news.heard.at(-1) !== "end") await news.until(news.heard.length + 1);
  expect(news.heard).not.toContain("missed");
  const rounds = news.heard.slice(0, -1).map((one) => (one as { round: number }).round);
  // Each process says each round once, and in order.
  for (let round = 1; round <= Math.max(...rounds); round++)
    expect(rounds.filter((one) => one === round).length).toBeLessThanOrEqual(
      rounds.filter((one) => one === round - 1).length,
    );
});

async function opened(path: string): Promise<Store> {
  const store = await openStore({ path }, (warning) => {
    throw new Error(warning);
  });
  onTestFinished(() => store.close());
  return store;
}

/** Every append is there as a whole, numbered without gaps. */
async function assertWhole(store: Store, { log, count }: { log: number; count?: number }): Promise<void> {
  const entries: LogEntry[] = [];
  for (let page; (page = await store.log.read("log", { after: entries.length })).length > 0;)
    entries.push(...page);
  expect(entries.map(({ number }) => number)).toEqual(entries.map((_, index) => index + 1));
  expect(entries.map(({ value }) => (value as { part: number }).part)).toEqual(
    Array.from({ length: log }, () => [1, 2, 3]).flat(),
  );
  const [counter] = await store.counters.list("rounds");
  if (count !== undefined) expect(counter?.total ?? 0).toBe(count);
}

async function killed(program: ChildProcess): Promise<void> {
  const exit = once(program, "exit");
  program.kill("SIGKILL");
  await exit;
}

interface Report {
  durable: boolean;
  warnings: string[];
}

async function incrementTogether(path: string, processes: number, times: number): Promise<Report[]> {
  const children = Array.from({ length: processes }, () => start("increment.ts", path, String(times)));
  await Promise.all(children.map((child) => message(child, (value) => value === "ready")));
  const reports = children.map((child) => message<Report>(child, isReport));
  for (const child of children) child.send("go");
  return Promise.all(reports);
}

function start(program: string, ...args: string[]): ChildProcess {
  const child = fork(join(programs, program), args, {
    execArgv: [],
    env: { NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"] },
  });
  // One for each message that is waited for.
  child.setMaxListeners(0);
  onTestFinished(() => void child.kill("SIGKILL"));
  return child;
}

function isReport(value: unknown): boolean {
  return typeof value === "object";
}

/** The first message that fits; fails when the process ends without it. */
function message<T>(child: ChildProcess, fits: (value: unknown) => boolean): Promise<T> {
  return new Promise((resolve, reject) => {
    child.on("message", (value) => fits(value) && resolve(value as T));
    child.once("error", reject);
    child.once("exit", (code, signal) => reject(new Error(`ended early: ${code ?? signal}`)));
  });
}

async function read(path: string, key: string): Promise<unknown> {
  const store = await openStore({ path }, (warning) => expect.unreachable(warning));
  const found = await store.get(key);
  await store.close();
  return found?.value;
}

function statePath(): string {
  const folder = mkdtempSync(join(tmpdir(), "plugboard-store-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 20 }));
  return join(folder, "state.sqlite");
}
