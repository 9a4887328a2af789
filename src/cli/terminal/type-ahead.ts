import type { ReadStream } from "node:tty";

/** Keys that were pressed before are there at once, so this is long enough to read them, and too short to be noticed. */
const readingMs = 50;
const controlC = 0x03;

/**
 * Throws away what was typed before a question appears: an Enter that was meant for something else must not answer it.
 * Call it right before the question. Leaves the terminal in raw mode, as the question needs it. True if Ctrl-C was pressed.
 */
export async function discardTypeAhead(input: ReadStream): Promise<boolean> {
  if (!input.isTTY) return false;
  let isInterrupted = false;
  const discard = (chunk: Buffer | string) => {
    isInterrupted ||= Buffer.from(chunk).includes(controlC);
  };
  input.setRawMode(true);
  input.on("data", discard).resume();
  const { promise, resolve } = Promise.withResolvers<void>();
  setTimeout(resolve, readingMs);
  await promise;
  input.off("data", discard).pause();
  if (isInterrupted) input.setRawMode(false);
  return isInterrupted;
}
