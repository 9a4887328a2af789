import { free, isAlone } from "../../../lib/memory.ts";
import { parseExact } from "../../../lib/exact-json.ts";

export interface LineReaderOptions {
  maxLineBytes: number;
  /** Returns true if it took the line as bytes, so that it need not be parsed. It may keep the bytes. */
  takes(bytes: Buffer, start: number, end: number): boolean;
  onMessage(message: Record<string, unknown>, bytes: number): void;
  /** Called at most once; nothing is read afterwards. */
  onTooLarge(bytes: number): void;
  /** Called with the start of a line that is not a JSON-RPC message. */
  onSkipped(line: string): void;
}

/**
 * Splits a byte stream into JSON messages, one per line. Scans every byte once and copies it at most twice, however
 * small the chunks are, and never buffers more than about twice `maxLineBytes`.
 */
export class LineReader {
  readonly #options: LineReaderOptions;
  /** The start of a line whose end has not arrived yet, in pieces. */
  #held: Buffer[] = [];
  #heldBytes = 0;
  /** How much of the last piece is used; it has room only if it was made for small chunks. */
  #used = 0;
  #stopped = false;

  constructor(options: LineReaderOptions) {
    this.#options = options;
  }

  /** True if the start of a line has arrived without its end. */
  get isMidLine(): boolean {
    return this.#heldBytes > 0;
  }

  push(chunk: Buffer): void {
    let start = 0;
    while (!this.#stopped) {
      const end = chunk.indexOf(newline, start);
      const length = (end === -1 ? chunk.length : end) - start;
      if (this.#heldBytes + length > this.#options.maxLineBytes)
        return this.#tooLarge(this.#heldBytes + length);
      if (end === -1) return this.#hold(chunk.subarray(start));
      if (this.#heldBytes === 0) {
        this.#line(chunk, start, end);
      } else {
        this.#hold(chunk.subarray(start, end));
        this.#releaseHeld();
      }
      start = end + 1;
    }
  }

  /** A complete last message counts even without a line end; an incomplete one does not. */
  end(): void {
    if (!this.#stopped && this.#heldBytes > 0) this.#releaseHeld();
    this.#stopped = true;
  }

  /** Large chunks are kept as they are; small ones are collected, so that each byte held costs about a byte. */
  #hold(part: Buffer): void {
    if (part.length === 0) return;
    this.#heldBytes += part.length;
    const last = this.#held.at(-1);
    if (last && last.length - this.#used >= part.length) {
      this.#used += part.copy(last, this.#used);
      return;
    }
    if (last && this.#used < last.length) this.#held[this.#held.length - 1] = last.subarray(0, this.#used);
    const isLarge = part.length >= collectedBytes / 2;
    const piece = isLarge ? part : Buffer.allocUnsafe(collectedBytes);
    if (!isLarge) part.copy(piece);
    this.#held.push(piece);
    this.#used = part.length;
  }

  #releaseHeld(): void {
    const pieces = this.#held;
    const length = this.#heldBytes;
    this.#held = [];
    this.#heldBytes = 0;
    const [first] = pieces;
    const whole = pieces.length === 1 && first ? first : Buffer.concat(pieces, length);
    // The first and the last chunk may hold other lines, which somebody keeps; the others are nobody's any more.
    for (const piece of pieces.slice(1, -1)) if (isAlone(piece)) free(piece);
    this.#line(whole, 0, length);
  }

  #line(bytes: Buffer, start: number, end: number): void {
    if (end - start <= 1 && (start === end || bytes[start] === carriageReturn)) return;
    if (this.#options.takes(bytes, start, end)) return;
    let text: string;
    try {
      text = bytes.toString("utf8", start, end);
    } catch {
      // Longer than a string can be.
      return this.#tooLarge(end - start);
    }
    const value = parse(text);
    // Not a part of `text`, which would keep all of it in memory.
    const shown = () => bytes.toString("utf8", start, Math.min(end, start + shownBytes));
    if (Array.isArray(value)) for (const item of value) this.#deliver(item, shown, end - start);
    else if (value !== undefined || text.trim() !== "") this.#deliver(value, shown, end - start);
  }

  #deliver(value: unknown, shown: () => string, bytes: number): void {
    if (isMessage(value)) this.#options.onMessage(value, bytes);
    else this.#options.onSkipped(shown().slice(0, shownCharacters));
  }

  #tooLarge(bytes: number): void {
    this.#stopped = true;
    this.#held = [];
    this.#heldBytes = 0;
    this.#options.onTooLarge(bytes);
  }
}

const newline = 0x0a;
const carriageReturn = 0x0d;
const collectedBytes = 16 * 1024;
const shownCharacters = 200;
const shownBytes = 4 * shownCharacters;

function parse(text: string): unknown {
  try {
    return parseExact(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text);
  } catch {
    return undefined;
  }
}

function isMessage(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
