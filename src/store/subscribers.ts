import { parseExact } from "../lib/exact-json.ts";
import type { Heard } from "./store.ts";

type Listener = (heard: Heard) => void;

/** A message that some listeners of a channel have not received yet. */
interface Due {
  listeners: ReadonlySet<Listener>;
  those: readonly Listener[];
  heard: () => Heard;
}

/**
 * The listeners of this process. An error in one of them does not affect the others. A message goes to those that listen
 * when it comes, in the order of the messages, also if a listener subscribes, stops or publishes meanwhile.
 */
export class Subscribers {
  readonly #listeners = new Map<string, Set<Listener>>();
  readonly #due: Due[] = [];
  #isTelling = false;

  get isEmpty(): boolean {
    return this.#listeners.size === 0;
  }

  /** Returns how to stop. */
  add(channel: string, listener: Listener): () => void {
    // Its own function, so that a function that subscribes twice is called twice.
    const own: Listener = (heard) => listener(heard);
    const listeners = this.#listeners.get(channel) ?? new Set();
    this.#listeners.set(channel, listeners.add(own));
    return () => {
      listeners.delete(own);
      if (listeners.size === 0 && this.#listeners.get(channel) === listeners) this.#listeners.delete(channel);
    };
  }

  /** Each listener gets a copy of its own. */
  due(channel: string, text: string): void {
    const listeners = this.#listeners.get(channel);
    if (listeners) this.#add(listeners, () => ({ type: "message", message: parseExact(text) }));
  }

  dueMissed(): void {
    for (const listeners of this.#listeners.values()) this.#add(listeners, () => ({ type: "missed" }));
  }

  /** Delivers the messages that wait. */
  tell(): void {
    // Published by a listener: delivered after the message that is being delivered now.
    if (this.#isTelling) return;
    this.#isTelling = true;
    for (let next; (next = this.#due.shift());) tellAll(next);
    this.#isTelling = false;
  }

  clear(): void {
    for (const listeners of this.#listeners.values()) listeners.clear();
    this.#listeners.clear();
  }

  #add(listeners: ReadonlySet<Listener>, heard: () => Heard): void {
    this.#due.push({ listeners, those: [...listeners], heard });
  }
}

function tellAll({ listeners, those, heard }: Due): void {
  for (const listener of those) {
    // Stopped meanwhile.
    if (!listeners.has(listener)) continue;
    try {
      listener(heard());
    } catch {
      // See above.
    }
  }
}
