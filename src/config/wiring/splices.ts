import { splice } from "../documents/document.ts";

/** One part of a text that was replaced. */
export interface Splice {
  at: number;
  removed: string;
  inserted: string;
}

/** What turns one text into another. */
export function spliceBetween(before: string, after: string): Splice {
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && before[start] === after[start]) start++;
  let end = 0;
  while (end < shorter - start && before.at(-1 - end) === after.at(-1 - end)) end++;
  return {
    at: start,
    removed: before.slice(start, before.length - end),
    inserted: after.slice(start, after.length - end),
  };
}

/** The text before these splices, which were made one after the other and after which nothing else changed. */
export function undone(text: string, splices: readonly Splice[]): string {
  return splices.reduceRight(
    (later, { at, removed, inserted }) => splice(later, at, inserted.length, removed),
    text,
  );
}

/** Shorter texts may be there by chance. */
const minCharacters = 16;

/**
 * The same for a text that was changed elsewhere since: every insertion must still be there, and only once. Undefined
 * if one is not.
 */
export function undoneWhereFound(text: string, splices: readonly Splice[]): string | undefined {
  let here = text;
  for (const { removed, inserted } of splices.toReversed()) {
    const at = here.indexOf(inserted);
    if (inserted.length < minCharacters || at === -1 || here.indexOf(inserted, at + 1) !== -1)
      return undefined;
    here = splice(here, at, inserted.length, removed);
  }
  return here;
}
