import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";
import { isRecord } from "../lib/record.ts";

/** Who holds a lease. A process id alone is not enough: the system gives it to somebody else later. */
export interface Holder {
  pid: number;
  /** Start time of the process in clock ticks since boot; empty where the system does not tell. */
  started: string;
  /** The machine (and its boot, and the container) in which `pid` means something. */
  place: string;
}

export function currentHolder(): Holder {
  return { pid: process.pid, started: readProcess(process.pid)?.started ?? "", place: currentPlace() };
}

/** True only when it is certain; a holder on another machine or in another container is left to its expiry. */
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
