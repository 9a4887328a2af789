import { InvalidArgumentError } from "commander";

/** Parses an option that counts from 1. */
export function wholeNumber(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("It must be a whole number, starting at 1.");
}
