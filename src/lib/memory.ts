/** True if nothing else can be in the memory of these bytes: they are all of it. */
export function isAlone({ buffer, byteOffset, length }: Buffer): boolean {
  return byteOffset === 0 && length === buffer.byteLength && buffer instanceof ArrayBuffer;
}

/** The same bytes to be kept: copied if they are a small part of a buffer, all of which would stay in memory. */
export function compact(bytes: Buffer): Buffer {
  if (bytes.buffer.byteLength <= 2 * bytes.length + spareBytes) return bytes;
  const own = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(own);
  return own;
}

const spareBytes = 4 * 1024;

/**
 * Gives memory back at once. Large messages take so much of it that waiting for the garbage collector would make it run
 * every few messages. Nobody may use anything in the memory of these bytes afterwards.
 */
export function free({ buffer }: Buffer): void {
  if (buffer instanceof ArrayBuffer) buffer.transfer(0);
}
