import { readFileSync, readdirSync } from "node:fs";

/** The processor time of all threads of a process so far, in microseconds. */
export function cpuUs(pid: number): number {
  let total = 0;
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    try {
      total += Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "utf8").split(" ")[0]) / 1000;
    } catch {
      // A thread that has ended is not counted; only helper threads end.
    }
  }
  return total;
}

/** Resident memory in MB: now, and the most so far. */
export function residentMb(pid: number): { now: number; peak: number } {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  const mb = (field: string) => Number(new RegExp(`${field}:\\s+(\\d+)`).exec(status)?.[1]) / 1024;
  return { now: mb("VmRSS"), peak: mb("VmHWM") };
}
