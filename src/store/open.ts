import { isPlugboardError } from "../errors.ts";
import { createMemoryStore } from "./memory.ts";
import { openSqliteStore, type SqliteStoreOptions } from "./sqlite/store.ts";
import type { Store } from "./store.ts";

/**
 * The store at `path`, or one in memory when that place cannot be written: Plugboard is then still useful, and
 * says once what it will not remember. A file that is unsafe, busy, from another program or from a newer Plugboard
 * is an error instead, because going on without what it says could undo somebody's decisions.
 */
export async function openStore(
  options: SqliteStoreOptions,
  onWarning: (message: string) => void,
): Promise<Store> {
  try {
    return await openSqliteStore(options, onWarning);
  } catch (error) {
    if (!isPlugboardError(error, "store-unavailable")) throw error;
    const reason = error.reason;
    if (reason !== "unwritable" && reason !== "full") throw error;
    onWarning(`${error.message}; what Plugboard learns now is forgotten when it ends. ${error.hint}`);
    return createMemoryStore({ now: options.now });
  }
}
