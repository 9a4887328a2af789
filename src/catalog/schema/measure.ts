import type { Run } from "./run.ts";

/**
 * True if the number of characters is within the bounds. A character outside the basic plane has two code units, so
 * characters are counted only if that matters, and counting costs steps.
 */
export function lengthFits(text: string, least: number, most: number, run: Run): boolean {
  const { length } = text;
  if (length < least || length > most * 2) return false;
  if (length >= least * 2 && length <= most) return true;
  run.spend(length >> 5);
  const count = codePoints(text);
  return count >= least && count <= most;
}

/** Length as JSON Schema defines it. */
export function codePoints(text: string): number {
  let count = 0;
  for (let i = 0; i < text.length; i++) {
    count++;
    const isPair = (text.charCodeAt(i) & 0xfc00) === 0xd800 && (text.charCodeAt(i + 1) & 0xfc00) === 0xdc00;
    if (isPair) i++;
  }
  return count;
}

/** Tolerates rounding errors, because decimal fractions are not exact in binary. */
export function isMultiple(value: number, divisor: number): boolean {
  if (!(divisor > 0)) return true;
  const quotient = value / divisor;
  if (!Number.isFinite(quotient)) return value % divisor === 0;
  return Math.abs(quotient - Math.round(quotient)) <= 1e-9;
}
