/** Tells listeners and async iterators about events, in order. A listener that throws harms nobody else. */
export class EventStream<T> implements AsyncIterable<T> {
  readonly #listeners = new Set<(event: T) => void>();
  readonly #ended = new Set<() => void>();
  #isClosed = false;

  /** Whether anybody listens: events that are made for every call need not be made for nobody. */
  get isHeard(): boolean {
    return this.#listeners.size > 0;
  }

  emit(event: T): void {
    for (const listener of this.#listeners) {
      try {
        listener(event);
      } catch {
        // The engine goes on; what a listener does with an event is its own affair.
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

  /** Events from now on; the iteration ends when the stream is closed. Slow readers lose the oldest beyond `limit`. */
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
