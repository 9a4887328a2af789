/** Work that goes on behind its caller, so that an end can wait for it. Failures are somebody else's business. */
export class PendingWork {
  readonly #running = new Set<Promise<unknown>>();

  add(work: Promise<unknown>): void {
    const settled = work.catch(() => undefined);
    this.#running.add(settled);
    void settled.then(() => this.#running.delete(settled));
  }

  /** Resolves when everything that was added so far has ended. */
  async ended(): Promise<void> {
    await Promise.all(this.#running);
  }
}
