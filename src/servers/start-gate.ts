/**
 * Limits how many servers start at once. A slot is freed when the start finishes or after a short time, so that a
 * server that hangs does not block the others until its deadline.
 */
export class StartGate {
  readonly #limit: number;
  readonly #holdMs: number;
  #taken = 0;
  readonly #queue: (() => void)[] = [];

  constructor(limit: number, holdMs = 1_000) {
    this.#limit = limit;
    this.#holdMs = holdMs;
  }

  async run<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
    await this.#enter(signal);
    let isHeld = true;
    const leave = () => {
      if (isHeld) this.#leave();
      isHeld = false;
    };
    const timer = setTimeout(leave, this.#holdMs);
    try {
      return await work();
    } finally {
      clearTimeout(timer);
      leave();
    }
  }

  async #enter(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#taken < this.#limit) {
      this.#taken++;
      return;
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const onAbort = () => {
      const place = this.#queue.indexOf(resolve);
      if (place !== -1) this.#queue.splice(place, 1);
      reject(signal.reason as Error);
    };
    this.#queue.push(resolve);
    signal.addEventListener("abort", onAbort, { once: true });
    await promise.finally(() => signal.removeEventListener("abort", onAbort));
  }

  #leave(): void {
    const next = this.#queue.shift();
    if (next) next();
    else this.#taken--;
  }
}
