/** A client that comes back later has lost its lists, or reads them again because they are old. */
const rememberedMs = 600_000;
const mostEnded = 100;

/**
 * Since when one caller's clients may have missed changes. A modern client has no name of its own, so one that subscribes
 * again may be any of those whose subscriptions have ended: it is told what changed since the first of them.
 */
export class ListenGaps {
  readonly #ended: { at: number; changes: number }[] = [];

  /** True if none of its clients may have missed anything. */
  get isEmpty(): boolean {
    return this.#ended.length === 0;
  }

  /** A subscription ended, after this many changes. */
  ended(changes: number): void {
    this.#ended.push({ at: performance.now(), changes });
    if (this.#ended.length > mostEnded) this.#ended.shift();
  }

  /** A subscription begins. Returns how many changes its client knows of at least; undefined if it misses none. */
  begun(): number | undefined {
    const oldest = performance.now() - rememberedMs;
    while (this.#ended[0] && this.#ended[0].at < oldest) this.#ended.shift();
    const changes = this.#ended[0]?.changes;
    this.#ended.pop();
    return changes;
  }
}
