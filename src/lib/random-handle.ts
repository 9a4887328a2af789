/** A name that cannot be guessed, and that people can copy. */
export function randomHandle(prefix: string, random: (bytes: number) => Uint8Array = randomly): string {
  const letters = Array.from(random(20), (byte) => "abcdefghijklmnopqrstuvwxyz234567"[byte & 31]);
  return `${prefix}_${letters.join("")}`;
}

/** Loaded on demand: most commands need no random handle. */
function randomly(bytes: number): Uint8Array {
  return process.getBuiltinModule("node:crypto").randomBytes(bytes);
}
