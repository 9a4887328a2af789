import { lstatSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { isRecord } from "./record.ts";

/** Creates a folder and those above it, for this user only. Node's own recursive mkdir never returns where creating answers ENOENT, as in /proc. */
export function createFolder(folder: string): void {
  if (lstatSync(folder, { throwIfNoEntry: false })) return;
  if (dirname(folder) !== folder) createFolder(dirname(folder));
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    if (!isRecord(error) || error["code"] !== "EEXIST") throw error;
  }
}
