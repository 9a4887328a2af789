import type { ServerResponse } from "node:http";

export interface SlowReaderLimits {
  /** How long a client may leave unread what waits for it. */
  stalledMs: number;
  /** How much may wait for all clients together. */
  allWaitingBytes: number;
}

/** Answers that wait to be read. Whoever reads nothing for too long is dropped, and whoever waits longest when it is too much. */
export class SlowReaders {
  readonly #limits: SlowReaderLimits;
  readonly #waiting = new Set<ServerResponse>();

  constructor(limits: SlowReaderLimits) {
    this.#limits = limits;
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
    for (const oldest of this.#waiting) {
      if (bytes <= this.#limits.allWaitingBytes) break;
      bytes -= oldest.writableLength;
      oldest.destroy();
    }
  }
}
