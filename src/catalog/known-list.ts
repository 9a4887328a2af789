import type { ListAge } from "./freshness.ts";
import { hashAll } from "./hashes.ts";
import type { PageLimit, ReadList } from "./pages.ts";

export type ListKind = "tools" | "resources" | "resourceTemplates" | "prompts";
export type RawEntry = Record<string, unknown>;

export const listKinds: readonly ListKind[] = ["tools", "resources", "resourceTemplates", "prompts"];

/** A list that was read from a server. */
export interface KnownList extends ListAge {
  /** The same array as before if nothing changed. */
  entries: readonly RawEntry[];
  /** One per entry. */
  hashes: readonly string[];
  /** The hash of the whole list; does not depend on the order. */
  hash: string;
  /** The size as JSON. */
  size: number;
  /** The limit that cut it short. */
  cutBy?: PageLimit;
}

/**
 * Creates a list that was just read. Unchanged entries keep their objects, so validators and verdicts for them stay
 * cached.
 */
export function knownList(read: ReadList, age: ListAge, before: KnownList | undefined): KnownList {
  const { entries, hashes, size, cutBy } = read;
  const cut = cutBy && { cutBy };
  if (before && isSame(hashes, before.hashes)) {
    const { cutBy: _, ...same } = before;
    return { ...same, ...age, ...cut };
  }
  return { entries: keepSame(entries, hashes, before), hashes, hash: hashAll(hashes), size, ...age, ...cut };
}

function isSame(hashes: readonly string[], others: readonly string[]): boolean {
  return hashes.length === others.length && hashes.every((hash, at) => hash === others[at]);
}

function keepSame(
  entries: readonly RawEntry[],
  hashes: readonly string[],
  before: KnownList | undefined,
): readonly RawEntry[] {
  if (!before) return entries;
  const old = new Map(before.hashes.map((hash, at) => [hash, before.entries[at]]));
  return entries.map((entry, at) => old.get(hashes[at] ?? "") ?? entry);
}
