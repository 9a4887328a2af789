import { readFileSync } from "node:fs";

/** How far Linux has got in giving out process ids: in ascending order, and from the beginning again at the end. */
export interface PidCursor {
  atMs: number;
  /** The id given out last, to a process or a thread. */
  lastPid: number;
  /** Ids are below it. */
  pidMax: number;
  /** How many ids are in use, about. */
  threads: number;
  /** How many processes and threads were ever started. */
  forks: number;
}

export interface PidRange extends Iterable<number> {
  size: number;
  has(pid: number): boolean;
}

/** Undefined where the kernel does not say. These three files are short, and reading them waits for no other process. */
export function readPidCursor(): PidCursor | undefined {
  try {
    const load = /\/(\d+) (\d+)\s*$/.exec(readFileSync("/proc/loadavg", "latin1"));
    const forks = /^processes (\d+)$/m.exec(readFileSync("/proc/stat", "latin1"));
    const pidMax = Number(readFileSync("/proc/sys/kernel/pid_max", "latin1"));
    if (!load || !forks || !(pidMax > 0)) return undefined;
    const [threads, lastPid] = [Number(load[1]), Number(load[2])];
    return { atMs: performance.now(), lastPid, pidMax, threads, forks: Number(forks[1]) };
  } catch {
    return undefined;
  }
}

/** The ids given out between two moments, or undefined if some may have been given out twice. */
export function pidsBetween(from: PidCursor, to: PidCursor): PidRange | undefined {
  const { pidMax } = to;
  const free = pidMax - Math.max(from.threads, to.threads);
  const forks = to.forks - from.forks;
  // Far from a whole round: a fork that fails may use up an id without being counted.
  if (from.pidMax !== pidMax || forks < 0 || forks >= free / 4) return undefined;
  const distance = (pid: number) => (pid - from.lastPid + pidMax) % pidMax;
  const size = distance(to.lastPid);
  return {
    size,
    has: (pid) => distance(pid) > 0 && distance(pid) <= size,
    *[Symbol.iterator]() {
      for (let step = 1; step <= size; step++) yield (from.lastPid + step) % pidMax;
    },
  };
}
