import type { Settings } from "../config/schema.ts";

/** Programs that start use the processor; launchers that download mostly wait, and take longer. Neither waits for the other. */
export interface StartGates {
  starts: StartGate;
  /** For launchers that may have to install the server first. */
  installs: StartGate;
}

export function startGates({
  startConcurrency = 8,
  installConcurrency = 16,
}: Pick<Settings, "startConcurrency" | "installConcurrency">): StartGates {
  return {
    starts: new StartGate(startConcurrency, 1_000),
    installs: new StartGate(installConcurrency, 10_000),
  };
}

/**
 * Limits how many servers start at once. A slot is freed when the start finishes or after a short time, so that a
 * server that hangs does not block the others until its deadline.
 */
export class StartGate {
  readonly #limit: number;
  readonly #holdMs: number;
  #taken = 0;
  readonly #queue: (() => void)[] = [];

  constructor(limit: number, holdMs: number) {
    this.#limit = limit;
    this.#holdMs = holdMs;
  }

  /** Calls `onQueued` if it has to wait for a slot. */
  async run<T>(work: () => Promise<T>, signal: AbortSignal, onQueued: () => void): Promise<T> {
    await this.#enter(signal, onQueued);
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

  async #enter(signal: AbortSignal, onQueued: () => void): Promise<void> {
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
    onQueued();
    signal.addEventListener("abort", onAbort, { once: true });
    await promise.finally(() => signal.removeEventListener("abort", onAbort));
  }

  #leave(): void {
    const next = this.#queue.shift();
    if (next) next();
    else this.#taken--;
  }
}
