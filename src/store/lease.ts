import { setTimeout as sleep } from "node:timers/promises";
import { PlugboardError } from "../errors.ts";
import type { Lease, LeaseOptions, Store } from "./store.ts";

export interface Held {
  fence: number;
  /** Aborted when the caller cancels or the lease is lost: stop making changes. */
  signal: AbortSignal;
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
  run: (held: Held) => Promise<T>,
): Promise<T> {
  const lease = await store.acquireLease(name, options);
  if (!lease) {
    throw new PlugboardError("store-unavailable", `Another process holds ${name}`, {
      data: { reason: "busy", lease: name },
      hint: "Try again when the other Plugboard process is done.",
    });
  }
  const lost = new AbortController();
  const renewal = renewUntilLost(lease, options.ttlMs, () =>
    lost.abort(new PlugboardError("store-unavailable", `Another process has taken over ${name}`)),
  );
  try {
    const signal = options.signal ? AbortSignal.any([options.signal, lost.signal]) : lost.signal;
    return await run({ fence: lease.fence, signal });
  } finally {
    clearInterval(renewal);
    // The work is done even if this fails, and the lease then expires.
    await lease.release().catch(() => undefined);
  }
}

function renewUntilLost(lease: Lease, ttlMs: number, onLost: () => void): NodeJS.Timeout {
  let goodUntil = performance.now() + ttlMs;
  const renew = async () => {
    // If the store is briefly unavailable, nobody else can get the lease before it expires.
    const kept = await lease.renew().catch(() => "unknown" as const);
    if (kept === true) goodUntil = performance.now() + ttlMs;
    else if (kept === false || performance.now() > goodUntil) onLost();
  };
  const timer = setInterval(() => void renew(), Math.max(1, ttlMs / 3));
  return timer.unref();
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
