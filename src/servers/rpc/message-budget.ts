/** How many messages to one listener each server may send at once, and for how many it may send more each second. */
const burst = 10_000;
const perSecond = 5_000;

/**
 * How much one server may say by itself. Every message is read by everybody who listens, so the more they are, the fewer
 * messages there may be: a server that logs without end must not slow down calls to others.
 */
export class MessageBudget {
  readonly #listeners: () => number;
  readonly #now: () => number;
  #left = burst;
  #at: number;

  constructor(listeners: () => number = () => 1, now: () => number = () => performance.now()) {
    this.#listeners = listeners;
    this.#now = now;
    this.#at = now();
  }

  /** False for a message that has to be dropped, or has to wait. */
  takes(listeners = this.#listeners()): boolean {
    const at = this.#now();
    this.#left = Math.min(burst, this.#left + ((at - this.#at) / 1_000) * perSecond);
    this.#at = at;
    const cost = Math.max(1, listeners);
    // However many listen, a full budget is enough for one message.
    if (this.#left < Math.min(cost, burst)) return false;
    this.#left -= cost;
    return true;
  }
}

/** True for what servers may say as often as they like, and nobody needs to hear all of. Changes and answers are not dropped. */
export function isDroppable(method: string): boolean {
  return !kept.test(method);
}

const kept =
  /\/list_changed$|^notifications\/(cancelled|progress|subscriptions\/|elicitation\/|tasks\/|resources\/updated$)/;

export function droppedMessage(count: number): Record<string, unknown> {
  const data = `${count.toLocaleString("en")} messages of the server were dropped, because they came faster than they can be passed on.`;
  return { level: "warning", logger: "plugboard", data };
}
