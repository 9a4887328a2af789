import { PlugboardError } from "../errors.ts";
import type { Connection } from "../servers/connection.ts";
import type { ConnectionKey } from "../servers/connection-key.ts";
import { keepListening } from "../servers/listening.ts";
import type { Session } from "../servers/session.ts";

export type ResourceListener = (update: { server: string; uri: string }) => void;

interface Subscription {
  key: ConnectionKey;
  uri: string;
  connection: Connection;
  listeners: Set<ResourceListener>;
  /** Ends the modern stream of the session it was opened on. */
  stop?: AbortController;
}

export interface SubscriptionSettings {
  connection(key: ConnectionKey): Connection;
  random(): number;
}

/**
 * Subscriptions to resources that survive reconnects. A legacy server is asked by `resources/subscribe`, a modern one
 * by a stream of its own; either way one question for however many listeners.
 */
export class ResourceSubscriptions {
  readonly #settings: SubscriptionSettings;
  readonly #subscriptions = new Map<string, Subscription>();

  constructor(settings: SubscriptionSettings) {
    this.#settings = settings;
  }

  /** Returns how to stop listening. */
  async subscribe(
    key: ConnectionKey,
    uri: string,
    listener: ResourceListener,
    signal?: AbortSignal,
  ): Promise<() => Promise<void>> {
    const name = nameOf(key, uri);
    const known = this.#subscriptions.get(name);
    const connection = known?.connection ?? this.#settings.connection(key);
    const subscription = known ?? { key, uri, connection, listeners: new Set<ResourceListener>() };
    subscription.listeners.add(listener);
    if (!known) {
      this.#subscriptions.set(name, subscription);
      connection.holds++;
    }
    try {
      if (!known) await this.#open(subscription, await connection.ready(signal));
    } catch (error) {
      this.#forget(subscription);
      throw error;
    }
    return async () => {
      subscription.listeners.delete(listener);
      if (subscription.listeners.size > 0 || !this.#forget(subscription)) return;
      await close(subscription);
    };
  }

  /** A connection has a new session, which has never heard of us. */
  async reopen(key: ConnectionKey): Promise<void> {
    const mine = [...this.#subscriptions.values()].filter((one) => one.key.text === key.text);
    await Promise.allSettled(
      mine.map(async (one) => one.connection.session && this.#open(one, one.connection.session)),
    );
  }

  hear(key: ConnectionKey, { uri }: Record<string, unknown>): void {
    if (typeof uri !== "string") return;
    for (const listener of this.#subscriptions.get(nameOf(key, uri))?.listeners ?? []) {
      try {
        listener({ server: key.server, uri });
      } catch {
        // What one listener does with the news is no affair of the others.
      }
    }
  }

  /** Ends every stream; the connections themselves are closed by others. */
  close(): void {
    for (const { stop } of this.#subscriptions.values()) stop?.abort();
    this.#subscriptions.clear();
  }

  #forget(subscription: Subscription): boolean {
    const wasKnown = this.#subscriptions.delete(nameOf(subscription.key, subscription.uri));
    if (wasKnown) subscription.connection.holds--;
    return wasKnown;
  }

  async #open(subscription: Subscription, session: Session): Promise<void> {
    const { key, uri } = subscription;
    subscription.stop?.abort();
    if (session.greeting.era === "modern") {
      const stop = new AbortController();
      subscription.stop = stop;
      void keepListening(session, { resourceSubscriptions: [uri] }, stop.signal, this.#settings.random);
      return;
    }
    const answer = await session.request("resources/subscribe", { uri }, deadline);
    if ("result" in answer) return;
    const { code, message } = answer.error;
    throw new PlugboardError(
      "server-error",
      `"${key.server}" does not let us subscribe to ${uri}: ${message} (${code}).`,
      { server: key.server },
    );
  }
}

const deadline = { timeoutMs: 30_000, maxTimeoutMs: 30_000 };

function nameOf(key: ConnectionKey, uri: string): string {
  return `${key.text}\0${uri}`;
}

async function close({ connection, uri, stop }: Subscription): Promise<void> {
  stop?.abort();
  const { session } = connection;
  if (session?.greeting.era === "legacy")
    await session.request("resources/unsubscribe", { uri }, deadline).catch(() => undefined);
}
