import type { Store } from "../../store/store.ts";

const channel = "approvals";
/** How often all that wait here are looked up at once, for answers that were stored but not published. */
const lookMs = 2_000;

export interface ListenerSettings {
  store(): Promise<Store>;
  /** The questions that have no answer yet. */
  open(): Promise<ReadonlySet<string>>;
}

/**
 * Those in this process who wait for the answer to a question, which any process may give. However many they are, the store
 * is asked once for all of them.
 */
export class AnswerListeners {
  readonly #settings: ListenerSettings;
  readonly #listeners = new Map<string, Set<AnswerListener>>();
  #subscription: Promise<() => void> | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(settings: ListenerSettings) {
    this.#settings = settings;
  }

  /** Listens for the answer to a question: it is woken by every answer from now on. */
  async listen(id: string): Promise<AnswerListener> {
    this.#subscription ??= this.#subscribe();
    await this.#subscription.catch((error: unknown) => {
      this.#subscription = undefined;
      throw error;
    });
    const listeners = this.#listeners.get(id) ?? new Set();
    this.#listeners.set(id, listeners);
    this.#timer ??= setInterval(() => void this.#look(), lookMs).unref();
    const listener = new AnswerListener(() => {
      listeners.delete(listener);
      if (listeners.size === 0) this.#listeners.delete(id);
    });
    listeners.add(listener);
    return listener;
  }

  /** Tells every process that a question does not wait any more. */
  async publish(id: string): Promise<void> {
    this.#tell(id);
    // It is written down: those who do not hear of it look it up.
    await this.#settings
      .store()
      .then((store) => store.messages.publish(channel, { id }))
      .catch(() => undefined);
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    const stop = await this.#subscription?.catch(() => undefined);
    stop?.();
  }

  async #subscribe(): Promise<() => void> {
    const store = await this.#settings.store();
    return store.messages.subscribe(channel, (heard) => {
      if (heard.type === "missed") for (const id of this.#listeners.keys()) this.#tell(id);
      else this.#tell(String((heard.message as { id?: unknown } | null)?.id));
    });
  }

  #tell(id: string): void {
    for (const listener of this.#listeners.get(id) ?? []) listener.tell();
  }

  async #look(): Promise<void> {
    if (this.#listeners.size === 0) {
      clearInterval(this.#timer);
      this.#timer = undefined;
      return;
    }
    const open = await this.#settings.open().catch(() => undefined);
    for (const id of this.#listeners.keys()) if (open && !open.has(id)) this.#tell(id);
  }
}

/** Waits for the answer to one question. */
export class AnswerListener {
  /** True if there may be an answer that was not read yet; also at the beginning. */
  #isTold = true;
  #wake: (() => void) | undefined;
  readonly #stop: () => void;

  constructor(stop: () => void) {
    this.#stop = stop;
  }

  tell(): void {
    this.#isTold = true;
    this.#wake?.();
  }

  /** Resolves with true once there may be an answer, at first at once; with false after a time. */
  async next(ms: number, signal: AbortSignal): Promise<boolean> {
    signal.throwIfAborted();
    if (!this.#isTold) {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const onAbort = () => reject(signal.reason as Error);
      signal.addEventListener("abort", onAbort, { once: true });
      const timer = setTimeout(resolve, Math.max(0, ms));
      this.#wake = resolve;
      try {
        await promise;
      } finally {
        clearTimeout(timer);
        signal.removeEventListener("abort", onAbort);
      }
    }
    const isTold = this.#isTold;
    this.#isTold = false;
    return isTold;
  }

  [Symbol.dispose](): void {
    this.#stop();
  }
}
