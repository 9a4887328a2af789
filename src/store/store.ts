/**
 * Durable state behind one small interface. Every method is atomic on its own, across all processes that share
 * the store, and rejects with `store-unavailable` when the state cannot be read or written; the old value is
 * then still there.
 */
export interface Store {
  /** False when everything is forgotten at the end of this process. */
  readonly durable: boolean;
  get(key: string): Promise<StoredValue | undefined>;
  /** Writes whatever was there before; without `ttlMs` the entry no longer expires. Answers the new version. */
  set(key: string, value: unknown, options?: SetOptions): Promise<number>;
  /**
   * Writes only if the entry still has `expectedVersion`; `undefined` means there must be no entry.
   * Answers the new version, or `undefined` when somebody else was faster.
   */
  compareAndSet(
    key: string,
    expectedVersion: number | undefined,
    value: unknown,
    options?: SetOptions,
  ): Promise<number | undefined>;
  /** True when there was an entry (of that version) and it is gone now. */
  delete(key: string, expectedVersion?: number): Promise<boolean>;
  /** Entries whose key begins with `prefix`, in the byte order of their UTF-8 keys. */
  list(prefix: string, options?: ListOptions): Promise<StoredEntry[]>;
  /**
   * The right to do something alone, among all processes that share the store. `undefined` when it is still taken
   * after `waitMs`. A lease ends by `release`, by expiry, or at once when its holder's process is gone.
   */
  acquireLease(name: string, options: LeaseOptions): Promise<Lease | undefined>;
  /** Gives back every lease taken through this store and ends all waiting for one. */
  close(): Promise<void>;
}

export interface StoredValue {
  /** A copy, parsed from JSON: check its shape, another version of the program may have written it. */
  value: unknown;
  /** Rises with every write and never returns for a key, not even after deletion. */
  version: number;
}

export interface StoredEntry extends StoredValue {
  key: string;
}

export interface SetOptions {
  ttlMs?: number | undefined;
}

export interface ListOptions {
  limit?: number | undefined;
  /** Only keys behind this one: the last key of the page before. */
  after?: string | undefined;
}

export interface LeaseOptions {
  ttlMs: number;
  /** How long to wait while somebody else holds it; by default not at all. */
  waitMs?: number | undefined;
  signal?: AbortSignal | undefined;
}

export interface Lease {
  readonly name: string;
  /** Larger than that of every earlier holder: whoever shows a smaller one has been overtaken. */
  readonly fence: number;
  /** Extends the lease by its `ttlMs` from now; false when somebody else has taken it over. */
  renew(): Promise<boolean>;
  release(): Promise<void>;
}

/** Milliseconds since the epoch. Processes that share a store compare these times with each other. */
export type Clock = () => number;
