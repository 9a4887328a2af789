const shortestMs = 100;
const longestMs = 30_000;
const calmMs = 10_000;

/**
 * The waits before the SDK opens a stream again. It takes the server's `retry` as it is: 0 would be a busy loop,
 * and so would 1e12, which overflows a timer. A stream that keeps ending is waited for longer and longer.
 */
export class ReconnectTimers {
  readonly #timers = new Set<NodeJS.Timeout>();
  readonly #now: () => number;
  #inARow = 0;
  #lastAt = -Infinity;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  schedule(reconnect: () => void, delayMs: number): () => void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      this.#lastAt = this.#now();
      reconnect();
    }, this.delay(delayMs));
    this.#timers.add(timer);
    return () => this.#cancel(timer);
  }

  /** What a wish for this delay becomes. Counts as a reconnection. */
  delay(wantedMs: number): number {
    this.#inARow = this.#now() - this.#lastAt < calmMs ? this.#inARow + 1 : 0;
    const floorMs = shortestMs * 2 ** Math.min(this.#inARow, 20);
    return Math.min(Math.max(Number.isFinite(wantedMs) ? wantedMs : longestMs, floorMs), longestMs);
  }

  close(): void {
    for (const timer of this.#timers) this.#cancel(timer);
  }

  #cancel(timer: NodeJS.Timeout): void {
    clearTimeout(timer);
    this.#timers.delete(timer);
  }
}
