import { isPlugboardError } from "../errors.ts";
import { createMemoryStore } from "./memory.ts";
import { openSqliteStore, type SqliteStoreOptions } from "./sqlite/store.ts";
import type { Store } from "./store.ts";

/**
 * Opens the store at `path`. If it cannot be written, warns once and returns a store in memory, so that Plugboard still
 * works. A file that is unsafe, busy, from another program or from a newer Plugboard is an error instead, because
 * ignoring its content could undo the user's decisions.
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
    onWarning(`${error.message}; new state is lost when Plugboard exits. ${error.hint}`);
    return createMemoryStore({ now: options.now });
  }
}
