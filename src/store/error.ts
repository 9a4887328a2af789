import { PlugboardError, isPlugboardError } from "../errors.ts";
import { isRecord } from "../lib/record.ts";

/** Why the store is unavailable, as `error.data.reason`. */
export type StoreProblem =
  | "unwritable"
  | "full"
  | "unsupported"
  | "unsafe"
  | "newer"
  | "foreign"
  | "corrupt"
  | "busy"
  | "failed"
  | "closed";

export function storeError(
  reason: StoreProblem,
  path: string | undefined,
  message: string,
  details: { cause?: unknown; hint?: string } = {},
): PlugboardError {
  return new PlugboardError("store-unavailable", message, { ...details, data: { reason, path } });
}

/** True if nothing can be kept: Plugboard then works without the state of earlier runs, instead of against it. */
export function isNowhereToKeep(error: unknown): error is PlugboardError {
  const reasons: unknown[] = ["unwritable", "full", "unsupported"] satisfies StoreProblem[];
  return isPlugboardError(error, "store-unavailable") && reasons.includes(error.reason);
}

/** The reason why other processes cannot be locked out; rethrows errors that do not mean this. */
export function noLock(error: unknown): PlugboardError {
  const others: unknown[] = ["busy", "closed"] satisfies StoreProblem[];
  if (!isPlugboardError(error, "store-unavailable") || others.includes(error.reason)) throw error;
  const message = `${error.message}. Without it, other Plugboard processes cannot be locked out, so nothing was changed.`;
  return new PlugboardError("store-unavailable", message, {
    data: error.data,
    hint: error.hint,
    cause: error,
  });
}

/** Converts an error from SQLite or the file system. */
export function classifyFailure(error: unknown, path: string): PlugboardError {
  if (error instanceof PlugboardError) return error;
  const reason = reasonOf(error);
  const [message, hint] = explanations[reason](path);
  return storeError(reason, path, message, { cause: error, hint });
}

type Explained = "unwritable" | "full" | "corrupt" | "busy" | "failed";

const explanations: Record<Explained, (path: string) => [message: string, hint: string]> = {
  unwritable: (path) => [
    `The state file ${path} cannot be written to`,
    "Make the file and its folder writable, or choose another place for all state with XDG_STATE_HOME.",
  ],
  full: (path) => [`The disk with ${path} is full`, "Free some space and try again; nothing was changed."],
  corrupt: (path) => [`The state file ${path} is damaged`, `Move ${path} away to start with an empty state.`],
  busy: (path) => [
    `The state file ${path} is locked by another process`,
    "Try again; if it stays locked, look for a suspended Plugboard process.",
  ],
  failed: (path) => [`The state file ${path} could not be used`, "Check the cause and try again."],
};

function reasonOf(error: unknown): Explained {
  const { errcode, code } = isRecord(error) ? error : {};
  // Extended result codes keep the primary one in the low byte.
  if (typeof errcode === "number") return sqliteReasons[errcode & 0xff] ?? "failed";
  if (error instanceof SyntaxError) return "corrupt";
  if (code === "ENOSPC" || code === "EDQUOT") return "full";
  return typeof code === "string" &&
    /^E(ACCES|PERM|ROFS|NOENT|NOTDIR|EXIST|IO|LOOP|INVAL|NAMETOOLONG)$/.test(code)
    ? "unwritable"
    : "failed";
}

/** https://www.sqlite.org/rescode.html */
const sqliteReasons: Readonly<Record<number, Explained>> = {
  3: "unwritable", // PERM
  5: "busy", // BUSY
  6: "busy", // LOCKED
  8: "unwritable", // READONLY
  10: "unwritable", // IOERR
  11: "corrupt", // CORRUPT
  13: "full", // FULL
  14: "unwritable", // CANTOPEN
  15: "busy", // PROTOCOL: lost the race for the WAL lock too often
  26: "corrupt", // NOTADB
};
