import { spawn } from "node:child_process";
import { once } from "node:events";
import { afterEach, describe, expect, it } from "vitest";
import { pidsBetween, readPidCursor, type PidCursor } from "../../src/servers/process/pid-cursor.ts";
import { StartedProcesses, type PidSystem } from "../../src/servers/process/started-processes.ts";

const mark = "PLUGBOARD_OWNER=test.";
const marked = { PLUGBOARD_OWNER: "test.1" };
const enders: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of enders.splice(0)) await end();
});

/** A process that waits for a line, then becomes a program with the given environment. */
async function start(env: Record<string, string>, then = "exec sleep 1000") {
  const child = spawn("/bin/sh", ["-c", `read -r line; ${then}`], { env, stdio: ["pipe", "pipe", "ignore"] });
  const exited = once(child, "exit");
  const end = async () => {
    child.kill("SIGKILL");
    await exited;
  };
  enders.push(end);
  await once(child, "spawn");
  return { child, pid: child.pid ?? 0, end };
}

async function found(started: StartedProcesses): Promise<number[]> {
  const pids: number[] = [];
  for await (const [pid] of started.environments()) pids.push(pid);
  return pids.toSorted((a, b) => a - b);
}

function system(changes: Partial<PidSystem> = {}): PidSystem {
  return { readCursor: readPidCursor, inodeOf: (pid) => pid, ...changes };
}

async function beginWith(started: StartedProcesses) {
  started.begin();
  const server = await start(marked);
  started.add(server.pid);
  return server;
}

describe("M25 the processes of a hub's servers are found without scanning all processes", () => {
  it("finds marked processes, whatever else was started before and after", async () => {
    const started = new StartedProcesses(mark);
    await start({ OTHER: "1" });
    const server = await beginWith(started);
    await start({ PLUGBOARD_OWNER: "other.1" });
    const second = await start(marked);
    const both = [server.pid, second.pid].toSorted((a, b) => a - b);
    expect(await found(started)).toEqual(both);
    expect(await found(started)).toEqual(both);
    await server.end();
    const third = await start(marked);
    expect(await found(started)).toEqual([second.pid, third.pid].toSorted((a, b) => a - b));
  });

  it("does not confuse a process with an earlier one that had the same id", async () => {
    let generation = 0;
    const inodeOf = (pid: number) => (isThere(pid) ? generation : undefined);
    const started = new StartedProcesses(mark, system({ inodeOf }));
    const server = await beginWith(started);
    const reused = await start({ OTHER: "1" }, `PLUGBOARD_OWNER=test.2 exec sh -c 'echo; exec sleep 1000'`);
    expect(await found(started)).toEqual([server.pid]);
    reused.child.stdin.write("\n");
    await once(reused.child.stdout, "data");
    expect(await found(started)).toEqual([server.pid]);
    generation++;
    expect(await found(started)).toEqual([server.pid, reused.pid].toSorted((a, b) => a - b));
  });

  it.each<[string, (cursor: PidCursor) => PidCursor | undefined]>([
    ["have gone round since", (cursor) => ({ ...cursor, forks: cursor.forks + cursor.pidMax })],
    ["are no longer told", () => undefined],
  ])("looks at all processes when ids %s", async (_, later) => {
    let isLater = false;
    const readCursor = () => {
      const cursor = readPidCursor();
      return isLater && cursor ? later({ ...cursor, lastPid: 1 }) : cursor;
    };
    const started = new StartedProcesses(mark, system({ readCursor }));
    const server = await beginWith(started);
    isLater = true;
    expect(await found(started)).toEqual([server.pid]);
  });

  it("lists all processes if ids are not assigned in order", async () => {
    const cursor = { atMs: 0, lastPid: 0, pidMax: 32_768, threads: 0, forks: 0 };
    const started = new StartedProcesses(mark, system({ readCursor: () => cursor }));
    const server = await beginWith(started);
    expect(await found(started)).toEqual([server.pid]);
  });
});

describe("the ids assigned between two moments", () => {
  const cursor = (lastPid: number, forks: number, more: Partial<PidCursor> = {}): PidCursor => ({
    atMs: 0,
    lastPid,
    forks,
    pidMax: 1000,
    threads: 100,
    ...more,
  });

  it.each([
    ["none", cursor(500, 7), cursor(500, 7), []],
    ["a few", cursor(500, 7), cursor(503, 10), [501, 502, 503]],
    ["over the end", cursor(998, 7), cursor(2, 9), [999, 0, 1, 2]],
  ])("%s", (_, from, to, ids) => {
    const range = pidsBetween(from, to);
    expect([...(range ?? [])]).toEqual(ids);
    expect(range?.size).toBe(ids.length);
    const all = Array.from({ length: 1000 }, (_, pid) => pid);
    expect(all.filter((pid) => range?.has(pid))).toEqual(ids.toSorted((a, b) => a - b));
  });

  it.each([
    ["as many were started as there are ids", cursor(500, 0), cursor(500, 1000)],
    ["few ids are free", cursor(500, 0, { threads: 990 }), cursor(505, 5)],
    ["the number of ids was changed", cursor(500, 0), cursor(505, 5, { pidMax: 2000 })],
    ["the count of starts went back", cursor(500, 9), cursor(505, 5)],
  ])("cannot be told when %s", (_, from, to) => {
    expect(pidsBetween(from, to)).toBeUndefined();
  });
});

function isThere(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
