import { constants, type Stats } from "node:fs";
import { open } from "node:fs/promises";

export type BoundedRead =
  | { kind: "text"; text: string; mode: number }
  | { kind: "missing" }
  | { kind: "refused"; reason: string };

/**
 * Reads a small text file that somebody else may have prepared: never blocks on a FIFO, never reads a device
 * or more than `maxBytes`, and says in words why it refused.
 */
export async function readBoundedFile(path: string, maxBytes: number): Promise<BoundedRead> {
  let file;
  try {
    file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    return openFailure(error);
  }
  try {
    const stats = await file.stat();
    const refusal = refuse(stats, maxBytes);
    if (refusal) return { kind: "refused", reason: refusal };
    const buffer = Buffer.alloc(maxBytes + 1);
    let length = 0;
    while (length <= maxBytes) {
      const { bytesRead } = await file.read(buffer, length, buffer.length - length);
      if (bytesRead === 0) break;
      length += bytesRead;
    }
    if (length > maxBytes) return { kind: "refused", reason: tooLarge(length, maxBytes) };
    const bytes = buffer.subarray(0, length);
    const text = bytes.toString("utf8");
    if (text.includes("\u0000")) return { kind: "refused", reason: "is not a text file" };
    return { kind: "text", text: text.replace(/^\uFEFF/, ""), mode: stats.mode & 0o7777 };
  } catch (error) {
    return openFailure(error);
  } finally {
    await file.close();
  }
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
