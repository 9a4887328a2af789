import { resolve } from "node:path";
import type { SQLInputValue } from "node:sqlite";
import { checkKey, encodeValue, expiryOf } from "../entry.ts";
import { waitForLease } from "../lease.ts";
import { createCounterTable } from "./counters.ts";
import { createLeaseTable } from "./leases.ts";
import { createLogTable } from "./log.ts";
import { createMessageTable } from "./messages.ts";
import { openDatabase } from "./open.ts";
import { createPresenceTable } from "./presence.ts";
import { createRun, type Row } from "./run.ts";
import { classifyFailure, storeError } from "../error.ts";
import type { Clock, Store, StoredValue } from "../store.ts";
import { parseExact } from "../../lib/exact-json.ts";

export interface SqliteStoreOptions {
  path: string;
  now?: Clock | undefined;
}

/**
 * Keeps state in one SQLite file, shared by all processes of this user on this machine. Every operation is a single
 * statement and so its own transaction, or one of several. In WAL mode with `synchronous = NORMAL`, a killed process loses nothing; a power
 * failure may lose the last writes, but never leaves half of one.
 */
export async function openSqliteStore(
  options: SqliteStoreOptions,
  onWarning: (message: string) => void,
): Promise<Store> {
  const path = resolve(options.path);
  const now = options.now ?? Date.now;
  const closing = new AbortController();
  const statements = createRun(await openDatabase(path, onWarning), path, closing.signal);
  const { run } = statements;
  const owner = process.getBuiltinModule("node:crypto").randomUUID();
  const leases = createLeaseTable(run, now, owner);
  const messages = createMessageTable(statements, now);
  const presence = createPresenceTable(run, now, owner);
  let sweepDueAt = -Infinity;

  const toValue = (row: Row): StoredValue => {
    try {
      return { value: parseExact(String(row["value"])), version: Number(row["version"]) };
    } catch (error) {
      throw classifyFailure(error, path);
    }
  };

  const sweep = (): void => {
    if (now() < sweepDueAt) return;
    sweepDueAt = now() + sweepIntervalMs;
    try {
      if (run(deleteExpired, now()).length === sweepBatch) sweepDueAt = -Infinity;
    } catch {
      // The write before this succeeded, and expired entries are invisible anyway.
    }
  };

  const write = (sql: string, ...values: SQLInputValue[]): number | undefined => {
    const [row] = run(sql, ...values);
    if (!row) return undefined;
    sweep();
    return Number(row["version"]);
  };

  return {
    durable: true,
    async get(key) {
      checkKey(key);
      const [row] = run(select, key, now());
      return row && toValue(row);
    },
    async set(key, value, setOptions) {
      checkKey(key);
      const version = write(replace, key, encodeValue(key, value), expiryOf(setOptions, now));
      if (version === undefined)
        throw storeError("failed", path, `The state file ${path} did not store the value for ${key}`);
      return version;
    },
    async compareAndSet(key, expectedVersion, value, setOptions) {
      checkKey(key);
      const expiry = expiryOf(setOptions, now);
      return write(replaceIf, key, encodeValue(key, value), expiry, now(), expectedVersion ?? null);
    },
    async delete(key, expectedVersion) {
      checkKey(key);
      const [row] = run(remove, key, now(), expectedVersion ?? null);
      return row !== undefined && row["expired"] === 0;
    },
    async list(prefix, { limit = -1, after = "" } = {}) {
      const rows = run(selectRange, prefix, after, now(), Number.isFinite(limit) ? limit : -1);
      return rows.map((row) => ({ key: String(row["key"]), ...toValue(row) }));
    },
    async acquireLease(name, leaseOptions) {
      checkKey(name);
      return waitForLease(() => leases.tryAcquire(name, leaseOptions.ttlMs), leaseOptions, closing.signal);
    },
    log: createLogTable(statements, path),
    messages,
    counters: createCounterTable(run, now),
    presence,
    async close() {
      if (closing.signal.aborted) return;
      for (const part of [leases, presence, messages]) part.close();
      closing.abort(storeError("closed", path, "The store is closed"));
      statements.close();
    },
  };
}

const sweepIntervalMs = 60_000;
const sweepBatch = 200;

const isLive = "(expires_at IS NULL OR expires_at > ?)";
const select = `SELECT value, version FROM entries WHERE key = ? AND ${isLive}`;
const replace = "INSERT OR REPLACE INTO entries (key, value, expires_at) VALUES (?, ?, ?) RETURNING version";
const replaceIf = `INSERT OR REPLACE INTO entries (key, value, expires_at) SELECT ?1, ?2, ?3
  WHERE (SELECT version FROM entries WHERE key = ?1 AND (expires_at IS NULL OR expires_at > ?4)) IS ?5
  RETURNING version`;
const remove = `DELETE FROM entries WHERE key = ?1 AND ifnull(version = ?3, 1)
  RETURNING ifnull(expires_at <= ?2, 0) AS expired`;
// 0xff sorts after every byte of UTF-8, so this is the end of the keys that start with the prefix.
const selectRange = `SELECT key, value, version FROM entries
  WHERE key >= ? AND key < ?1 || CAST(x'ff' AS TEXT) AND key > ? AND ${isLive} ORDER BY key LIMIT ?`;
const deleteExpired = `DELETE FROM entries
  WHERE version IN (SELECT version FROM entries WHERE expires_at <= ? LIMIT ${sweepBatch}) RETURNING version`;
