import { readFileSync } from "node:fs";

/** The kernel's position in assigning process ids. Linux assigns them in ascending order and wraps around. */
export interface PidCursor {
  atMs: number;
  /** The last id assigned to a process or thread. */
  lastPid: number;
  /** All ids are below this. */
  pidMax: number;
  /** Approximately how many ids are in use. */
  threads: number;
  /** How many processes and threads have been started since boot. */
  forks: number;
}

export interface PidRange extends Iterable<number> {
  size: number;
  has(pid: number): boolean;
}

/** Undefined if the kernel does not provide it. Reading these short files never blocks on another process. */
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

/** The ids assigned between two cursors, or undefined if an id may have been assigned twice. */
export function pidsBetween(from: PidCursor, to: PidCursor): PidRange | undefined {
  const { pidMax } = to;
  const free = pidMax - Math.max(from.threads, to.threads);
  const forks = to.forks - from.forks;
  // Stay far from a full wrap-around: a failed fork may use up an id without being counted.
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
