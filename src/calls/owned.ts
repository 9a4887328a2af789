import { sha256 } from "../lib/canonical.ts";

/** Whose something in the store is. Hashed because the caller's id may be sensitive. */
export function ownerOf(caller: string | undefined): string {
  return caller === undefined ? "" : sha256(caller);
}
