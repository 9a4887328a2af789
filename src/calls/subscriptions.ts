import { PlugboardError } from "../errors.ts";
import { abortable } from "../lib/abortable.ts";
import type { Connection } from "../servers/connection.ts";
import type { ConnectionKey, Use } from "../servers/connection-key.ts";
import { keepListening } from "../servers/listening.ts";
import type { Session } from "../servers/session.ts";

export type ResourceListener = (update: { server: string; uri: string }) => void;

interface Subscription {
  key: ConnectionKey;
  use: Use;
  uri: string;
  /** One object for each subscriber: the same function may subscribe twice. */
  listeners: Set<{ listener: ResourceListener }>;
  /** The connection that is kept up for it. */
  held?: Connection;
  /** The first opening, which everybody who joins waits for. */
  opening?: Promise<void>;
  /** The session that it is open on. */
  opened?: { session: Session; done: Promise<void> };
  /** Ends the modern stream of that session. */
  stop?: AbortController;
}

export interface SubscriptionSettings {
  connection(key: ConnectionKey, use?: Use): Connection;
  random(): number;
}

/**
 * Subscriptions to resources that survive reconnects and changed configurations. A legacy server is asked by
 * `resources/subscribe`, a modern one by a stream of its own; either way one question for however many listeners.
 */
export class ResourceSubscriptions {
  readonly #settings: SubscriptionSettings;
  readonly #subscriptions = new Map<string, Subscription>();

  constructor(settings: SubscriptionSettings) {
    this.#settings = settings;
  }

  /** Returns a function that ends the subscription. */
  async subscribe(
    key: ConnectionKey,
    use: Use,
    uri: string,
    listener: ResourceListener,
    signal?: AbortSignal,
  ): Promise<() => Promise<void>> {
    const name = nameOf(key, uri);
    const subscription = this.#subscriptions.get(name) ?? { key, use, uri, listeners: new Set() };
    this.#subscriptions.set(name, subscription);
    const mine = { listener };
    subscription.listeners.add(mine);
    const leave = async () => {
      subscription.listeners.delete(mine);
      if (subscription.listeners.size > 0 || this.#subscriptions.get(name) !== subscription) return;
      this.#subscriptions.delete(name);
      await this.#end(subscription);
    };
    try {
      // The caller's patience ends the caller's wait, not the opening that others wait for too.
      await abortable(subscription.opening ?? this.#begin(subscription), signal, key.server);
    } catch (error) {
      await leave();
      throw error;
    }
    return leave;
  }

  /** Subscribes again after a connection got a new session. */
  async reopen(key: ConnectionKey): Promise<void> {
    const { session } = this.#settings.connection(key);
    if (!session) return;
    await Promise.allSettled(
      this.#of((one) => one.key.text === key.text).map((one) => this.#open(one, session)),
    );
  }

  /** A server is configured anew: it is connected again for those who listen. */
  restart(server: string): void {
    for (const one of this.#of(({ key }) => key.server === server)) this.#begin(one).catch(() => undefined);
  }

  hear(key: ConnectionKey, { uri }: Record<string, unknown>): void {
    if (typeof uri !== "string") return;
    for (const { listener } of this.#subscriptions.get(nameOf(key, uri))?.listeners ?? []) {
      try {
        listener({ server: key.server, uri });
      } catch {
        // An error in one listener must not affect the others.
      }
    }
  }

  /** Ends every stream, but does not close the connections. */
  close(): void {
    for (const { stop } of this.#subscriptions.values()) stop?.abort();
    this.#subscriptions.clear();
  }

  #of(isMeant: (one: Subscription) => boolean): Subscription[] {
    return [...this.#subscriptions.values()].filter(isMeant);
  }

  /** Connects, and keeps that connection up. Whoever comes after a failure tries again. */
  #begin(subscription: Subscription): Promise<void> {
    const opening = this.#connect(subscription);
    subscription.opening = opening;
    opening.catch(() => {
      if (subscription.opening === opening) delete subscription.opening;
    });
    return opening;
  }

  async #connect(subscription: Subscription): Promise<void> {
    const connection = this.#settings.connection(subscription.key, subscription.use);
    this.#hold(subscription, connection);
    const session = await connection.ready();
    if (subscription.listeners.size > 0) await this.#open(subscription, session);
  }

  #hold(subscription: Subscription, connection: Connection): void {
    if (subscription.held === connection) return;
    if (subscription.held) subscription.held.holds--;
    subscription.held = connection;
    connection.holds++;
  }

  /** Once on each session, whoever comes first. */
  #open(subscription: Subscription, session: Session): Promise<void> {
    if (subscription.opened?.session === session) return subscription.opened.done;
    const opened = { session, done: this.#ask(subscription, session) };
    subscription.opened = opened;
    opened.done.catch(() => {
      if (subscription.opened === opened) delete subscription.opened;
    });
    return opened.done;
  }

  async #ask(subscription: Subscription, session: Session): Promise<void> {
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
      `"${key.server}" refused the subscription to ${uri}: ${message} (${code}).`,
      { server: key.server },
    );
  }

  async #end({ held, uri, stop }: Subscription): Promise<void> {
    stop?.abort();
    if (!held) return;
    held.holds--;
    if (held.session?.greeting.era === "legacy")
      await held.session.request("resources/unsubscribe", { uri }, deadline).catch(() => undefined);
  }
}

const deadline = { timeoutMs: 30_000, maxTimeoutMs: 30_000 };

function nameOf(key: ConnectionKey, uri: string): string {
  return `${key.text}\0${uri}`;
}
