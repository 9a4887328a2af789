import { lstat, mkdir, readdir, rename, rm, rmdir } from "node:fs/promises";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { isNpxFolder } from "./folder.ts";
import { npxUsers } from "./users.ts";

/** npm holds it while it installs, and touches it every second. It is not removed if npm is killed. */
const lockName = "concurrency.lock";
/** npm itself takes a lock from a process that has not touched it for this long. */
const staleMs = 60_000;

export type Repair = "whole" | "repaired" | "in-use";

/**
 * Removes what a killed `npx` left in its folder. Left alone, the next `npx` waits a minute for the lock of the dead one,
 * takes packages of which only some files were written for whole ones, and never repairs them. Does nothing while
 * another process may be using the folder.
 */
export async function repairNpxFolder(folder: string, packages: readonly string[]): Promise<Repair> {
  for (let tries = 0; tries < maxTries; tries++) {
    const isUnfinished = isUnfinishedInstall(folder);
    const lock = await lstat(join(folder, lockName)).catch(() => undefined);
    if (!isUnfinished && !lock) return "whole";
    const users = await npxUsers(folder, packages);
    const isInUse = users === undefined ? lock && Date.now() - lock.mtimeMs < staleMs : users.length > 0;
    if (isInUse) return "in-use";
    if (!(await takeLock(folder, lock?.ino))) {
      // Another Plugboard is doing it.
      await sleep(pauseMs);
      continue;
    }
    try {
      if (isUnfinished) await empty(folder);
    } finally {
      await rmdir(join(folder, lockName)).catch(() => undefined);
    }
    return "repaired";
  }
  return "in-use";
}

export interface Deletion {
  isDeleted: boolean;
  /** The processes that use it, which is why it is left. */
  users: number[];
}

/** Deletes a folder of `npx`, unless a process uses it. npm creates it again. A folder that was replaced meanwhile is kept. */
export async function deleteNpxFolder(folder: string, cache: string): Promise<Deletion> {
  const users = (await npxUsers(folder, [])) ?? [];
  const isDeleted = users.length === 0 && (await isNpxFolder(folder, cache));
  if (isDeleted) await rm(folder, { recursive: true, force: true, maxRetries: 3 });
  return { isDeleted, users };
}

const maxTries = 100;
const pauseMs = 100;

/** npm writes these two files when all packages are unpacked. An install that replaces another one keeps the old ones. */
function isUnfinishedInstall(folder: string): boolean {
  const modules = join(folder, "node_modules");
  const isFinished = ["package-lock.json", "node_modules/.package-lock.json"].some((name) =>
    existsSync(join(folder, name)),
  );
  return !isFinished && existsSync(modules);
}

/** npm waits for this lock as for one of its own. False if another process took it meanwhile. */
async function takeLock(folder: string, staleInode: number | undefined): Promise<boolean> {
  const lock = join(folder, lockName);
  try {
    if (staleInode !== undefined) {
      if ((await lstat(lock)).ino !== staleInode) return false;
      const aside = join(folder, `${lockName}.${staleInode}`);
      await rename(lock, aside);
      await rmdir(aside);
    }
    await mkdir(lock);
    return true;
  } catch {
    return false;
  }
}

async function empty(folder: string): Promise<void> {
  // The lock stays to the end.
  const names = (await readdir(folder)).filter((name) => name !== lockName);
  for (const name of names) await rm(join(folder, name), { recursive: true, force: true, maxRetries: 3 });
}
