import { chmodSync, existsSync, lstatSync, renameSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { prepareStateFile } from "./file.ts";
import { loadSqlite } from "./module.ts";
import { createSchema, identify } from "./schema.ts";
import { classifyFailure, storeError } from "../error.ts";

/** Also the longest time for which a single statement may block this process. */
const busyTimeoutMs = 5000;
/** For how long a file that cannot be written is taken for one that was moved. */
const movedMs = 1000;

/**
 * Opens the state file, creating it if need be; any number of processes may do so at the same moment.
 * A damaged file is moved aside and `onWarning` says where to.
 */
export async function openDatabase(
  path: string,
  onWarning: (message: string) => void,
): Promise<DatabaseSync> {
  const deadline = performance.now() + busyTimeoutMs;
  for (;;) {
    try {
      return open(path);
    } catch (error) {
      const failure = classifyFailure(error, path);
      const reason = failure.reason;
      if (reason === "corrupt") {
        const aside = recover(path);
        if (aside)
          onWarning(`The state file ${path} was damaged. It is now ${aside}, and the state is empty.`);
      } else if (reason !== "busy" && !mayHaveMoved(reason, path)) throw failure;
      const patience = reason === "unwritable" ? movedMs - busyTimeoutMs : 0;
      if (performance.now() > deadline + patience) throw failure;
      // Switching a new file to WAL is one of the few things for which SQLite does not wait by itself.
      await sleep(5 + Math.random() * 20);
    }
  }
}

/** Where another process has just moved a damaged file aside, SQLite finds ours gone and calls that read-only. */
function mayHaveMoved(reason: unknown, path: string): boolean {
  return reason === "unwritable" && existsSync(`${path}.recovery`);
}

function open(path: string): DatabaseSync {
  prepareStateFile(path);
  const database = connect(path);
  try {
    database.exec("PRAGMA synchronous = NORMAL");
    if (identify(database, path) === "empty") createSchema(database, path);
    closeToOthers(path);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

function connect(path: string): DatabaseSync {
  const sqlite = loadSqlite();
  if (!sqlite) throw storeError("unwritable", path, "This Node.js was built without SQLite");
  return new sqlite.DatabaseSync(path, { timeout: busyTimeoutMs });
}

/**
 * Moves a damaged file aside and answers its new name. Several processes may find the damage at once, and only the
 * first may move the file: the second would move the fresh one. So they take turns on a second file that SQLite
 * locks, because such a lock ends with its process.
 */
function recover(path: string): string | undefined {
  try {
    prepareStateFile(`${path}.recovery`);
    const turn = connect(`${path}.recovery`);
    try {
      turn.exec("BEGIN EXCLUSIVE");
      return isDamaged(path) ? moveAside(path) : undefined;
    } finally {
      turn.close();
    }
  } catch (error) {
    throw classifyFailure(error, path);
  }
}

function isDamaged(path: string): boolean {
  try {
    open(path).close();
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

/** A copied or restored file may have become readable for others; its side files take over its mode. */
function closeToOthers(path: string): void {
  if (process.platform === "win32" || (lstatSync(path).mode & 0o077) === 0) return;
  for (const suffix of ["", "-wal", "-shm"]) if (exists(path + suffix)) chmodSync(path + suffix, 0o600);
}

function exists(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}
