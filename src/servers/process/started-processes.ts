import { readFileSync, statSync } from "node:fs";
import { setImmediate as nextTurn } from "node:timers/promises";
import { processIds, readProc } from "../../lib/proc.ts";
import { pidsBetween, readPidCursor, type PidCursor, type PidRange } from "./pid-cursor.ts";
import { parseStat } from "./proc-scan.ts";

export interface PidSystem {
  readCursor(): PidCursor | undefined;
  /** The inode of /proc/<pid>; undefined if there is no such process. */
  inodeOf(pid: number): number | undefined;
}

/**
 * Finds the processes that a hub's servers started, without reading the environment of every process on the machine.
 * A descendant gets its id after the server got its own, and Linux assigns ids in order, so only later ids need to be
 * checked. Where that is uncertain, all processes are listed, and those older than the servers are skipped.
 */
export class StartedProcesses {
  readonly #mark: string;
  readonly #system: PidSystem;
  /** Oldest first. Ids assigned before the first are settled. Empty if all processes have to be listed. */
  #looks: PidCursor[] = [];
  /** Until this time all processes are listed. */
  #listUntilMs = 0;
  #firstStart: number | undefined;
  /** Checked every time: they carry the marker, or their environment could not be read. */
  readonly #open = new Set<number>();
  /** Processes that are not ours: id and inode of /proc/<pid>. A later process with the same id has another inode. */
  readonly #strangers = new Map<number, number>();

  constructor(mark: string, system: PidSystem = { readCursor: readPidCursor, inodeOf }) {
    this.#mark = mark;
    this.#system = system;
  }

  /** Call right before starting a server while no other one runs: no existing process is ours. */
  begin(): void {
    const cursor = this.#system.readCursor();
    this.#looks = cursor ? [cursor] : [];
    this.#firstStart = undefined;
    this.#open.clear();
  }

  /** Call right after a server was started. */
  add(pid: number): void {
    if (this.#firstStart !== undefined) return;
    this.#firstStart = Number(parseStat(readNow(pid, "stat"))?.startTime ?? 0);
    const [from] = this.#looks;
    const to = this.#system.readCursor();
    // Not every system with a /proc assigns ids the way Linux does.
    if (!from || !to || !pidsBetween(from, to)?.has(pid)) this.#looks = [];
  }

  /** The environments of all live processes that carry the marker. Continues while new processes are being started. */
  async *environments(): AsyncGenerator<[number, string]> {
    const seen = new Set<number>();
    for (let round = 0; round < maxRounds; round++) {
      const cursor = this.#system.readCursor();
      let count = 0;
      for (const pid of await this.#candidates(cursor)) {
        if (++count % maxProbes === 0) await nextTurn();
        if (seen.has(pid)) continue;
        const inode = this.#system.inodeOf(pid);
        if (inode === undefined) this.#open.delete(pid);
        else seen.add(pid);
        if (inode === undefined || this.#strangers.get(pid) === inode) continue;
        const environment = await this.#examine(pid, inode);
        if (environment !== undefined) yield [pid, environment];
      }
      this.#settle(cursor);
      // Nothing was started meanwhile, so no process can have passed on the marker and exited before we saw it.
      if (cursor === undefined || this.#system.readCursor()?.lastPid === cursor.lastPid) return;
    }
  }

  async #candidates(cursor: PidCursor | undefined): Promise<Iterable<number>> {
    const range = this.#range(cursor);
    if (range && range.size <= maxProbes) return new Set([...this.#open, ...range]);
    const all = await processIds();
    return range ? all.filter((pid) => range.has(pid) || this.#open.has(pid)) : all;
  }

  #range(cursor: PidCursor | undefined): PidRange | undefined {
    const [from] = this.#looks;
    if (!from || !cursor || cursor.atMs < this.#listUntilMs) return undefined;
    const range = pidsBetween(from, cursor);
    if (range === undefined) {
      this.#looks = [cursor];
      this.#listUntilMs = cursor.atMs + forkMs;
    }
    return range;
  }

  async #examine(pid: number, inode: number): Promise<string | undefined> {
    const stat = parseStat(readNow(pid, "stat"));
    const isOlder = Number(stat?.startTime) < (this.#firstStart ?? 0);
    if (stat?.isKernelThread || isOlder || isThread(pid)) {
      this.#setAside(pid, inode);
      return undefined;
    }
    const environment = stat?.state === "Z" ? "" : await readProc(pid, "environ");
    const isMarked = environment?.includes(this.#mark) ?? false;
    // The environment is briefly empty during exec, and unreadable while the process has elevated privileges.
    if (environment && !isMarked) this.#setAside(pid, inode);
    else this.#open.add(pid);
    return isMarked ? environment : undefined;
  }

  #setAside(pid: number, inode: number): void {
    this.#open.delete(pid);
    if (this.#strangers.size >= maxStrangers) this.#strangers.clear();
    this.#strangers.set(pid, inode);
  }

  /** A process gets its id a moment before it becomes visible, so unused ids are checked again for a while. */
  #settle(cursor: PidCursor | undefined): void {
    const last = this.#looks.at(-1);
    if (!cursor || !last || cursor.atMs - last.atMs < forkMs / 10) return;
    this.#looks.push(cursor);
    while (this.#looks[1] && this.#looks[1].atMs < cursor.atMs - forkMs) this.#looks.shift();
  }
}

/** Above this many ids, listing all processes is cheaper than trying the ids one by one. */
const maxProbes = 256;
const maxRounds = 10;
const maxStrangers = 10_000;
/** Longer than any fork takes, even on an overloaded machine. */
const forkMs = 10_000;

function inodeOf(pid: number): number | undefined {
  return statSync(`/proc/${pid}`, { throwIfNoEntry: false })?.ino;
}

/** Threads have ids and /proc folders like processes, but are not listed and share their process's environment. */
function isThread(pid: number): boolean {
  const leader = /^Tgid:\s*(\d+)$/m.exec(readNow(pid, "status"))?.[1];
  return leader !== undefined && Number(leader) !== pid;
}

/** Only for files that do not access the memory of the process, which can be locked for a long time. */
function readNow(pid: number, name: "stat" | "status"): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, "latin1");
  } catch {
    return "";
  }
}
