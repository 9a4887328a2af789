/** Shorter texts are not worth it. */
const minLength = 16 * 1024;

/** A text that takes less memory, and none of the heap. */
export type PackedText = string | { bytes: Uint8Array; isCompressed: boolean };

/** Packs a long text. What is not well-formed Unicode stays as it is, because its bytes would be others. */
export function packText(text: string): PackedText {
  if (text.length < minLength || !text.isWellFormed()) return text;
  const plain = Buffer.from(text);
  // Only Zstandard is fast enough for this, and not every runtime has it.
  const { zstdCompressSync, constants } = zlib();
  if (typeof zstdCompressSync !== "function") return { bytes: plain, isCompressed: false };
  const fast = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };
  const compressed = zstdCompressSync(plain, fast);
  if (compressed.length >= plain.length) return { bytes: plain, isCompressed: false };
  // A copy, because a piece of a larger buffer keeps all of it.
  return { bytes: Uint8Array.from(compressed), isCompressed: true };
}

export function unpackText(packed: PackedText): string {
  if (typeof packed === "string") return packed;
  const { bytes, isCompressed } = packed;
  const plain = isCompressed
    ? zlib().zstdDecompressSync(bytes)
    : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  return plain.toString("utf8");
}

/** Loaded on demand: most commands pack nothing. */
function zlib(): typeof import("node:zlib") {
  return process.getBuiltinModule("node:zlib");
}
