import { printable } from "./printable.ts";

/**
 * A name that others chose, on one line: in quotes unless it is plain, so that nothing in it looks like what stands
 * around it.
 */
export function nameText(name: string): string {
  const isPlain = /^[\p{L}\p{N}_$@][\p{L}\p{M}\p{N}_$@.:/-]*$/u.test(name);
  return printable(isPlain ? name : JSON.stringify(name), { isName: true });
}
