import { PlugboardError } from "../errors.ts";
import type { Connection } from "../servers/connection.ts";
import { keepListening } from "../servers/listening.ts";
import type { Session } from "../servers/session.ts";

export type ResourceListener = (update: { server: string; uri: string }) => void;

interface Subscription {
  server: string;
  uri: string;
  listeners: Set<ResourceListener>;
  /** Ends the modern stream of the session it was opened on. */
  stop?: AbortController;
}

export interface SubscriptionSettings {
  connection(server: string): Connection;
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
  async subscribe(server: string, uri: string, listener: ResourceListener): Promise<() => Promise<void>> {
    const key = `${server}\0${uri}`;
    const known = this.#subscriptions.get(key);
    const subscription = known ?? { server, uri, listeners: new Set<ResourceListener>() };
    subscription.listeners.add(listener);
    this.#subscriptions.set(key, subscription);
    try {
      if (!known) await this.#open(subscription, await this.#settings.connection(server).ready());
    } catch (error) {
      this.#subscriptions.delete(key);
      throw error;
    }
    return async () => {
      subscription.listeners.delete(listener);
      if (subscription.listeners.size > 0 || !this.#subscriptions.delete(key)) return;
      await this.#close(subscription);
    };
  }

  /** A server has connected anew: it has forgotten us. */
  async reopen(server: string): Promise<void> {
    const { session } = this.#settings.connection(server);
    if (!session) return;
    const mine = [...this.#subscriptions.values()].filter((one) => one.server === server);
    await Promise.allSettled(mine.map((one) => this.#open(one, session)));
  }

  hear(server: string, params: Record<string, unknown>): void {
    const { uri } = params;
    if (typeof uri !== "string") return;
    for (const listener of this.#subscriptions.get(`${server}\0${uri}`)?.listeners ?? [])
      listener({ server, uri });
  }

  /** Ends every stream; the connections themselves are closed by others. */
  close(): void {
    for (const { stop } of this.#subscriptions.values()) stop?.abort();
    this.#subscriptions.clear();
  }

  async #open(subscription: Subscription, session: Session): Promise<void> {
    const { server, uri } = subscription;
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
      `"${server}" does not let us subscribe to ${uri}: ${message} (${code}).`,
      { server },
    );
  }

  async #close({ server, uri, stop }: Subscription): Promise<void> {
    stop?.abort();
    const { session } = this.#settings.connection(server);
    if (session?.greeting.era === "legacy")
      await session.request("resources/unsubscribe", { uri }, deadline).catch(() => undefined);
  }
}

const deadline = { timeoutMs: 30_000, maxTimeoutMs: 30_000 };
