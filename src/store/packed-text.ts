/** Shorter texts are not worth it. */
const minLength = 16 * 1024;

/** A long text outside of the heap, which soon takes less memory. */
export class PackedText {
  #bytes: Uint8Array;
  #isCompressed = false;
  /** Resolves when it takes no less any more. */
  readonly settled: Promise<void>;

  constructor(text: string) {
    this.#bytes = Buffer.from(text);
    this.settled = this.#compress();
  }

  get size(): number {
    return this.#bytes.length;
  }

  toString(): string {
    const { buffer, byteOffset, length } = this.#bytes;
    const plain = this.#isCompressed
      ? zlib().zstdDecompressSync(this.#bytes)
      : Buffer.from(buffer, byteOffset, length);
    return plain.toString("utf8");
  }

  /** In another thread. Only Zstandard is fast enough for this, and not every runtime has it. */
  #compress(): Promise<void> {
    const { zstdCompress, constants } = zlib();
    if (typeof zstdCompress !== "function") return Promise.resolve();
    const params = { [constants.ZSTD_c_compressionLevel]: 1 };
    return new Promise((resolve) => {
      zstdCompress(this.#bytes, { params }, (error, compressed) => {
        if (!error && compressed.length < this.#bytes.length) {
          // A copy, because a piece of a larger buffer keeps all of it.
          this.#bytes = Uint8Array.from(compressed);
          this.#isCompressed = true;
        }
        resolve();
      });
    });
  }
}

/** Packs a long text. What is not well-formed Unicode stays as it is, because its bytes would mean something else. */
export function packText(text: string): string | PackedText {
  return text.length < minLength || !text.isWellFormed() ? text : new PackedText(text);
}

/** Loaded on demand: most commands pack nothing. */
const zlib = () => process.getBuiltinModule("node:zlib");
