import { chmodSync, existsSync, lstatSync, renameSync, statSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { prepareStateFile } from "./file.ts";
import { loadSqlite } from "./module.ts";
import { createSchema, identify, updateSchema } from "./schema.ts";
import { classifyFailure, storeError } from "../error.ts";

/** Also the longest time that a single statement may block this process. */
const busyTimeoutMs = 5000;
/** How long to retry a file that cannot be written, because another process may just have moved it aside. */
const movedMs = 1000;

export interface OpenFile {
  database: DatabaseSync;
  /** False once the path leads to another file, or to none: other processes then use another one too. */
  isCurrent(): boolean;
}

/**
 * Opens the state file and creates it if necessary; several processes may do this at the same time.
 * Moves a damaged file aside and reports its new name to `onWarning`.
 */
export async function openDatabase(path: string, onWarning: (message: string) => void): Promise<OpenFile> {
  const deadline = performance.now() + busyTimeoutMs;
  for (;;) {
    try {
      return openFile(path);
    } catch (error) {
      const failure = classifyFailure(error, path);
      const reason = failure.reason;
      if (reason === "corrupt") {
        const aside = recover(path);
        if (aside)
          onWarning(
            `The state file ${path} was damaged and has been moved to ${aside}. Plugboard starts with an empty state.`,
          );
      } else if (reason !== "busy" && !mayHaveMoved(reason, path)) throw failure;
      const extraMs = reason === "unwritable" ? movedMs - busyTimeoutMs : 0;
      if (performance.now() > deadline + extraMs) throw failure;
      // SQLite does not wait by itself when a new file is switched to WAL.
      await sleep(5 + Math.random() * 20);
    }
  }
}

/** If another process has just moved a damaged file aside, SQLite reports our file as read-only. */
function mayHaveMoved(reason: unknown, path: string): boolean {
  return reason === "unwritable" && existsSync(`${path}.recovery`);
}

/** Opens the state file without repairing it or waiting for other processes. */
export function openFile(path: string): OpenFile {
  prepareStateFile(path);
  const file = identityOf(path);
  const database = connect(path);
  try {
    database.exec("PRAGMA synchronous = NORMAL");
    if (identify(database, path) === "empty") createSchema(database, path);
    else updateSchema(database);
    makePrivate(path);
    return { database, isCurrent: () => identityOf(path) === file };
  } catch (error) {
    database.close();
    throw error;
  }
}

/** Of the file at this path now. An open file keeps its number, so a new one has another. */
function identityOf(path: string): string | undefined {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  return found && `${found.dev}:${found.ino}`;
}

function connect(path: string): DatabaseSync {
  const sqlite = loadSqlite();
  if (!sqlite) {
    const hint = "Use a Node.js with SQLite; all official builds have it, unless an option switches it off.";
    throw storeError("unsupported", path, `This Node.js has no SQLite for the state file ${path}`, { hint });
  }
  return new sqlite.DatabaseSync(path, { timeout: busyTimeoutMs });
}

/**
 * Moves a damaged file aside and returns its new name. Several processes may find the damage at the same time, but only
 * the first may move the file: the second would move the new one. They take turns with an SQLite lock on a second file,
 * because such a lock ends with its process.
 */
function recover(path: string): string | undefined {
  try {
    prepareStateFile(`${path}.recovery`);
    const lock = connect(`${path}.recovery`);
    try {
      lock.exec("BEGIN EXCLUSIVE");
      return isDamaged(path) ? moveAside(path) : undefined;
    } finally {
      lock.close();
    }
  } catch (error) {
    throw classifyFailure(error, path);
  }
}

function isDamaged(path: string): boolean {
  try {
    openFile(path).database.close();
    return false;
  } catch (error) {
    return classifyFailure(error, path).reason === "corrupt";
  }
}

function moveAside(path: string): string {
  const aside = `${path}.corrupt-${new Date().toISOString().replace(/\W/g, "")}`;
  for (const suffix of ["-wal", "-shm", ""])
    if (exists(path + suffix)) renameSync(path + suffix, aside + suffix);
  return aside;
}

/** A copied or restored file may be readable by other users, and SQLite's side files inherit its mode. */
function makePrivate(path: string): void {
  if (process.platform === "win32" || (lstatSync(path).mode & 0o077) === 0) return;
  for (const suffix of ["", "-wal", "-shm"]) if (exists(path + suffix)) chmodSync(path + suffix, 0o600);
}

function exists(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}
