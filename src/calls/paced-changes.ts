import { MessageBudget } from "../servers/rpc/message-budget.ts";

interface Told {
  key: { server: string };
  /** Everybody who is told. */
  subscribers: { readonly size: number };
}

const againMs = 200;

/**
 * Tells of changes as they are reported. Where a server reports more than can be passed on, what has changed meanwhile is
 * told once, later: a server that reports without end must not slow down calls to others.
 */
export class PacedChanges<T extends Told> {
  readonly #tell: (changed: T) => void;
  readonly #budgets = new Map<string, MessageBudget>();
  /** What has changed and was not told. */
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
