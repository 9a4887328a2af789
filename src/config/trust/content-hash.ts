import { constants } from "node:fs";
import { open } from "node:fs/promises";

/** The hash of a file's content, or why it has none, as the end of a sentence that begins with the file. */
export type ContentHash = { sha256: string; bytes: number } | { problem: string };

const chunkBytes = 1 << 20;

/** Hashes a regular file of at most `maxBytes`. Never blocks on a pipe and never reads a device. */
export async function hashFile(path: string, maxBytes: number): Promise<ContentHash> {
  const { createHash } = process.getBuiltinModule("node:crypto");
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK).catch(codeOf);
  if (typeof file === "string") return { problem: `cannot be read (${file})` };
  try {
    const stats = await file.stat();
    if (!stats.isFile()) return { problem: "is not a regular file" };
    if (stats.size > maxBytes) return { problem: tooLarge(maxBytes) };
    const hash = createHash("sha256");
    const buffer = Buffer.alloc(Math.min(chunkBytes, stats.size + 1));
    for (let bytes = 0; ;) {
      const { bytesRead } = await file.read(buffer, 0, buffer.length, null);
      if (bytesRead === 0) return { sha256: hash.digest("hex"), bytes };
      bytes += bytesRead;
      // Counted while reading: the file may grow.
      if (bytes > maxBytes) return { problem: tooLarge(maxBytes) };
      hash.update(buffer.subarray(0, bytesRead));
    }
  } catch (error) {
    return { problem: `cannot be read (${codeOf(error)})` };
  } finally {
    await file.close();
  }
}

export function tooLarge(maxBytes: number): string {
  return `is too large: trust covers at most ${(maxBytes / 1_000_000).toLocaleString("en")} MB of scripts for each server`;
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? "unknown error";
}
