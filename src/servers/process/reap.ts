import { createFolder } from "../../lib/create-folder.ts";
import { readdir, readFile, readlink, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { readBoundedFile } from "../../lib/bounded-file.ts";
import { isRecord } from "../../lib/record.ts";
import { ownerVariable } from "./environment.ts";
import { processIdentity, signalProcess, type MarkerScan } from "./proc-scan.ts";

/** The owner of a set of server processes. Process ids are only valid within one boot and one pid namespace. */
interface OwnerRecord {
  owner: string;
  pid: number;
  startTime: string;
  boot: string;
  namespace: string;
}

/** Marks every process of one owner. The dot prevents one owner from being a prefix of another. */
export function ownerMarker(owner: string): string {
  return `${ownerVariable}=${owner}.`;
}

export function recordPath(stateFolder: string, owner: string): string {
  return join(stateFolder, "owners", `${owner}.json`);
}

/** Lets the next start find our leftover processes if both we and the watchdog are killed. */
export async function writeOwnerRecord(stateFolder: string, owner: string): Promise<void> {
  const startTime = (await processIdentity(process.pid)) ?? "";
  const record: OwnerRecord = { owner, pid: process.pid, startTime, ...(await bootIdentity()) };
  createFolder(join(stateFolder, "owners"));
  await writeFile(recordPath(stateFolder, owner), JSON.stringify(record), { mode: 0o600, flag: "wx" });
}

export async function removeOwnerRecord(stateFolder: string, owner: string): Promise<void> {
  await rm(recordPath(stateFolder, owner), { force: true }).catch(() => undefined);
}

/** Ends the processes of owners that are no longer running, and returns how many there were. */
export async function reapLeftovers(stateFolder: string, scan: MarkerScan, termMs = 1000): Promise<number> {
  const folder = join(stateFolder, "owners");
  const names = await readdir(folder).catch(() => []);
  const here = await bootIdentity();
  const reaped = names.map(async (name) => {
    const path = join(folder, name);
    const record = await readOwnerRecord(path);
    if (record === undefined) return 0;
    const sameBoot = record.boot === here.boot;
    if (sameBoot && record.namespace !== here.namespace) return 0;
    if (sameBoot && (await processIdentity(record.pid)) === record.startTime) return 0;
    const count = sameBoot ? await endMarked(ownerMarker(record.owner), scan, termMs) : 0;
    await rm(path, { force: true });
    return count;
  });
  return (await Promise.all(reaped)).reduce((sum, count) => sum + count, 0);
}

async function endMarked(marker: string, scan: MarkerScan, termMs: number): Promise<number> {
  const found = await scan(marker);
  for (const pid of found) signalProcess(pid, "SIGTERM");
  await goneWithin(async () => (await scan(marker)).length === 0, termMs);
  await killMarked(marker, scan);
  return found.length;
}

/** Kills until no process carries the marker. Gives up on processes that the kernel cannot kill. */
export async function killMarked(marker: string, scan: MarkerScan): Promise<void> {
  for (let round = 0; round < 20; round++) {
    const left = await scan(marker);
    if (left.length === 0) return;
    for (const pid of left) signalProcess(pid, "SIGKILL");
    await new Promise((resolve) => setTimeout(resolve, 10 * round));
  }
}

/** Polls at growing intervals until `isGone` returns true or the time is up. */
export async function goneWithin(isGone: () => Promise<boolean>, ms: number): Promise<void> {
  const deadline = performance.now() + ms;
  for (let pauseMs = 10; !(await isGone()); pauseMs = Math.min(2 * pauseMs, 160)) {
    const leftMs = deadline - performance.now();
    if (leftMs <= 0) return;
    await new Promise((resolve) => setTimeout(resolve, Math.min(pauseMs, leftMs)));
  }
}

async function readOwnerRecord(path: string): Promise<OwnerRecord | undefined> {
  const read = await readBoundedFile(path, 4096);
  if (read.kind !== "text") return undefined;
  try {
    const value: unknown = JSON.parse(read.text);
    if (!isRecord(value)) return undefined;
    const { owner, pid, startTime, boot, namespace } = value;
    // Anything other than a complete UUID could match processes that are not ours.
    if (typeof owner !== "string" || !/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(owner))
      return undefined;
    if (typeof pid !== "number" || typeof startTime !== "string") return undefined;
    if (typeof boot !== "string" || typeof namespace !== "string") return undefined;
    return { owner, pid, startTime, boot, namespace };
  } catch {
    return undefined;
  }
}

async function bootIdentity(): Promise<{ boot: string; namespace: string }> {
  const boot = await readFile("/proc/sys/kernel/random/boot_id", "utf8").catch(() => "");
  const namespace = await readlink("/proc/self/ns/pid").catch(() => "");
  return { boot: boot.trim(), namespace };
}
