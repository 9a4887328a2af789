import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** How many requests may wait for the one before them on their connection. */
const maxWaiting = 64;

/**
 * Requests that were sent before the ones before them on the same connection were answered. They take turns, so that one
 * connection costs no more than one request at a time, and answers do not pile up behind one that is not read.
 */
export class Pipelined {
  readonly #waiting = new WeakMap<Socket, number>();

  /** Calls `serve` when it is this request's turn; never if the connection ends before. False if too many wait. */
  add({ socket }: IncomingMessage, response: ServerResponse, serve: () => void): boolean {
    const waiting = this.#waiting.get(socket) ?? 0;
    if (waiting >= maxWaiting) return false;
    this.#waiting.set(socket, waiting + 1);
    // Node.js gives a response its socket when all responses before it are written.
    response.once("socket", () => {
      this.#waiting.set(socket, (this.#waiting.get(socket) ?? 1) - 1);
      serve();
    });
    return true;
  }
}
