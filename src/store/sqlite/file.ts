import { accessSync, closeSync, constants, lstatSync, openSync, type Stats } from "node:fs";
import { dirname } from "node:path";
import { createFolder } from "../../lib/create-folder.ts";
import { isRecord } from "../../lib/record.ts";
import { storeError } from "../error.ts";

/**
 * Ensures that the state file exists and that only this user can change it and its folder. Existing files are not
 * changed, and never opened here: closing any descriptor of a file drops the locks that SQLite holds on it in the same
 * process.
 */
export function prepareStateFile(path: string): void {
  const folder = dirname(path);
  createFolder(folder);
  checkFolder(folder);
  const file = lstatSync(path, { throwIfNoEntry: false }) ?? createEmpty(path);
  if (file.isSymbolicLink() || !file.isFile()) {
    throw unsafe(path, file.isSymbolicLink() ? "is a symbolic link" : "is not a regular file");
  }
  checkOwner(path, file);
  checkMode(path, file);
  accessSync(path, constants.R_OK | constants.W_OK);
}

function checkFolder(folder: string): void {
  const stats = lstatSync(folder);
  if (stats.isSymbolicLink()) throw unsafe(folder, "is a symbolic link");
  accessSync(folder, constants.W_OK | constants.X_OK);
  checkOwner(folder, stats);
  checkMode(folder, stats);
}

function createEmpty(path: string): Stats {
  try {
    closeSync(openSync(path, "wx", 0o600));
  } catch (error) {
    if (!isRecord(error) || error["code"] !== "EEXIST") throw error;
  }
  return lstatSync(path);
}

function checkOwner(path: string, stats: Stats): void {
  const user = process.getuid?.();
  if (user === undefined || stats.uid === user) return;
  throw unsafe(path, `belongs to user ${stats.uid}, not to you (${user})`);
}

function checkMode(path: string, stats: Stats): void {
  if (process.platform === "win32" || (stats.mode & 0o022) === 0) return;
  throw unsafe(
    path,
    "can be changed by other users",
    `Make sure that nobody changed it, then run \`chmod go-w ${path}\`.`,
  );
}

function unsafe(path: string, what: string, hint = "Fix this, or choose another place for the state.") {
  return storeError("unsafe", path, `This is not a safe place for Plugboard's state: ${path} ${what}`, {
    hint,
  });
}
