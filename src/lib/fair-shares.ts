import { headOf } from "./text-head.ts";

/**
 * Texts that together are not longer than `most`: short ones stay whole, and the long ones are cut to the same length, so
 * that none takes the place of the others.
 */
export function inFairShares(texts: readonly string[], most: number): string[] {
  let left = most;
  let share = Infinity;
  // The shortest first: what they do not need is for the longer ones.
  const byLength = texts.map(({ length }) => length).toSorted((a, b) => a - b);
  for (const [at, length] of byLength.entries()) {
    const own = Math.floor(left / (byLength.length - at));
    if (length > own) {
      share = own;
      break;
    }
    left -= length;
  }
  return texts.map((text) => headOf(text, share));
}
