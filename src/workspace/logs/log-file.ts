import { appendFileSync, closeSync, openSync, readFileSync, renameSync, rmSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { createFolder } from "../../lib/create-folder.ts";

/** One file may grow to this size. Then it becomes the older one, of which there is one at most. */
const maxBytes = 512 * 1024;
/** Turning a file over takes a moment; whoever left this mark behind longer ago has died. */
const staleMs = 10_000;

/** The file before the current one. */
export function olderFile(path: string): string {
  return `${path}.1`;
}

/**
 * Appends whole lines to a log that several processes write, readable only by this user. One call is one write at the
 * end of the file, so lines of others are never mixed with ours.
 */
export function appendLog(path: string, lines: string): void {
  createFolder(dirname(path));
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  if (size > 0 && size + lines.length > maxBytes) turnOver(path, lines.length);
  appendFileSync(path, lines, { mode: 0o600 });
}

/** Only one process does it at a time; the others go on with the file that they find. */
function turnOver(path: string, length: number): void {
  const mark = `${path}.turning`;
  const age = Date.now() - (statSync(mark, { throwIfNoEntry: false })?.mtimeMs ?? Infinity);
  if (age > staleMs) rmSync(mark, { force: true });
  try {
    closeSync(openSync(mark, "wx", 0o600));
  } catch {
    return;
  }
  try {
    // Another process may have done it in the meantime.
    if (statSync(path).size + length > maxBytes) renameSync(path, olderFile(path));
  } finally {
    rmSync(mark, { force: true });
  }
}

/** What is in the log, the oldest first; empty if there is none. */
export function readLog(path: string): string {
  return [olderFile(path), path].map(readText).join("");
}

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return "";
    throw error;
  }
}
