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
  /** The start of a line whose end has not arrived yet. */
  #held = empty;
  #heldBytes = 0;
  #stopped = false;

  constructor(options: LineReaderOptions) {
    this.#options = options;
  }

  push(chunk: Buffer): void {
    let start = 0;
    while (!this.#stopped) {
      const end = chunk.indexOf(newline, start);
      const length = (end === -1 ? chunk.length : end) - start;
      if (this.#heldBytes + length > this.#options.maxLineBytes)
        return this.#tooLarge(this.#heldBytes + length);
      if (end === -1) return this.#hold(chunk, start);
      if (this.#heldBytes === 0) {
        this.#line(chunk, start, end);
      } else {
        this.#hold(chunk.subarray(0, end), start);
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

  #hold(chunk: Buffer, start: number): void {
    const needed = this.#heldBytes + chunk.length - start;
    if (needed > this.#held.length) {
      const larger = Buffer.allocUnsafe(Math.max(4096, needed, this.#held.length * 2));
      this.#held.copy(larger, 0, 0, this.#heldBytes);
      this.#held = larger;
    }
    chunk.copy(this.#held, this.#heldBytes, start);
    this.#heldBytes = needed;
  }

  #releaseHeld(): void {
    const held = this.#held;
    const length = this.#heldBytes;
    this.#heldBytes = 0;
    const isTaken = this.#line(held, 0, length);
    if (held.length > keptBytes || isTaken) this.#held = empty;
  }

  /** True if the receiver keeps these bytes. */
  #line(bytes: Buffer, start: number, end: number): boolean {
    if (end - start <= 1 && (start === end || bytes[start] === carriageReturn)) return false;
    if (this.#options.takes(bytes, start, end)) return true;
    let text: string;
    try {
      text = bytes.toString("utf8", start, end);
    } catch {
      // Longer than a string can be.
      this.#tooLarge(end - start);
      return false;
    }
    const value = parse(text);
    if (Array.isArray(value)) for (const item of value) this.#deliver(item, text, end - start);
    else if (value !== undefined || text.trim() !== "") this.#deliver(value, text, end - start);
    return false;
  }

  #deliver(value: unknown, text: string, bytes: number): void {
    if (isMessage(value)) this.#options.onMessage(value, bytes);
    else this.#options.onSkipped(text.slice(0, shownCharacters));
  }

  #tooLarge(bytes: number): void {
    this.#stopped = true;
    this.#held = empty;
    this.#heldBytes = 0;
    this.#options.onTooLarge(bytes);
  }
}

const newline = 0x0a;
const carriageReturn = 0x0d;
const empty = Buffer.alloc(0);
const keptBytes = 1 << 20;
const shownCharacters = 200;

function parse(text: string): unknown {
  try {
    return JSON.parse(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text);
  } catch {
    return undefined;
  }
}

function isMessage(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
