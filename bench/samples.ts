import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** What a process holds, when it has had a moment to let go of what it does not need. */
export interface Sample {
  at: string;
  heapMb: number;
  residentMb: number;
  /** The handles that keep this process alive, by type. */
  handles: Record<string, number>;
  files: number;
  children: number;
}

const allowedHeapMb = 2;
setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

/** What has grown between two samples. `pooled` sockets and `handles` of each type may come and go. */
export function growth(first: Sample, last: Sample, pooled: number, handles = 0): string[] {
  const grown = (name: string, before: number, after: number, allowed = 0) =>
    after > before + allowed ? [`${name} from ${before} to ${after} (${first.at} to ${last.at})`] : [];
  return [
    ...grown("heap MB", first.heapMb, last.heapMb, allowedHeapMb),
    ...grown("open files", first.files, last.files, pooled),
    ...grown("child processes", first.children, last.children),
    ...Object.entries(last.handles).flatMap(([type, count]) =>
      grown(type, first.handles[type] ?? 0, count, handles),
    ),
  ];
}

export async function sample(at: string): Promise<Sample> {
  // Give pooled sockets and late timers a moment to close.
  await sleep(1500);
  for (let i = 0; i < 3; i++) {
    collectGarbage();
    await sleep(20);
  }
  const { heapUsed, rss } = process.memoryUsage();
  const handles: Record<string, number> = {};
  for (const type of process.getActiveResourcesInfo()) handles[type] = (handles[type] ?? 0) + 1;
  return {
    at,
    heapMb: round(heapUsed),
    residentMb: round(rss),
    handles,
    files: readdirSync("/proc/self/fd").length,
    children: childProcesses(),
  };
}

export function print({ at, heapMb, residentMb, handles, files, children }: Sample): void {
  const types = Object.entries(handles)
    .sort(([a], [b]) => a.localeCompare(b))
    .map(([type, count]) => `${type} ${count}`);
  console.log(
    `${at.padEnd(16)} heap ${heapMb} MB, resident ${residentMb} MB, files ${files}, children ${children}, ` +
      `handles: ${types.join(", ") || "none"}`,
  );
}

/** The direct children, including the fake HTTP servers and, while servers run, the watchdog. */
function childProcesses(): number {
  const isChild = (pid: string) => {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
      return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1] === String(process.pid);
    } catch {
      return false;
    }
  };
  return readdirSync("/proc").filter((name) => /^\d+$/.test(name) && isChild(name)).length;
}

function round(bytes: number): number {
  return Math.round((bytes / 1024 / 1024) * 10) / 10;
}
