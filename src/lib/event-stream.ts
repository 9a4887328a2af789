/** Delivers events to listeners and async iterators, in order. A listener that throws does not affect the others. */
export class EventStream<T> implements AsyncIterable<T> {
  readonly #listeners = new Set<(event: T) => void>();
  readonly #ended = new Set<() => void>();
  #isClosed = false;

  /** False if nobody listens, so that frequent events need not be created. */
  get hasListeners(): boolean {
    return this.#listeners.size > 0;
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

  /** Yields events from now on and ends when the stream is closed. A slow reader loses the oldest events beyond `limit`. */
  async *[Symbol.asyncIterator](limit = 10_000): AsyncIterator<T> {
    const queue: T[] = [];
    let wake: (() => void) | undefined;
    const stop = this.listen((event) => {
      queue.push(event);
      if (queue.length > limit) queue.shift();
      wake?.();
    });
    const end = () => wake?.();
    this.#ended.add(end);
    try {
      while (true) {
        while (queue.length > 0) yield queue.shift() as T;
        if (this.#isClosed) return;
        await new Promise<void>((resolve) => (wake = resolve));
      }
    } finally {
      stop();
      this.#ended.delete(end);
    }
  }
}
