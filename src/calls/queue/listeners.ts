/** Those in this process who wait for the answer to a question. */
export class AnswerListeners {
  readonly #listeners = new Map<string, Set<() => void>>();

  tell(id: string): void {
    for (const listener of this.#listeners.get(id) ?? []) listener();
  }

  /** Resolves after a time, or with an answer that was given in this process. */
  async next(id: string, ms: number, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const listeners = this.#listeners.get(id) ?? new Set();
    this.#listeners.set(id, listeners.add(resolve));
    const onAbort = () => reject(signal.reason as Error);
    signal.addEventListener("abort", onAbort, { once: true });
    const timer = setTimeout(resolve, Math.max(0, ms));
    try {
      await promise;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
      listeners.delete(resolve);
      if (listeners.size === 0) this.#listeners.delete(id);
    }
  }
}
