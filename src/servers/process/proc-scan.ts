import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { processIds, readProc } from "../../lib/proc.ts";

export type MarkerScan = (marker: string) => Promise<number[]>;

/** Process ids with their environments, at least for every live process that can carry the marker. */
type Environments = () => AsyncIterable<[number, string]>;

/**
 * Finds processes by a string in their environment, which also finds a server's descendants after they left its
 * process group. Concurrent searches share one walk over the process table.
 */
export function createMarkerScan(
  platform: NodeJS.Platform = process.platform,
  environments: Environments = () => allEnvironments(platform),
): MarkerScan {
  let waiting: { marker: string; resolve: (pids: number[]) => void }[] = [];
  let walking = false;

  async function walk(): Promise<void> {
    walking = true;
    while (waiting.length > 0) {
      const asked = waiting;
      waiting = [];
      const found = new Map<string, number[]>(asked.map(({ marker }) => [marker, []]));
      for await (const [pid, environment] of environments()) {
        for (const [marker, pids] of found) if (environment.includes(marker)) pids.push(pid);
      }
      for (const { marker, resolve } of asked) resolve(found.get(marker) ?? []);
    }
    walking = false;
  }

  return (marker) =>
    new Promise((resolve) => {
      waiting.push({ marker, resolve });
      // Later searches in this turn join the walk; searches that arrive during a walk get the next one.
      if (!walking) setImmediate(() => (walking ? undefined : void walk()));
    });
}

async function* allEnvironments(platform: NodeJS.Platform): AsyncGenerator<[number, string]> {
  if (platform === "linux") {
    for (const pid of await processIds()) {
      const environment = await readProc(pid, "environ");
      if (environment !== undefined && pid !== process.pid) yield [pid, environment];
    }
  } else if (platform !== "win32") {
    // Not yet tested. On macOS only ps shows the environment of the user's own processes.
    const listing = await run("ps", ["-Aww", "-E", "-o", "pid=,command="]);
    for (const line of listing.split("\n")) {
      const pid = Number.parseInt(line, 10);
      if (pid > 1 && pid !== process.pid) yield [pid, `${line.replaceAll(" ", "\0")}\0`];
    }
  }
}

/** True if a process group has a member that is not a zombie. */
export async function isGroupAlive(group: number): Promise<boolean> {
  if (!signalProcess(-group, 0)) return false;
  if (process.platform !== "linux") return true;
  for (const pid of await processIds()) {
    const stat = parseStat((await readProc(pid, "stat")) ?? "");
    if (stat?.group === group && !isDead(stat)) return true;
  }
  return false;
}

/** A string that distinguishes this process from a later one with the same id. Undefined if it is gone or a zombie. */
export async function processIdentity(pid: number): Promise<string | undefined> {
  if (process.platform === "linux") {
    const stat = parseStat((await readProc(pid, "stat")) ?? "");
    return stat && !isDead(stat) ? stat.startTime : undefined;
  }
  return (await run("ps", ["-o", "lstart=", "-p", String(pid)])).trim() || undefined;
}

/** False if there is no such process. Never passes on ids that mean "every process" to the kernel. */
export function signalProcess(pid: number, signal: NodeJS.Signals | 0): boolean {
  if (!Number.isSafeInteger(pid) || Math.abs(pid) <= 1) return false;
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}

interface ProcessStat {
  state: string;
  group: number;
  startTime: string;
  isKernelThread: boolean;
}

/** The name in parentheses may contain any character, so fields are counted from the last parenthesis. */
export function parseStat(stat: string): ProcessStat | undefined {
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const [state, , group] = fields;
  const startTime = fields[19];
  const isKernelThread = (Number(fields[6]) & kernelThreadFlag) !== 0;
  return state && group && startTime ? { state, group: Number(group), startTime, isKernelThread } : undefined;
}

/** A zombie runs no more; it only waits for its parent to take notice. */
function isDead({ state }: ProcessStat): boolean {
  return state === "Z" || state === "X";
}

/** PF_KTHREAD in the kernel sources. */
const kernelThreadFlag = 0x200000;

async function run(command: string, args: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(command, args, { maxBuffer: 64 << 20 }).catch(() => ({
    stdout: "",
  }));
  return stdout;
}
