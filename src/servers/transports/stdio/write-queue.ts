import type { Writable } from "node:stream";
import { PlugboardError } from "../../../errors.ts";

/**
 * Queues messages to a server. In each turn of the event loop, sends the first at once and the rest in one write; after a
 * turn with several, all of the next turn in one write.
 */
export class WriteQueue {
  readonly #stream: Writable;
  readonly #maxBytes: number;
  readonly #refuse: (queuedBytes: number) => PlugboardError;
  #lines = "";
  #scheduled = false;
  /** How many came in this turn, and whether there were several in the last one. */
  #count = 0;
  #isBusy = false;
  readonly #flush = () => this.flush();

  constructor(
    stream: Writable,
    maxBytes: number = 64 * 1024 * 1024,
    refuse: (bytes: number) => PlugboardError,
  ) {
    this.#stream = stream;
    this.#maxBytes = maxBytes;
    this.#refuse = refuse;
  }

  /** Throws if the server has stopped reading and the queue is full. */
  write(text: string): void {
    const queued = this.#lines.length + this.#stream.writableLength;
    if (queued > this.#maxBytes) throw this.#refuse(queued);
    if (text.includes("\n")) throw new PlugboardError("internal", "A message to a server is one line.");
    const line = `${text}\n`;
    this.#count++;
    if (this.#scheduled || this.#isBusy) this.#lines += line;
    else if (this.#stream.writable) this.#stream.write(line);
    if (this.#scheduled) return;
    this.#scheduled = true;
    // Not with the next tick: messages for many clients come one by one, each from its own socket.
    setImmediate(this.#flush);
  }

  flush(): void {
    this.#scheduled = false;
    this.#isBusy = this.#count > 1;
    this.#count = 0;
    const lines = this.#lines;
    this.#lines = "";
    if (lines !== "" && this.#stream.writable) this.#stream.write(lines);
  }
}
