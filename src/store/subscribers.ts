import { parseExact } from "../lib/exact-json.ts";
import type { Heard } from "./store.ts";

type Listener = (heard: Heard) => void;

/** Those in this process who listen to messages. An error in one of them does not affect the others. */
export class Subscribers {
  readonly #listeners = new Map<string, Set<Listener>>();

  get isEmpty(): boolean {
    return this.#listeners.size === 0;
  }

  /** Returns how to stop. */
  add(channel: string, listener: Listener): () => void {
    // Its own function, so that one who subscribes twice is told twice.
    const own: Listener = (heard) => listener(heard);
    const listeners = this.#listeners.get(channel) ?? new Set();
    this.#listeners.set(channel, listeners.add(own));
    return () => {
      listeners.delete(own);
      if (listeners.size === 0 && this.#listeners.get(channel) === listeners) this.#listeners.delete(channel);
    };
  }

  /** Each listener gets a copy of its own. */
  tell(channel: string, text: string): void {
    tellAll(this.#listeners.get(channel), () => ({ type: "message", message: parseExact(text) }));
  }

  tellMissed(): void {
    for (const listeners of this.#listeners.values()) tellAll(listeners, () => ({ type: "missed" }));
  }

  clear(): void {
    for (const listeners of this.#listeners.values()) listeners.clear();
    this.#listeners.clear();
  }
}

function tellAll(listeners: ReadonlySet<Listener> | undefined, heard: () => Heard): void {
  // Those that are added meanwhile do not hear it, and those that another one stops neither.
  for (const listener of new Set(listeners)) {
    if (!listeners?.has(listener)) continue;
    try {
      listener(heard());
    } catch {
      // See above.
    }
  }
}
