import { PlugboardError } from "../errors.ts";
import type { Clock, SetOptions } from "./store.ts";
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
