/** Delivers events to listeners and async iterators, in order. A listener that throws does not affect the others. */
export class EventStream<T> {
  readonly #listeners = new Set<(event: T) => void>();
  readonly #ended = new Set<() => void>();
  #isClosed = false;

  /** False if nobody listens, so that frequent events need not be created. */
  get hasListeners(): boolean {
    return this.#listeners.size > 0;
  }

  get listeners(): number {
    return this.#listeners.size;
  }

  emit(event: T): void {
    for (const listener of this.#listeners) {
      try {
        listener(event);
      } catch {
        // A listener's error must not stop the engine.
      }
    }
  }

  listen(listener: (event: T) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  close(): void {
    this.#isClosed = true;
    this.#listeners.clear();
    for (const end of this.#ended) end();
    this.#ended.clear();
  }

  /**
   * An iterator over the events from now on, which ends when the stream is closed. It listens at once, not only when it
   * is first asked. A slow reader loses the oldest events beyond `limit`.
   */
  read(limit = 10_000): AsyncIterableIterator<T> {
    const queue: T[] = [];
    const waiting: ((result: IteratorResult<T>) => void)[] = [];
    let isOver = this.#isClosed;
    const end = () => {
      isOver = true;
      stop();
      this.#ended.delete(end);
      for (const resolve of waiting.splice(0)) resolve({ done: true, value: undefined });
    };
    const stop = this.listen((event) => {
      const next = waiting.shift();
      if (next) return next({ value: event });
      queue.push(event);
      if (queue.length > limit) queue.shift();
    });
    if (isOver) stop();
    else this.#ended.add(end);
    return {
      next: async () => {
        if (queue.length > 0) return { value: queue.shift() as T };
        if (isOver) return { done: true, value: undefined };
        return new Promise((resolve) => waiting.push(resolve));
      },
      return: async () => {
        end();
        queue.length = 0;
        return { done: true, value: undefined };
      },
      [Symbol.asyncIterator]() {
        return this;
      },
    };
  }
}
