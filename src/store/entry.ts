import { PlugboardError } from "../errors.ts";
import type { AddOptions, Clock, CounterWindow, SetOptions } from "./store.ts";
import { stringifyExact } from "../lib/exact-json.ts";

/** Shared by both stores, so that they refuse the same keys. */
export function checkKey(key: string): void {
  if (key === "" || key.includes("\u0000") || !key.isWellFormed()) {
    throw new PlugboardError(
      "usage-invalid",
      "A store key must be a non-empty, well-formed string without NUL characters",
    );
  }
}

/** Entries that are appended at once. */
export const maxAppended = 1_000;
export const maxRead = 1_000;
const maxMessageLength = 65_536;

export function encodeValues(log: string, values: readonly unknown[]): string[] {
  if (values.length <= maxAppended) return values.map((value) => encodeValue(log, value));
  throw new PlugboardError("usage-invalid", `At most ${maxAppended} entries are appended at once`);
}

export function encodeMessage(channel: string, message: unknown): string {
  const text = encodeValue(channel, message);
  if (text.length <= maxMessageLength) return text;
  throw new PlugboardError("usage-invalid", `A message has at most ${maxMessageLength} characters`);
}

/** When a window that begins now ends, and by how much its counter changes. */
export function checkWindow(window: CounterWindow, { by = 1, limit = Infinity }: AddOptions, now: Clock) {
  const endsAt = "endsAt" in window ? window.endsAt : expiresAt(window.lastsMs, now);
  if (!Number.isSafeInteger(endsAt) || !Number.isFinite(by) || Number.isNaN(limit))
    throw new PlugboardError(
      "usage-invalid",
      "A counter needs whole milliseconds, and numbers to add and compare",
    );
  return { endsAt, by, limit };
}

export function encodeValue(key: string, value: unknown): string {
  let text: string | undefined;
  try {
    text = stringifyExact(value);
  } catch (cause) {
    throw new PlugboardError("usage-invalid", `The value for ${key} cannot be written as JSON`, { cause });
  }
  if (text === undefined) throw new PlugboardError("usage-invalid", `The value for ${key} is not JSON`);
  return text;
}

/** An entry is visible until its expiry; `null` never expires. */
export function expiryOf(options: SetOptions | undefined, now: Clock): number | null {
  return options?.ttlMs === undefined ? null : expiresAt(options.ttlMs, now);
}

export function expiresAt(ttlMs: number, now: Clock): number {
  const at = Math.ceil(now() + ttlMs);
  if (!Number.isSafeInteger(at)) {
    throw new PlugboardError("usage-invalid", "ttlMs must be a finite number of milliseconds");
  }
  return at;
}

/** The order of keys and names in lists. */
export function byBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
