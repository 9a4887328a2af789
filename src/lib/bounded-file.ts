import { closeSync, constants, fstatSync, openSync, readSync, type Stats } from "node:fs";

export type BoundedRead =
  | { kind: "text"; text: string; mode: number }
  | { kind: "missing" }
  | { kind: "refused"; reason: string };

/**
 * Reads a small text file that somebody else may have prepared: never blocks on a FIFO, never reads a device
 * or more than `maxBytes`, and says in words why it refused. Synchronous underneath: for a file of this size that is
 * many times faster than the way through the thread pool, and loading a configuration opens a dozen candidates.
 */
export async function readBoundedFile(path: string, maxBytes: number): Promise<BoundedRead> {
  let file: number | undefined;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const stats = fstatSync(file);
    const refusal = refuse(stats, maxBytes);
    if (refusal) return { kind: "refused", reason: refusal };
    // Files of the kernel say 0 and have content all the same.
    const buffer = Buffer.alloc((stats.size || Math.min(maxBytes, 65_536)) + 1);
    const text = buffer.toString("utf8", 0, fill(file, buffer));
    if (text.includes("\u0000")) return { kind: "refused", reason: "is not a text file" };
    return { kind: "text", text: text.replace(/^\uFEFF/, ""), mode: stats.mode & 0o7777 };
  } catch (error) {
    return openFailure(error);
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/** Reads until the buffer is full or the file ends; a file that grows meanwhile is read as it was measured. */
function fill(file: number, buffer: Buffer): number {
  let length = 0;
  while (length < buffer.length - 1) {
    const bytes = readSync(file, buffer, length, buffer.length - 1 - length, null);
    if (bytes === 0) break;
    length += bytes;
  }
  return length;
}

function refuse(stats: Stats, maxBytes: number): string | undefined {
  if (stats.isDirectory()) return "is a folder, not a file";
  if (!stats.isFile()) return "is not a regular file";
  if (stats.size > maxBytes) return tooLarge(stats.size, maxBytes);
  return undefined;
}

function tooLarge(size: number, maxBytes: number): string {
  return `has ${size.toLocaleString("en")} bytes, at most ${maxBytes.toLocaleString("en")} are read`;
}

function openFailure(error: unknown): BoundedRead {
  const code = (error as NodeJS.ErrnoException).code ?? "unknown error";
  if (code === "ENOENT" || code === "ENOTDIR") return { kind: "missing" };
  if (code === "EACCES" || code === "EPERM")
    return { kind: "refused", reason: "may not be read by this user" };
  if (code === "ELOOP") return { kind: "refused", reason: "is a loop of symbolic links" };
  if (code === "ENXIO") return { kind: "refused", reason: "is not a regular file" };
  return { kind: "refused", reason: `cannot be read (${code})` };
}
