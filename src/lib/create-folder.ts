import { lstatSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { isRecord } from "./record.ts";

/** Creates a folder and its parents, accessible only to this user. Node's recursive mkdir never returns if creating fails with ENOENT, as in /proc. */
export function createFolder(folder: string): void {
  if (lstatSync(folder, { throwIfNoEntry: false })) return;
  if (dirname(folder) !== folder) createFolder(dirname(folder));
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    if (!isRecord(error) || error["code"] !== "EEXIST") throw error;
  }
}
