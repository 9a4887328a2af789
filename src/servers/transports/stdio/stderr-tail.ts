import { printable } from "../../../lib/printable.ts";

export interface StderrTailOptions {
  maxBytes?: number | undefined;
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

  /** The last non-empty line, safe to print. */
  lastLine(maxCharacters = 300): string {
    const lines = this.tail(4096).trimEnd().split("\n");
    return printable(lines.at(-1) ?? "", { oneLine: true }).slice(0, maxCharacters);
  }

  #splitLines(chunk: Buffer, onLine: (line: string) => void): void {
    const lines = (this.#partial + chunk.toString("utf8")).split("\n");
    this.#partial = (lines.pop() ?? "").slice(-maxLineCharacters);
    for (const line of lines) this.#report(line, onLine);
  }

  #report(line: string, onLine: (line: string) => void): void {
    const now = this.#now();
    if (now - this.#second >= 1000) {
      if (this.#suppressed > 0) onLine(`… ${this.#suppressed} more lines`);
      this.#second = now;
      this.#linesThisSecond = this.#suppressed = 0;
    }
    if (this.#linesThisSecond++ < this.#maxLinesPerSecond) onLine(line.slice(0, maxLineCharacters));
    else this.#suppressed++;
  }
}

const maxLineCharacters = 4096;
