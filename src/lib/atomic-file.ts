import { open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { createFolder } from "./create-folder.ts";

/**
 * Replaces a file atomically: readers see either the old or the new text, and a crash or a full disk leaves the old
 * one. If `path` may be a link, resolve it first.
 */
export async function writeFileAtomic(path: string, text: string, mode: number): Promise<void> {
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
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  await syncFolder(folder);
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
