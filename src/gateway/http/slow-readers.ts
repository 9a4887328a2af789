import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";

export interface SlowReaderLimits {
  /** How long a client may leave unread what waits for it. */
  stalledMs: number;
  /** How much may wait for all clients together. */
  allWaitingBytes: number;
}

/**
 * Answers that wait to be read. A client that reads nothing for too long is dropped. When it is too much, the caller with
 * the most loses what has waited longest.
 */
export class SlowReaders {
  readonly #limits: SlowReaderLimits;
  readonly #callerOf: (response: ServerResponse) => string;
  readonly #waiting = new Set<ServerResponse>();
  /** Small answers of this turn. */
  readonly #soon: ServerResponse[] = [];
  /** How much was written since it was last looked at how much waits. */
  #written = 0;

  constructor(limits: SlowReaderLimits, callerOf: (response: ServerResponse) => string = () => "") {
    this.#limits = limits;
    this.#callerOf = callerOf;
  }

  /** Watches a response, to which this many bytes were just written, until everything that was written so far is read. */
  watch(response: ServerResponse, bytes: number): void {
    const { socket } = response;
    if (response.writableLength === 0 || response.closed) return;
    // It has its turn on its connection later.
    if (!socket) return void response.once("socket", () => this.watch(response, bytes));
    if (!this.#waiting.has(response)) this.#add(response, socket);
    this.#written += bytes;
    // Counting costs more than writing does.
    if (this.#written * 16 < this.#limits.allWaitingBytes) return;
    this.#written = 0;
    this.#makeRoom();
  }

  /** The same for a small answer that is complete: nearly all of them are gone at the end of this turn. */
  watchSoon(response: ServerResponse): void {
    if (this.#soon.push(response) === 1) setImmediate(this.#watchSoon);
  }

  readonly #watchSoon = (): void => {
    for (const response of this.#soon.splice(0)) this.watch(response, response.writableLength);
  };

  #add(response: ServerResponse, socket: Socket): void {
    this.#waiting.add(response);
    const late = () => (response.writableLength > 0 ? response.destroy() : stop());
    // Node.js counts every byte that the client takes, also in the middle of one large write.
    socket.setTimeout(this.#limits.stalledMs, late);
    const stop = () => {
      this.#waiting.delete(response);
      response.off("drain", stop).off("close", stop);
      socket.off("timeout", late);
      // After the end of a response the time until the next request counts, and that is for the server to say.
      if (!response.writableEnded) socket.setTimeout(0);
    };
    response.on("drain", stop).on("close", stop);
  }

  #makeRoom(): void {
    let bytes = 0;
    for (const { writableLength } of this.#waiting) bytes += writableLength;
    while (bytes > this.#limits.allWaitingBytes) {
      const oldest = this.#oldestOfLargest();
      if (!oldest) return;
      bytes -= oldest.writableLength;
      this.#waiting.delete(oldest);
      oldest.destroy();
    }
  }

  #oldestOfLargest(): ServerResponse | undefined {
    const callers = new Map<string, { bytes: number; oldest: ServerResponse }>();
    for (const response of this.#waiting) {
      const caller = this.#callerOf(response);
      const known = callers.get(caller);
      if (known) known.bytes += response.writableLength;
      else callers.set(caller, { bytes: response.writableLength, oldest: response });
    }
    const [largest] = [...callers.values()].toSorted((one, other) => other.bytes - one.bytes);
    return largest?.oldest;
  }
}
