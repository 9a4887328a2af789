/** How many requests of each caller are under way. A caller without one is not remembered. */
export class CallerUse {
  readonly #most: number;
  readonly #callers = new Map<string, number>();

  constructor(most: number) {
    this.#most = most;
  }

  /** False if the caller has all that it may have. Otherwise `release` gives it back. */
  take(caller: string): boolean {
    const used = this.#callers.get(caller) ?? 0;
    if (used >= this.#most) return false;
    this.#callers.set(caller, used + 1);
    return true;
  }

  release(caller: string): void {
    const used = this.#callers.get(caller) ?? 0;
    if (used > 1) this.#callers.set(caller, used - 1);
    else this.#callers.delete(caller);
  }

  get size(): number {
    return this.#callers.size;
  }
}
