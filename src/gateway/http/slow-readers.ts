import type { ServerResponse } from "node:http";

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

  constructor(limits: SlowReaderLimits, callerOf: (response: ServerResponse) => string = () => "") {
    this.#limits = limits;
    this.#callerOf = callerOf;
  }

  /** Watches a response until everything that was written so far is read. */
  watch(response: ServerResponse): void {
    const { socket } = response;
    if (!socket || response.writableLength === 0 || this.#waiting.has(response)) return;
    this.#waiting.add(response);
    const late = () => response.destroy();
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
    this.#makeRoom();
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
