import { isUtf8 } from "node:buffer";
import { closeSync, constants, fstatSync, openSync, readSync, type Stats } from "node:fs";

export type BoundedRead =
  | { kind: "text"; text: string; /** A byte order mark, or nothing. */ mark: string; mode: number }
  | { kind: "missing" }
  | { kind: "refused"; reason: string };

/**
 * Reads a small text file that may be hostile: never blocks on a FIFO, never reads a device or more than `maxBytes`,
 * and returns the reason if it refuses. Uses synchronous calls: for small files they are many times faster than the
 * thread pool, and loading a configuration tries a dozen files.
 */
export async function readBoundedFile(path: string, maxBytes: number): Promise<BoundedRead> {
  let file: number | undefined;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const stats = fstatSync(file);
    const refusal = refuse(stats, maxBytes);
    if (refusal) return { kind: "refused", reason: refusal };
    // Kernel files such as those in /proc report size 0 but have content.
    const buffer = Buffer.alloc((stats.size || Math.min(maxBytes, 65_536)) + 1);
    const bytes = buffer.subarray(0, fill(file, buffer));
    const text = bytes.toString("utf8");
    if (!isUtf8(bytes)) return { kind: "refused", reason: notUtf8(bytes, text) };
    if (text.includes("\u0000")) return { kind: "refused", reason: "is not a text file" };
    const [mark = ""] = /^\uFEFF/.exec(text) ?? [];
    return { kind: "text", text: text.slice(mark.length), mark, mode: stats.mode & 0o7777 };
  } catch (error) {
    return openFailure(error);
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/** Each wrong byte was replaced in the text, so the first one is where the two begin to differ. */
function notUtf8(bytes: Buffer, text: string): string {
  const decoded = Buffer.from(text);
  const at = bytes.findIndex((byte, index) => byte !== decoded[index]);
  return `is not UTF-8 text (byte ${at + 1} is 0x${bytes[at]?.toString(16).padStart(2, "0")})`;
}

/** Reads until the buffer is full or the file ends; if the file grows meanwhile, only the measured size is read. */
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
  return `is too large: ${size.toLocaleString("en")} bytes, but at most ${maxBytes.toLocaleString("en")} are read`;
}

function openFailure(error: unknown): BoundedRead {
  const code = (error as NodeJS.ErrnoException).code ?? "unknown error";
  if (code === "ENOENT" || code === "ENOTDIR") return { kind: "missing" };
  if (code === "EACCES" || code === "EPERM")
    return { kind: "refused", reason: "cannot be read by this user (permission denied)" };
  if (code === "ELOOP") return { kind: "refused", reason: "is a loop of symbolic links" };
  if (code === "ENXIO") return { kind: "refused", reason: "is not a regular file" };
  return { kind: "refused", reason: `cannot be read (${code})` };
}
