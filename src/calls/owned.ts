import { randomBytes } from "node:crypto";
import { sha256 } from "../lib/canonical.ts";

/** Whose something in the store is. Hashed because the caller's id may be sensitive. */
export function ownerOf(caller: string | undefined): string {
  return caller === undefined ? "" : sha256(caller);
}

/** A name that cannot be guessed, for something in the store. */
export function randomHandle(prefix: string, random: (bytes: number) => Uint8Array = randomBytes): string {
  const letters = Array.from(random(20), (byte) => "abcdefghijklmnopqrstuvwxyz234567"[byte & 31]);
  return `${prefix}_${letters.join("")}`;
}
