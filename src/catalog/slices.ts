const sliceMs = 5;

/**
 * Keeps long work from blocking the event loop: call `if (slices.isOver()) await slices.next()` between two steps to
 * yield every few milliseconds.
 */
export class Slices {
  #endsAt = performance.now() + sliceMs;

  isOver(): boolean {
    return performance.now() >= this.#endsAt;
  }

  async next(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    this.#endsAt = performance.now() + sliceMs;
  }
}
