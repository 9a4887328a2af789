import { abortable, waitCancelled } from "../lib/abortable.ts";

/** Work that several callers wait for. It is cancelled only when the last of them stops waiting. */
export class SharedWork<T> {
  readonly #promise: Promise<T>;
  readonly #stop = new AbortController();
  readonly #server: string;
  #waiting = 0;

  constructor(server: string, work: (signal: AbortSignal) => Promise<T>) {
    this.#server = server;
    this.#promise = work(this.#stop.signal);
    this.#promise.catch(() => undefined);
  }

  /** True if no caller waits for it any more. */
  get isGivenUp(): boolean {
    return this.#stop.signal.aborted;
  }

  async join(signal: AbortSignal | undefined): Promise<T> {
    if (signal?.aborted) throw waitCancelled(signal, this.#server);
    this.#waiting++;
    try {
      return await abortable(this.#promise, signal, this.#server);
    } finally {
      if (--this.#waiting === 0) this.#stop.abort(signal?.reason);
    }
  }
}
