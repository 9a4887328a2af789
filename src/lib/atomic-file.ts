import { open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { createFolder } from "./create-folder.ts";

/**
 * Replaces a file in one step: readers see the old text or the new one, never half of either, and a crash or a
 * full disk leaves the old one. `path` must already be resolved when it may be a link.
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

/** Makes the new name durable; some platforms cannot open a folder, and then the rename has to do. */
async function syncFolder(folder: string): Promise<void> {
  try {
    const handle = await open(folder, "r");
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  } catch {
    // The file itself is safe already.
  }
}
