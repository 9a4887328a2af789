import { setTimeout as sleep } from "node:timers/promises";
import { PlugboardError } from "../errors.ts";
import type { Held } from "../lib/held.ts";
import { noLock } from "./error.ts";
import type { Lease, LeaseOptions, Store } from "./store.ts";

export interface HeldLease extends Held {
  fence: number;
}

/**
 * Runs `run` while holding the lease, and renews the lease until it is done. If the lease is not free within `waitMs`,
 * fails with a retryable error without calling `run`. In `run`, read again what you want to change: the previous
 * holder may already have done the work.
 */
export async function withLease<T>(
  store: Store,
  name: string,
  options: LeaseOptions,
  run: (held: HeldLease) => Promise<T>,
): Promise<T> {
  return whileHeld(await acquire(store, name, options), options, run);
}

/**
 * Like `withLease`, but goes on if the store cannot be opened or written: with a lease of `here`, a store in memory, and
 * the reason in `held.onlyHere`. What is only this process's own can then still be changed.
 */
export async function withLeaseOrHere<T>(
  stores: { shared: () => Promise<Store>; here: Store },
  name: string,
  options: LeaseOptions,
  run: (held: HeldLease) => Promise<T>,
): Promise<T> {
  let onlyHere: PlugboardError | undefined;
  const shared = async () => acquire(await stores.shared(), name, options);
  const lease = await shared().catch((error: unknown) => {
    onlyHere = noLock(error);
    return acquire(stores.here, name, options);
  });
  return whileHeld(lease, options, (held) => run({ ...held, onlyHere }));
}

async function acquire(store: Store, name: string, options: LeaseOptions): Promise<Lease> {
  const lease = await store.acquireLease(name, options);
  if (lease) return lease;
  throw new PlugboardError("store-unavailable", `Another process holds ${name}`, {
    data: { reason: "busy", lease: name },
    hint: "Try again when the other Plugboard process is done.",
  });
}

async function whileHeld<T>(
  lease: Lease,
  options: LeaseOptions,
  run: (held: HeldLease) => Promise<T>,
): Promise<T> {
  const { name } = lease;
  const lost = new AbortController();
  const renew = renewing(lease, options.ttlMs, () =>
    lost.abort(new PlugboardError("store-unavailable", `Another process has taken over ${name}`)),
  );
  const timer = setInterval(() => void renew(), Math.max(1, options.ttlMs / 3)).unref();
  try {
    const signal = options.signal ? AbortSignal.any([options.signal, lost.signal]) : lost.signal;
    const confirm = async () => {
      await renew();
      signal.throwIfAborted();
    };
    return await run({ fence: lease.fence, signal, confirm });
  } finally {
    clearInterval(timer);
    // The work is done even if this fails, and the lease then expires.
    await lease.release().catch(() => undefined);
  }
}

/** Extends the lease at each call, and calls `onLost` if that is not possible. */
function renewing(lease: Lease, ttlMs: number, onLost: () => void): () => Promise<void> {
  let goodUntil = performance.now() + ttlMs;
  return async () => {
    // If the store is briefly unavailable, nobody else can get the lease before it expires.
    const kept = await lease.renew().catch(() => "unknown" as const);
    if (kept === true) goodUntil = performance.now() + ttlMs;
    else if (kept === false || performance.now() > goodUntil) onLost();
  };
}

const firstDelayMs = 10;
const longestDelayMs = 100;

/** Polls with increasing, jittered delays; rejects with the reason of `options.signal` or `closing`. */
export async function waitForLease(
  tryAcquire: () => Lease | undefined,
  options: LeaseOptions,
  closing: AbortSignal,
): Promise<Lease | undefined> {
  const signal = options.signal ? AbortSignal.any([options.signal, closing]) : closing;
  const deadline = performance.now() + (options.waitMs ?? 0);
  for (let delay = firstDelayMs; ; delay = Math.min(longestDelayMs, delay * 1.5)) {
    signal.throwIfAborted();
    const lease = tryAcquire();
    const leftMs = deadline - performance.now();
    if (lease || leftMs <= 0) return lease;
    await pause(Math.min(leftMs, delay * (0.5 + Math.random() / 2)), signal);
  }
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  try {
    await sleep(ms, undefined, { signal });
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  }
}
