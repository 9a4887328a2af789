import type { ListAge } from "./freshness.ts";
import { hashAll } from "./hashes.ts";
import type { ReadList } from "./pages.ts";

export type ListKind = "tools" | "resources" | "resourceTemplates" | "prompts";
export type RawEntry = Record<string, unknown>;

export const listKinds: readonly ListKind[] = ["tools", "resources", "resourceTemplates", "prompts"];

/** A list as a server sent it. */
export interface KnownList extends ListAge {
  /** The same array as before when a reading found nothing different. */
  entries: readonly RawEntry[];
  /** One for each entry. */
  hashes: readonly string[];
  /** Of the whole list, whatever its order. */
  hash: string;
  /** As JSON. */
  size: number;
}

/**
 * A list that has just been read. Entries that did not change stay the objects they were, and with them what was made of
 * them: validators, verdicts.
 */
export function knownList(read: ReadList, age: ListAge, before: KnownList | undefined): KnownList {
  const { entries, hashes, size } = read;
  if (before && isSame(hashes, before.hashes)) return { ...before, ...age };
  return { entries: keepSame(entries, hashes, before), hashes, hash: hashAll(hashes), size, ...age };
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
