/**
 * Durable state. Every method is atomic across all processes that share the store, and rejects with
 * `store-unavailable` if the state cannot be read or written; the old value then stays.
 */
export interface Store {
  /** False if everything is lost when this process ends. */
  readonly durable: boolean;
  /** A value and its version; undefined if there is none or it has expired. */
  get(key: string): Promise<StoredValue | undefined>;
  /** Overwrites any existing value; without `ttlMs` the entry never expires. Returns the new version. */
  set(key: string, value: unknown, options?: SetOptions): Promise<number>;
  /**
   * Writes only if the entry still has `expectedVersion`; `undefined` means there must be no entry.
   * Returns the new version, or `undefined` if the entry has another version.
   */
  compareAndSet(
    key: string,
    expectedVersion: number | undefined,
    value: unknown,
    options?: SetOptions,
  ): Promise<number | undefined>;
  /** True if there was an entry (of that version) and it was deleted. */
  delete(key: string, expectedVersion?: number): Promise<boolean>;
  /** Entries whose key starts with `prefix`, sorted by the UTF-8 bytes of their keys. */
  list(prefix: string, options?: ListOptions): Promise<StoredEntry[]>;
  /**
   * An exclusive lock among all processes that share the store; `undefined` if another one still holds it after
   * `waitMs`. A lease ends when it is released, when it expires, or as soon as its holder's process has ended.
   */
  acquireLease(name: string, options: LeaseOptions): Promise<Lease | undefined>;
  /** Releases every lease acquired through this store and stops all waiting for one. */
  close(): Promise<void>;
}

export interface StoredValue {
  /** A copy, parsed from JSON: check its shape, another version of the program may have written it. */
  value: unknown;
  /** Increases with every write and is never reused for a key, not even after deletion. */
  version: number;
}

/** A value in the store. */
export interface StoredEntry extends StoredValue {
  key: string;
}

export interface SetOptions {
  ttlMs?: number | undefined;
}

export interface ListOptions {
  limit?: number | undefined;
  /** Only keys after this one; pass the last key of the previous page. */
  after?: string | undefined;
}

export interface LeaseOptions {
  ttlMs: number;
  /** How long to wait while another process holds it; 0 by default. */
  waitMs?: number | undefined;
  signal?: AbortSignal | undefined;
}

/** The right to do something that only one process may do at a time. */
export interface Lease {
  readonly name: string;
  /** Larger than that of every earlier holder: a holder with a smaller fence has lost the lease. */
  readonly fence: number;
  /** Extends the lease to `ttlMs` from now; false if another process has taken it over. */
  renew(): Promise<boolean>;
  release(): Promise<void>;
}

/** Milliseconds since the epoch. Processes that share a store compare these times with each other. */
export type Clock = () => number;
