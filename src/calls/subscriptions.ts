import { PlugboardError, isPlugboardError } from "../errors.ts";
import { abortable } from "../lib/abortable.ts";
import type { Connection } from "../servers/connection.ts";
import { gone, wasNotExecuted } from "../servers/connection-errors.ts";
import type { ConnectionKey, Use } from "../servers/connection-key.ts";
import { keepListening, untilOver } from "../servers/listening.ts";
import type { Session } from "../servers/session.ts";
import { PacedChanges } from "./paced-changes.ts";

export type ResourceListener = (update: { server: string; uri: string }) => void;

export interface SubscribeOptions {
  signal?: AbortSignal | undefined;
  /** The server accepted at first and refuses now, for example after a restart. */
  onRefused?: ((error: PlugboardError) => void) | undefined;
}

/** One object for each: the same function may subscribe twice. */
interface Subscriber extends SubscribeOptions {
  use: Use;
  /** False once a new configuration no longer shows the server to whoever subscribed. */
  mayHear(): boolean;
  listener: ResourceListener;
  /** Where it is now: a changed configuration may give it another connection. */
  at: Subscription;
}

interface Subscription {
  key: ConnectionKey;
  uri: string;
  subscribers: Set<Subscriber>;
  /** The connection that is kept up for it. */
  held?: Connection;
  /** The first opening, which everybody who joins waits for. */
  opening?: Promise<void>;
  /** The session that it is open on. */
  opened?: { session: Session; done: Promise<void> };
  /** Ends what was begun on the last session. */
  stop?: AbortController;
  /** The server has accepted it once, so that whoever listens may have missed something since. */
  wasOpen?: true;
}

export interface SubscriptionSettings {
  key(server: string, use: Use): ConnectionKey;
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
  readonly #changes = new PacedChanges<Subscription>(tellChange);

  constructor(settings: SubscriptionSettings) {
    this.#settings = settings;
  }

  /** Returns a function that ends the subscription. */
  async subscribe(
    server: string,
    use: Use,
    uri: string,
    listener: ResourceListener,
    { mayHear, ...options }: SubscribeOptions & Pick<Subscriber, "mayHear">,
  ): Promise<() => Promise<void>> {
    const at = this.#at(this.#settings.key(server, use), uri);
    const mine: Subscriber = { ...options, use, mayHear, listener, at };
    at.subscribers.add(mine);
    at.opened?.session.usedBy(use.caller);
    try {
      // The caller's patience ends the caller's wait, not the opening that others wait for too.
      await abortable(at.opening ?? this.#begin(at), options.signal, server);
    } catch (error) {
      await this.#leave(mine);
      throw error;
    }
    return () => this.#leave(mine);
  }

  /** Subscribes again after a connection got a new session. */
  async reopen(key: ConnectionKey): Promise<void> {
    const { session } = this.#settings.connection(key);
    if (!session) return;
    await Promise.allSettled(this.#of(key).map((one) => this.#open(one, session)));
  }

  /** A server is configured anew: it is connected again for those who listen, each as its caller now has to. */
  restart(server: string): void {
    const former = [...this.#subscriptions.values()].filter(({ key }) => key.server === server);
    const moved = new Set<Subscription>();
    for (const one of former) {
      this.#subscriptions.delete(nameOf(one.key, one.uri));
      void this.#end(one);
    }
    for (const { uri, subscribers, wasOpen } of former) {
      for (const subscriber of subscribers) {
        const at = this.#at(this.#settings.key(server, subscriber.use), uri);
        if (wasOpen) at.wasOpen = wasOpen;
        subscriber.at = at;
        at.subscribers.add(subscriber);
        moved.add(at);
      }
    }
    for (const at of moved) this.#begin(at).catch(() => undefined);
  }

  /** Ends the subscriptions of those who no longer see the server, and tells them. */
  endHidden(): void {
    for (const { key, subscribers } of this.#subscriptions.values())
      for (const subscriber of subscribers) {
        if (subscriber.mayHear()) continue;
        void this.#leave(subscriber);
        safely(() => subscriber.onRefused?.(hidden(key.server)));
      }
  }

  hear(key: ConnectionKey, { uri }: Record<string, unknown>): void {
    const heard = typeof uri === "string" ? this.#subscriptions.get(nameOf(key, uri)) : undefined;
    if (heard) this.#changes.changed(heard);
  }

  /** What the server said may not have arrived, so everything that is subscribed to counts as changed. */
  missed(key: ConnectionKey): void {
    for (const one of this.#of(key)) tellChange(one);
  }

  /** Ends every stream, but does not close the connections. */
  close(): void {
    for (const { stop } of this.#subscriptions.values()) stop?.abort();
    this.#subscriptions.clear();
    this.#changes.close();
  }

  #at(key: ConnectionKey, uri: string): Subscription {
    const name = nameOf(key, uri);
    const at = this.#subscriptions.get(name) ?? { key, uri, subscribers: new Set() };
    this.#subscriptions.set(name, at);
    return at;
  }

  #of({ text }: ConnectionKey): Subscription[] {
    return [...this.#subscriptions.values()].filter(({ key }) => key.text === text);
  }

  async #leave(subscriber: Subscriber): Promise<void> {
    const { at } = subscriber;
    at.subscribers.delete(subscriber);
    const name = nameOf(at.key, at.uri);
    if (at.subscribers.size > 0 || this.#subscriptions.get(name) !== at) return;
    this.#subscriptions.delete(name);
    await this.#end(at);
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
    const [first] = subscription.subscribers;
    const connection = this.#settings.connection(subscription.key, first?.use);
    this.#hold(subscription, connection);
    const session = await connection.ready();
    if (subscription.subscribers.size === 0) return;
    try {
      await this.#open(subscription, session);
    } catch (error) {
      if (!wasNotExecuted(error) || subscription.subscribers.size === 0) throw error;
      // The server had forgotten the session. The new one may have been asked already.
      await this.#open(subscription, await connection.ready());
    }
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
    subscription.stop?.abort();
    const { signal } = (subscription.stop = new AbortController());
    const again = subscription.wasOpen;
    const done = this.#ask(subscription, session, signal);
    const opened = { session, done };
    subscription.opened = opened;
    done.then(
      () => {
        subscription.wasOpen = true;
        if (again) tellChange(subscription);
      },
      () => {
        // Whoever comes next asks anew.
        if (subscription.opened !== opened) return;
        delete subscription.opening;
        delete subscription.opened;
      },
    );
    return done;
  }

  /** Resolves when the server has accepted, and rejects when it refuses, is silent, or another session is asked. */
  #ask(subscription: Subscription, session: Session, signal: AbortSignal): Promise<void> {
    for (const { use } of subscription.subscribers) session.usedBy(use.caller);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const { server } = subscription.key;
    const timer = setTimeout(
      () => reject(unanswered(server, session.redact(subscription.uri))),
      deadline.timeoutMs,
    ).unref();
    const refuse = (error: PlugboardError) => {
      reject(error);
      if (subscription.wasOpen) tellRefusal(subscription, error);
    };
    const isModern = session.greeting.era === "modern";
    const asking = { session, signal, resolve, reject, refuse };
    const kept = isModern ? this.#listen(subscription, asking) : this.#subscribe(subscription, asking);
    void kept.then(() => reject(gone(server).with({ executed: "no" })));
    return promise.finally(() => clearTimeout(timer));
  }

  #listen(subscription: Subscription, { session, signal, resolve, refuse }: Asking): Promise<void> {
    const { key, uri } = subscription;
    const shown = session.redact(uri);
    return keepListening(session, {
      filter: { resourceSubscriptions: [uri] },
      signal,
      random: () => this.#settings.random(),
      onOpen: ({ resourceSubscriptions: honoured }, again) => {
        if (!Array.isArray(honoured) || !honoured.includes(uri))
          return refuse(refused(key, shown, "it does not report changes of this resource"));
        if (again && subscription.wasOpen) tellChange(subscription);
        resolve();
      },
      onFailed: (error) => subscription.held?.learn(session, error),
      onRefused: ({ code, message }) => refuse(refused(key, shown, `${message} (${code})`)),
    });
  }

  #subscribe(
    subscription: Subscription,
    { session, signal, resolve, reject, refuse }: Asking,
  ): Promise<void> {
    const { key, uri, held } = subscription;
    const random = () => this.#settings.random();
    return untilOver(session, { signal, random }, async (again) => {
      const asked = session.request("resources/subscribe", { uri }, { ...deadline, signal });
      const answer = await asked.catch((error: unknown) => {
        held?.learn(session, error);
        // Where the server no longer knows the session, the next one gets its own question.
        if (wasNotExecuted(error) || signal.aborted) reject(error);
        else if (isPlugboardError(error)) refuse(error);
        throw error;
      });
      if ("error" in answer) {
        refuse(refused(key, session.redact(uri), `${answer.error.message} (${answer.error.code})`));
        return "refused";
      }
      if (again && subscription.wasOpen) tellChange(subscription);
      resolve();
      return "done";
    });
  }

  async #end(subscription: Subscription): Promise<void> {
    const { held, uri, opened, stop } = subscription;
    this.#changes.forget(subscription);
    stop?.abort();
    if (!held) return;
    held.holds--;
    if (opened && opened.session === held.session && opened.session.greeting.era === "legacy")
      await opened.session.request("resources/unsubscribe", { uri }, deadline).catch(() => undefined);
  }
}

interface Asking {
  session: Session;
  signal: AbortSignal;
  resolve(): void;
  reject(error: unknown): void;
  refuse(error: PlugboardError): void;
}

const deadline = { timeoutMs: 30_000, maxTimeoutMs: 30_000 };

function tellChange({ key, uri, subscribers }: Subscription): void {
  for (const { listener, mayHear } of subscribers)
    if (mayHear()) safely(() => listener({ server: key.server, uri }));
}

function tellRefusal({ subscribers }: Subscription, error: PlugboardError): void {
  for (const { onRefused } of subscribers) safely(() => onRefused?.(error));
}

/** An error in one listener must not affect the others. */
function safely(tell: () => void): void {
  try {
    tell();
  } catch {
    // See above.
  }
}

function refused({ server }: ConnectionKey, uri: string, why: string): PlugboardError {
  return new PlugboardError("server-error", `"${server}" refused the subscription to ${uri}: ${why}.`, {
    server,
  });
}

function hidden(server: string): PlugboardError {
  return new PlugboardError("server-unknown", `There is no server "${server}" any more.`, { server });
}

function unanswered(server: string, uri: string): PlugboardError {
  const message = `"${server}" did not answer the subscription to ${uri} within ${deadline.timeoutMs / 1000} s.`;
  return new PlugboardError("not-responding", message, { server });
}

function nameOf(key: ConnectionKey, uri: string): string {
  return `${key.text}\0${uri}`;
}
