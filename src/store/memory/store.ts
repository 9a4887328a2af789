import { byBytes, checkKey, encodeValue, expiryOf } from "../entry.ts";
import { waitForLease } from "../lease.ts";
import { storeError } from "../error.ts";
import { packText } from "../packed-text.ts";
import type { PackedText } from "../packed-text.ts";
import type { Clock, SetOptions, Store, StoredEntry } from "../store.ts";
import { createMemoryCounters } from "./counters.ts";
import { createMemoryLeases } from "./leases.ts";
import { createMemoryLog } from "./log.ts";
import { createMemoryMessages } from "./messages.ts";
import { createMemoryPresence } from "./presence.ts";
import { parseExact } from "../../lib/exact-json.ts";

interface Entry {
  /** A string as it is, because nobody can change it; everything else as JSON. */
  text: string | PackedText;
  isString: boolean;
  version: number;
  expiresAt: number | null;
}

/** Gives the same guarantees as the SQLite store, but only within one process and until it ends. */
export function createMemoryStore(options: { now?: Clock | undefined } = {}): Store {
  const now = options.now ?? Date.now;
  const entries = new Map<string, Entry>();
  const closing = new AbortController();
  const assertOpen = () => closing.signal.throwIfAborted();
  const leases = createMemoryLeases(now, closing.signal);
  const log = createMemoryLog(assertOpen);
  const messages = createMemoryMessages(assertOpen);
  const counters = createMemoryCounters(now, assertOpen);
  const presence = createMemoryPresence(assertOpen);
  let lastVersion = 0;

  const live = (key: string): Entry | undefined => {
    closing.signal.throwIfAborted();
    checkKey(key);
    const entry = entries.get(key);
    if (!entry || entry.expiresAt === null || entry.expiresAt > now()) return entry;
    entries.delete(key);
    return undefined;
  };

  const write = (key: string, encoded: Encoded, setOptions: SetOptions | undefined): number => {
    const entry = { ...encoded, expiresAt: expiryOf(setOptions, now), version: ++lastVersion };
    entries.set(key, entry);
    if (entry.version % sweepEvery === 0) for (const other of entries.keys()) live(other);
    return entry.version;
  };

  return {
    durable: false,
    async get(key) {
      const entry = live(key);
      return entry && { value: decode(entry), version: entry.version };
    },
    async set(key, value, setOptions) {
      live(key);
      return write(key, encode(key, value), setOptions);
    },
    async compareAndSet(key, expectedVersion, value, setOptions) {
      const entry = live(key);
      const encoded = encode(key, value);
      return entry?.version === expectedVersion ? write(key, encoded, setOptions) : undefined;
    },
    async delete(key, expectedVersion) {
      const entry = live(key);
      if (!entry || (expectedVersion !== undefined && entry.version !== expectedVersion)) return false;
      return entries.delete(key);
    },
    async list(prefix, { limit = Infinity, after } = {}) {
      const listed: StoredEntry[] = [];
      closing.signal.throwIfAborted();
      const keys = [...entries.keys()].filter((key) => key.startsWith(prefix)).sort(byBytes);
      for (const key of keys) {
        if (listed.length >= limit) break;
        if (after !== undefined && byBytes(key, after) <= 0) continue;
        const entry = live(key);
        if (entry) listed.push({ key, value: decode(entry), version: entry.version });
      }
      return listed;
    },
    async acquireLease(name, leaseOptions) {
      return waitForLease(() => leases.tryAcquire(name, leaseOptions.ttlMs), leaseOptions, closing.signal);
    },
    log,
    messages,
    counters,
    presence,
    async close() {
      closing.abort(storeError("closed", undefined, "The store is closed"));
      entries.clear();
      for (const part of [leases, log, messages, counters, presence]) part.clear();
    },
  };
}

const sweepEvery = 1000;

type Encoded = Pick<Entry, "text" | "isString">;

function encode(key: string, value: unknown): Encoded {
  return typeof value === "string"
    ? { text: packText(value), isString: true }
    : { text: packText(encodeValue(key, value)), isString: false };
}

function decode({ text, isString }: Encoded): unknown {
  const whole = text.toString();
  return isString ? whole : parseExact(whole);
}
