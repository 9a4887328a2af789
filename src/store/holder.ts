import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";
import { isRecord } from "../lib/record.ts";

/** The process that holds a lease. A process id alone is not enough, because the system reuses ids. */
export interface Holder {
  pid: number;
  /** Start time of the process in clock ticks since boot; empty if unknown. */
  started: string;
  /** The machine, boot and container that `pid` belongs to. */
  place: string;
}

export function currentHolder(): Holder {
  return { pid: process.pid, started: readProcess(process.pid)?.started ?? "", place: currentPlace() };
}

/** True only if the process has certainly ended; a lease held on another machine or in another container must expire. */
export function isGone(holder: Holder, here: Holder): boolean {
  if (holder.place !== here.place) return false;
  if (!signalReaches(holder.pid)) return true;
  const found = readProcess(holder.pid);
  if (!found || holder.started === "") return false;
  return found.started !== holder.started || found.state === "Z" || found.state === "X";
}

interface ProcessStat {
  state: string;
  started: string;
}

/** Reads `/proc/<pid>/stat`; the command name in it may contain spaces and parentheses, so count from the last one. */
export function parseProcessStat(text: string): ProcessStat | undefined {
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  const [state, started] = [fields[0], fields[22 - 3]]; // The first field here is field 3 of proc(5).
  return state && started ? { state, started } : undefined;
}

function readProcess(pid: number): ProcessStat | undefined {
  try {
    return parseProcessStat(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return undefined;
  }
}

function signalReaches(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return !isRecord(error) || error["code"] !== "ESRCH";
  }
}

function currentPlace(): string {
  try {
    const boot = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
    return `${boot} ${readlinkSync("/proc/self/ns/pid")}`;
  } catch {
    return hostname();
  }
}
