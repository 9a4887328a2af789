import type { TransientMap } from "../../lib/transient.ts";
import type { Waiting } from "./requests.ts";

type Under = Pick<TransientMap<Waiting>, "size" | "has" | "values">;

const maxDelayMs = 2 ** 31 - 1;

/** One timer for the deadlines of all requests, set to the earliest; it holds the process only while one is in flight. */
export class Deadlines {
  readonly now: () => number;
  readonly #waiting: Under;
  readonly #expire: (waiting: Waiting, elapsedMs: number) => void;
  #timer: NodeJS.Timeout | undefined;
  #timerDueAt = Infinity;

  constructor(
    waiting: Under,
    expire: (waiting: Waiting, elapsedMs: number) => void,
    now: () => number = () => performance.now(),
  ) {
    this.#waiting = waiting;
    this.#expire = expire;
    this.now = now;
  }

  watch({ dueAt }: Waiting): void {
    if (this.#timer !== undefined && this.#timerDueAt <= dueAt) {
      if (this.#waiting.size === 1) this.#timer.ref();
      return;
    }
    clearTimeout(this.#timer);
    this.#timerDueAt = dueAt;
    const delay = Math.min(Math.max(1, Math.ceil(dueAt - this.now())), maxDelayMs);
    this.#timer = setTimeout(() => this.#wake(), delay);
  }

  /** The timer stays where it is: when it fires it finds the later deadline and sleeps again. */
  extend(waiting: Waiting): void {
    const { timeoutMs, maxTimeoutMs } = waiting.options;
    waiting.dueAt = Math.min(this.now() + timeoutMs, waiting.startedAt + maxTimeoutMs);
  }

  hold(waiting: Waiting): () => void {
    if (waiting.questions++ === 0) waiting.heldAt = this.now();
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      if (--waiting.questions > 0) return;
      const heldMs = this.now() - waiting.heldAt;
      waiting.startedAt += heldMs;
      waiting.dueAt += heldMs;
      if (this.#waiting.has(waiting.id)) this.watch(waiting);
    };
  }

  /** A request has its outcome. */
  ended(): void {
    if (this.#waiting.size === 0) this.#timer?.unref();
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#timerDueAt = Infinity;
  }

  #wake(): void {
    this.close();
    const now = this.now();
    const expired: Waiting[] = [];
    let next: Waiting | undefined;
    for (const waiting of this.#waiting.values()) {
      if (waiting.questions > 0) continue;
      if (waiting.dueAt <= now) expired.push(waiting);
      else if (next === undefined || waiting.dueAt < next.dueAt) next = waiting;
    }
    if (next) this.watch(next);
    for (const waiting of expired) this.#expire(waiting, now - waiting.startedAt);
  }
}
