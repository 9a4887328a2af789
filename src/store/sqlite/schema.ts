import type { DatabaseSync } from "node:sqlite";
import { storeError } from "../error.ts";

/** Changes only with what would make an older Plugboard do harm: it refuses the file then. See `steps`. */
const schemaVersion = 1;
/** "Plbd", so that another program's file is recognised before anything is written to it. */
const applicationId = 0x506c6264;

/**
 * `version` is an AUTOINCREMENT rowid: replacing a row gives it a new one, and none is ever reused.
 * A lease keeps its row after release, because the row stores the fence.
 */
const schema = `
  CREATE TABLE entries (
    version INTEGER PRIMARY KEY AUTOINCREMENT,
    key TEXT NOT NULL UNIQUE,
    value TEXT NOT NULL,
    expires_at INTEGER
  );
  CREATE INDEX entries_by_expiry ON entries (expires_at) WHERE expires_at IS NOT NULL;
  CREATE TABLE leases (
    name TEXT PRIMARY KEY,
    fence INTEGER NOT NULL,
    owner TEXT,
    pid INTEGER NOT NULL,
    started TEXT NOT NULL,
    place TEXT NOT NULL,
    expires_at INTEGER NOT NULL
  ) WITHOUT ROWID;
  PRAGMA application_id = ${applicationId};
  PRAGMA user_version = ${schemaVersion};
`;

/**
 * What was added to the format since, in order. A file has the first few or all of them; `steps` in it says how many. A
 * Plugboard that does not know the last ones can go on using the file, so going back to it loses nothing.
 */
const steps: readonly string[] = [
  `CREATE TABLE logs (name TEXT PRIMARY KEY, last INTEGER NOT NULL) WITHOUT ROWID;
  CREATE TABLE log_entries (
    log TEXT NOT NULL,
    number INTEGER NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (log, number)
  ) WITHOUT ROWID;`,
  `CREATE TABLE messages (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    channel TEXT NOT NULL,
    message TEXT NOT NULL,
    at INTEGER NOT NULL
  );`,
  `CREATE TABLE counters (name TEXT PRIMARY KEY, total REAL NOT NULL, ends_at INTEGER NOT NULL) WITHOUT ROWID;`,
  `CREATE TABLE present (
    name TEXT NOT NULL,
    id TEXT NOT NULL,
    value TEXT NOT NULL,
    owner TEXT NOT NULL,
    pid INTEGER NOT NULL,
    started TEXT NOT NULL,
    place TEXT NOT NULL,
    expires_at INTEGER NOT NULL,
    PRIMARY KEY (name, id)
  ) WITHOUT ROWID;`,
];

const elsewhere =
  "Move the file away, or choose another place: XDG_STATE_HOME for all state, `store` for the file that `store` names.";

/**
 * Distinguishes our own file from an empty one and refuses all others. Uses one transaction, because another process
 * may be creating the schema right now, and a half-created schema would look like another program's file.
 */
export function identify(database: DatabaseSync, path: string): "ours" | "empty" {
  database.exec("BEGIN");
  try {
    return readIdentity(database, path);
  } finally {
    database.exec("ROLLBACK");
  }
}

function readIdentity(database: DatabaseSync, path: string): "ours" | "empty" {
  const version = pragma(database, "user_version");
  const application = pragma(database, "application_id");
  if (application === applicationId && version === schemaVersion) {
    database.prepare("SELECT 1 FROM entries, leases"); // Reads the schema, so that damage to it is detected now.
    return "ours";
  }
  if (application === applicationId && version > schemaVersion) {
    throw storeError(
      "newer",
      path,
      `The state file ${path} was written by a newer Plugboard (format ${version})`,
      {
        hint: `Update Plugboard. ${elsewhere}`,
      },
    );
  }
  if (application === 0 && version === 0 && pragma(database, "schema_version") === 0) return "empty";
  throw storeError("foreign", path, `${path} is another program's database`, {
    hint: elsewhere,
  });
}

/** Safe if several processes do it at the same time: all but the first find the schema already created. */
export function createSchema(database: DatabaseSync, path: string): void {
  database.exec("PRAGMA journal_mode = WAL");
  database.exec("BEGIN IMMEDIATE");
  if (readIdentity(database, path) === "empty") database.exec(schema);
  takeSteps(database);
  database.exec("COMMIT");
}

/** Brings a file of an earlier Plugboard to the format of today; everything in it stays. Several processes may do it. */
export function updateSchema(database: DatabaseSync): void {
  if (stepsTaken(database) >= steps.length) return;
  database.exec("BEGIN IMMEDIATE");
  takeSteps(database);
  database.exec("COMMIT");
}

function takeSteps(database: DatabaseSync): void {
  const taken = stepsTaken(database);
  if (taken >= steps.length) return;
  database.exec("CREATE TABLE IF NOT EXISTS steps (taken INTEGER PRIMARY KEY)");
  for (const step of steps.slice(taken)) database.exec(step);
  database.prepare("INSERT INTO steps (taken) VALUES (?)").run(steps.length);
}

function stepsTaken(database: DatabaseSync): number {
  const isThere = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'steps'").get() !== undefined;
  return isThere ? Number(database.prepare("SELECT max(taken) AS taken FROM steps").get()?.["taken"]) : 0;
}

function pragma(database: DatabaseSync, name: "user_version" | "application_id" | "schema_version"): number {
  return Number(database.prepare(`PRAGMA ${name}`).get()?.[name]);
}
