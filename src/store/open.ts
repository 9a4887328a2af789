import { isNowhereToKeep } from "./error.ts";
import { createMemoryStore } from "./memory/store.ts";
import { openSqliteStore, type SqliteStoreOptions } from "./sqlite/store.ts";
import type { Clock, Store } from "./store.ts";

/**
 * Opens the store at `path`. If it cannot be written, warns once and returns a store in memory, so that Plugboard still
 * works. A file that is unsafe, busy, from another program or from a newer Plugboard is an error instead, because
 * ignoring its content could undo the user's decisions.
 */
export async function openStore(
  options: SqliteStoreOptions,
  onWarning: (message: string) => void,
): Promise<Store> {
  return orInMemory(openSqliteStore(options, onWarning), onWarning, options.now);
}

/** The store that is being opened, or one in memory if it cannot be written. */
export async function orInMemory(
  opening: Promise<Store>,
  onWarning: (message: string) => void,
  now?: Clock,
): Promise<Store> {
  try {
    return await opening;
  } catch (error) {
    if (!isNowhereToKeep(error)) throw error;
    onWarning(`${error.message}; new state is lost when Plugboard exits. ${error.hint}`);
    return createMemoryStore({ now });
  }
}
