import { StringDecoder } from "node:string_decoder";
import { lastWords } from "../../../lib/last-words.ts";

export interface StderrTailOptions {
  maxBytes?: number | undefined;
  /** Gets each line without what is secret, cut to a limit; at the end also one without a line end. */
  onLine?: ((line: string) => void) | undefined;
  maxLinesPerSecond?: number | undefined;
  now?: (() => number) | undefined;
  /** Applied to all text that is read back. */
  redact?: ((text: string) => string) | undefined;
}

/** Keeps the end of a server's stderr, up to a limit. Reads everything immediately, so the server never blocks. */
export class StderrTail {
  readonly #size: number;
  /** Allocated with the first byte, because most servers write nothing. */
  #ring = Buffer.alloc(0);
  readonly #onLine: ((line: string) => void) | undefined;
  readonly #maxLinesPerSecond: number;
  readonly #now: () => number;
  readonly #redact: (text: string) => string;
  #written = 0;
  readonly #decoder = new StringDecoder("utf8");
  /** The beginning of the line that is being written. */
  #partial = "";
  #second = -Infinity;
  #linesThisSecond = 0;
  #suppressed = 0;

  constructor(options: StderrTailOptions = {}) {
    this.#size = options.maxBytes ?? 64 * 1024;
    this.#onLine = options.onLine;
    this.#maxLinesPerSecond = options.maxLinesPerSecond ?? 50;
    this.#now = options.now ?? (() => performance.now());
    this.#redact = options.redact ?? ((text) => text);
  }

  push(chunk: Buffer): void {
    const size = this.#size;
    if (this.#ring.length === 0) this.#ring = Buffer.alloc(size);
    const kept = chunk.length > size ? chunk.subarray(chunk.length - size) : chunk;
    const at = (this.#written + chunk.length - kept.length) % size;
    const first = Math.min(kept.length, size - at);
    kept.copy(this.#ring, at, 0, first);
    kept.copy(this.#ring, 0, first);
    this.#written += chunk.length;
    if (this.#onLine) this.#splitLines(chunk, this.#onLine);
  }

  /** The text as the server wrote it. If earlier text was dropped, starts at the beginning of a line. */
  tail(maxBytes = this.#size): string {
    const size = this.#size;
    const length = Math.min(maxBytes, this.#written, size);
    const from = (this.#written - length) % size;
    const bytes =
      from + length <= size
        ? this.#ring.subarray(from, from + length)
        : Buffer.concat([this.#ring.subarray(from), this.#ring.subarray(0, from + length - size)]);
    const text = this.#redact(bytes.toString("utf8"));
    if (length === this.#written) return text;
    const lineStart = text.indexOf("\n") + 1;
    return lineStart > 0 && lineStart < text.length ? text.slice(lineStart) : text.replace(/^\uFFFD+/, "");
  }

  /** The line that explains why the program ended, safe to print. */
  lastWords(): string {
    return lastWords(this.tail(lastWordsBytes));
  }

  /** Nothing more is coming. */
  end(): void {
    if (!this.#onLine) return;
    if (this.#partial !== "") this.#report(this.#partial, this.#onLine);
    this.#partial = "";
    this.#tellSuppressed(this.#onLine);
  }

  #splitLines(chunk: Buffer, onLine: (line: string) => void): void {
    const [first = "", ...others] = this.#decoder.write(chunk).split("\n");
    // More than is shown, so that a secret at the cut is still recognised.
    this.#partial = (this.#partial + first).slice(0, 2 * maxLineCharacters);
    for (const next of others) {
      this.#report(this.#partial, onLine);
      this.#partial = next.slice(0, 2 * maxLineCharacters);
    }
  }

  #report(line: string, onLine: (line: string) => void): void {
    const now = this.#now();
    if (now - this.#second >= 1000) {
      this.#tellSuppressed(onLine);
      this.#second = now;
      this.#linesThisSecond = 0;
    }
    if (this.#linesThisSecond++ < this.#maxLinesPerSecond)
      onLine(this.#redact(line.replace(/\r$/, "")).slice(0, maxLineCharacters));
    else this.#suppressed++;
  }

  #tellSuppressed(onLine: (line: string) => void): void {
    if (this.#suppressed > 0) onLine(`… ${this.#suppressed} more lines`);
    this.#suppressed = 0;
  }
}

const maxLineCharacters = 4096;
/** A stack and the properties of an error may follow its message. */
const lastWordsBytes = 16_384;
