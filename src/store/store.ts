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
  /** What happened, in order: written once, never changed. */
  readonly log: Log;
  /** Messages between the processes that share the store. */
  readonly messages: Messages;
  /** Numbers that many processes add to. */
  readonly counters: Counters;
  /** Which processes are alive. */
  readonly presence: Presence;
  /** Releases every lease acquired through this store, ends its presence and subscriptions, and stops all waiting. */
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

/** What happened, in order. */
export interface Log {
  /**
   * Appends all of the values or none, in this order and with nothing in between. Returns the number of the last one:
   * the entries of a log are numbered without gaps from 1, and no number is ever used again.
   */
  append(name: string, values: readonly unknown[]): Promise<number>;
  /** Entries with a number larger than `after`, the oldest first; at most 1,000. */
  read(name: string, options?: LogRange): Promise<LogEntry[]>;
  /** Removes the entries up to this number. Returns how many those were. */
  trim(name: string, through: number): Promise<number>;
  /** The numbers of the oldest entry that is left and of the last one that was ever written; 0 and 0 for a new log. */
  extent(name: string): Promise<LogExtent>;
}

/** Which entries of a log are read. */
export interface LogRange {
  /** 0 by default: from the oldest one that is left. */
  after?: number | undefined;
  limit?: number | undefined;
}

/** One entry of a log. */
export interface LogEntry {
  number: number;
  value: unknown;
}

/** `first` is larger than `last` if everything was removed. */
export interface LogExtent {
  first: number;
  last: number;
}

/** Messages between the processes that share a store. */
export interface Messages {
  /** Sends a message of at most 64 KB to all who listen at this moment, in every process; they hear it within 100 ms. */
  publish(channel: string, message: unknown): Promise<void>;
  /**
   * Calls `listener` for everything that is published from now on, once each and in order, until the returned function is
   * called. After a pause that was too long (this process was suspended) it hears `missed` in place of what is gone.
   */
  subscribe(channel: string, listener: (heard: Heard) => void): Promise<() => void>;
}

/** What a subscriber hears: a message, or that there may have been some that it cannot get any more. */
export type Heard = { type: "message"; message: unknown } | { type: "missed" };

/** Numbers that many processes add to, each within a window of time. */
export interface Counters {
  /**
   * Adds to the counter of the current window, unless that would be more than `limit`. The first addition after the end
   * of a window begins the next one. No window ends later than one that would begin now: it began while a clock was wrong.
   */
  add(name: string, window: CounterWindow, options?: AddOptions): Promise<Counted>;
  /** The counters whose names start with `prefix` and whose windows have not ended, sorted by name. */
  list(prefix: string): Promise<(CounterState & { name: string })[]>;
}

/** How long a window lasts from its first addition, or when it ends. */
export type CounterWindow = { lastsMs: number } | { endsAt: number };

/** How much is added, and how much there may be. */
export interface AddOptions {
  /** 1 by default; less than 0 takes back, but never to less than 0. */
  by?: number | undefined;
  limit?: number | undefined;
}

/** A counter in its current window. */
export interface CounterState {
  total: number;
  /** When the window ends, in milliseconds since the epoch. */
  endsAt: number;
}

/** `isAdded` is false if nothing was added, because it would have been more than the limit. */
export interface Counted extends CounterState {
  isAdded: boolean;
}

/** Which processes are alive. */
export interface Presence {
  /**
   * Shows others that this process is there, until `leave`, the end of the store, or the end of the process, however it
   * ends: on the same machine at once, elsewhere after at most 15 s.
   */
  announce(group: string, value: unknown): Promise<Announced>;
  /** Those who are there, in the order of their ids. */
  members(group: string): Promise<Member[]>;
  isPresent(group: string, id: string): Promise<boolean>;
}

/** One who is there. */
export interface Member {
  /** Never used again, not even by the same process. */
  id: string;
  value: unknown;
}

/** One's own presence. */
export interface Announced {
  readonly id: string;
  leave(): Promise<void>;
}

/** Milliseconds since the epoch. Processes that share a store compare these times with each other. */
export type Clock = () => number;
