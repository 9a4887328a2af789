import { MessageBudget } from "../servers/rpc/message-budget.ts";

interface Told {
  key: { server: string };
  /** All listeners. */
  subscribers: { readonly size: number };
}

const againMs = 200;

/**
 * Reports changes to listeners as they come. Beyond a budget per server, each further change is reported once, later: a
 * server that reports without end must not slow down calls to others.
 */
export class PacedChanges<T extends Told> {
  readonly #tell: (changed: T) => void;
  readonly #budgets = new Map<string, MessageBudget>();
  /** Changes that were not reported yet. */
  readonly #waiting = new Set<T>();
  #timer: NodeJS.Timeout | undefined;

  constructor(tell: (changed: T) => void) {
    this.#tell = tell;
  }

  changed(one: T): void {
    if (this.#waiting.has(one)) return;
    if (this.#mayTell(one)) return this.#tell(one);
    this.#waiting.add(one);
    this.#timer ??= setTimeout(() => this.#tellWaiting(), againMs).unref();
  }

  /** Nobody listens any more. */
  forget(one: T): void {
    this.#waiting.delete(one);
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#waiting.clear();
  }

  #tellWaiting(): void {
    this.#timer = undefined;
    for (const one of this.#waiting) {
      if (!this.#mayTell(one)) continue;
      this.#waiting.delete(one);
      this.#tell(one);
    }
    if (this.#waiting.size > 0) this.#timer = setTimeout(() => this.#tellWaiting(), againMs).unref();
  }

  #mayTell({ key: { server }, subscribers }: T): boolean {
    const budget = this.#budgets.get(server) ?? new MessageBudget();
    this.#budgets.set(server, budget);
    return budget.takes(subscribers.size);
  }
}
