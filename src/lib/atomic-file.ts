import { renameSync } from "node:fs";
import { open, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { createFolder } from "./create-folder.ts";
import { assertHeld } from "./held.ts";
import type { Held } from "./held.ts";

export interface Replacing {
  mode: number;
  held: Held;
  /** Asked last: false keeps the file as it is. */
  isCurrent?: () => Promise<boolean>;
}

/**
 * Replaces a file that several processes write, atomically: readers see either the old or the new text, and a crash or
 * a full disk leaves the old one. If `path` may be a link, resolve it first. The lock is checked last, so that a folder
 * that cannot be written is reported as such even if there is no lock either. False if `isCurrent` said no.
 */
export async function writeFileAtomic(
  path: string,
  text: string,
  { mode, held, isCurrent }: Replacing,
): Promise<boolean> {
  const folder = dirname(path);
  createFolder(folder);
  const { randomBytes } = process.getBuiltinModule("node:crypto");
  const temporary = `${path}.${process.pid}-${randomBytes(4).toString("hex")}.tmp`;
  try {
    const file = await open(temporary, "wx", mode);
    try {
      await file.writeFile(text);
      await file.chmod(mode);
      await file.sync();
    } finally {
      await file.close();
    }
    await assertHeld(held);
    if (isCurrent && !(await isCurrent())) {
      await rm(temporary, { force: true });
      return false;
    }
    renameSync(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  await syncFolder(folder);
  return true;
}

/** Makes the rename durable, on platforms that can open a folder. */
async function syncFolder(folder: string): Promise<void> {
  try {
    const handle = await open(folder, "r");
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  } catch {
    // The file's content is already on disk.
  }
}
