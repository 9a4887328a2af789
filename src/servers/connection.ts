import { setTimeout as sleep } from "node:timers/promises";
import { isPlugboardError } from "../errors.ts";
import type { PlugboardError } from "../errors.ts";
import type { PlugboardEvent } from "../events.ts";
import { abortable, waitCancelled } from "../lib/abortable.ts";
import { PendingWork } from "../lib/pending-work.ts";
import { decide, defaultBackoff } from "./backoff.ts";
import type { Use } from "./connection-key.ts";
import type { BackoffSettings } from "./backoff.ts";
import { asPlugboardError, gone, notYet, summarise, unusable, wasNotExecuted } from "./connection-errors.ts";
import { ThrottledChanges } from "./throttled-changes.ts";
import type { Listener } from "./rpc/inbound.ts";
import type { JsonRpcAnswer } from "./rpc/messages.ts";
import { changesToldBy, keepListening } from "./listening.ts";
import { toEvent } from "./notification-events.ts";
import type { Session, SessionRequest } from "./session.ts";
import { describeState, failuresOf, isUp, transition } from "./state.ts";
import type { ConnectionState, Signal, Verdict } from "./state.ts";

export interface ConnectionSettings {
  name: string;
  /** Whoever answers while no request is under way, and hears every notification. */
  listener?: Listener | undefined;
  /** For whom it is, as events say it. */
  about?: { caller?: string; project?: string; account?: string };
  /** Whether it is kept up by itself, or started when somebody needs it. */
  eager: boolean;
  initial: ConnectionState;
  backoff?: Partial<BackoffSettings>;
  now(): number;
  random(): number;
  emit(event: PlugboardEvent): void;
  /** Opens a session; rejects with a `PlugboardError` and leaves nothing behind. */
  open(hooks: SessionHooks): Promise<Session>;
  /** The server asks, and the transport cannot tell whom. */
  onUntold?: (() => void) | undefined;
  onConnected?: (() => void) | undefined;
  /** What the newest session shows the server. */
  login?: (() => KeptLogin | undefined) | undefined;
}

/** A login that other processes, and other connections, may replace. Other credentials have none of these. */
export interface KeptLogin {
  /** Another one when another token came into use. */
  readonly version?: number;
  /** Whether somebody has logged in since: then it is worth another try. */
  hasNewLogin?(): Promise<boolean>;
  /** Uses what is kept now. */
  reread?(): Promise<void>;
}

export interface SessionHooks {
  signal: AbortSignal;
  onDetail(detail: string): void;
  onLost(error: PlugboardError): void;
  /** A question came that could not be tied to one request. */
  onUntold(): void;
  /** Whoever answers while no request is under way. */
  listener: Listener | undefined;
  onNotification(method: string, params: Record<string, unknown>): void;
}

/** A wait this short for the next attempt is made; a longer one is an error that says when. */
const patienceMs = 1_000;

/**
 * The live side of one server. `#state` is the only truth about how it is; everything else follows from it. After
 * every await the session is compared with the current one, so news from an old session changes nothing.
 */
export class Connection {
  readonly name: string;
  readonly counts = { starts: 0, failures: 0, requests: 0 };
  /** How long the last start took. */
  startMs: number | undefined;
  /** When somebody last wanted something of it, milliseconds since the epoch. */
  usedAt: number;
  /** What keeps it in use beside requests: subscriptions. */
  holds = 0;
  /** On whose behalf it was last used. */
  use: Use | undefined;
  readonly #settings: ConnectionSettings;
  readonly #backoff: BackoffSettings;
  #state: ConnectionState;
  #session: Session | undefined;
  #opening: { promise: Promise<Session>; abort: AbortController } | undefined;
  #retry: NodeJS.Timeout | undefined;
  #listening: AbortController | undefined;
  /** Ends the waits for the next attempt. */
  #waits = new AbortController();
  readonly #changes: ThrottledChanges;
  readonly #retiring = new Set<Session>();
  readonly #leaving = new PendingWork();

  constructor(settings: ConnectionSettings) {
    this.name = settings.name;
    this.#settings = settings;
    this.#backoff = { ...defaultBackoff, ...settings.backoff };
    this.#state = settings.initial;
    this.usedAt = settings.now();
    this.#changes = new ThrottledChanges(settings.emit);
  }

  get state(): ConnectionState {
    return this.#state;
  }

  get session(): Session | undefined {
    return this.#session;
  }

  /** True while somebody waits for it, or is subscribed to something. */
  get isBusy(): boolean {
    if (this.#opening !== undefined || this.holds > 0 || (this.#session?.inFlight ?? 0) > 0) return true;
    for (const { inFlight } of this.#retiring) if (inFlight > 0) return true;
    return false;
  }

  /** A usable session: the current one, or a new one. Concurrent callers share one start. */
  async ready(signal?: AbortSignal): Promise<Session> {
    if (signal?.aborted) throw waitCancelled(signal, this.name);
    const state = this.#state;
    if (isUp(state) && this.#session) return this.#session;
    if (this.#opening) return abortable(this.#opening.promise, signal, this.name);
    if (state.name === "disabled" || state.name === "closed") throw unusable(this.name, state);
    if (state.name === "needs-auth" || state.name === "needs-registration") {
      const isWorthIt = await this.#settings
        .login?.()
        ?.hasNewLogin?.()
        .catch(() => false);
      if (this.#state !== state) return this.ready(signal);
      if (!isWorthIt) throw state.error;
    }
    if (state.name === "waiting" || state.name === "failed") {
      const waitMs = this.#untilRetry(state);
      if (waitMs > patienceMs) throw notYet(state, waitMs);
      if (waitMs > 0) await this.#wait(waitMs, signal);
      if (this.#state !== state || signal?.aborted) return this.ready(signal);
    }
    return abortable(this.#open(), signal, this.name);
  }

  /**
   * Sends a request. It is repeated once, and only when the server certainly did nothing with it: a session that it
   * no longer knows, a connection that broke before the request left, or rights that somebody has got meanwhile.
   */
  async request(
    method: string,
    params: Record<string, unknown>,
    options: SessionRequest,
  ): Promise<JsonRpcAnswer> {
    if (!options.isUpkeep) this.usedAt = this.#settings.now();
    const session = this.#current(options.signal) ?? (await this.#readyFor(options));
    const login = this.#settings.login?.();
    const version = login?.version;
    this.counts.requests++;
    try {
      const answer = await session.request(method, params, options);
      session.hasAnswered = true;
      if (!options.isUpkeep) this.usedAt = this.#settings.now();
      return answer;
    } catch (error) {
      this.#learn(session, error);
      if (options.signal?.aborted) throw error;
      if (login && lacksRights(error) && (await this.#findsOther(login, version)))
        return (await this.ready(options.signal)).request(method, params, options);
      if (!wasNotExecuted(error)) throw error;
      const fresh = await this.ready(options.signal);
      if (fresh === session) throw error;
      return fresh.request(method, params, options);
    }
  }

  /** Whether there is another login by now than when a request was sent; it is in use then. */
  async #findsOther(login: KeptLogin, version: number | undefined): Promise<boolean> {
    const isNew = await login.hasNewLogin?.().catch(() => false);
    if (isNew) await login.reread?.();
    return login.version !== version;
  }

  /** Uses the login that is kept now. Nothing that is under way ends; what has failed is tried anew with its next use. */
  async takeLogin(): Promise<void> {
    if (!isBroken(this.#state)) return this.#settings.login?.()?.reread?.();
    this.#stopWaiting();
    this.#signal({ type: "disconnect" });
  }

  /** Waits for a session; whoever gives the request up ends the waiting, too. */
  async #readyFor({ signal, trace }: SessionRequest): Promise<Session> {
    if (!trace) return this.ready(signal);
    if (trace.cancelled) throw trace.cancelled;
    const stop = new AbortController();
    trace.cancel = (reason) => stop.abort(reason);
    return this.ready(signal ? AbortSignal.any([signal, stop.signal]) : stop.signal);
  }

  /** The session that is there already: most requests need not wait even for a promise. */
  #current(signal: AbortSignal | undefined): Session | undefined {
    return isUp(this.#state) && !signal?.aborted ? this.#session : undefined;
  }

  /** Ends the session, if any, and goes back to `idle`. */
  async disconnect(): Promise<void> {
    this.#signal({ type: "disconnect" });
    await this.#leave();
  }

  /** Forgets failures and tries anew. */
  async reconnect(): Promise<void> {
    await this.disconnect();
    await this.ready();
  }

  async disable(signal: Extract<Signal, { type: "disable" }>): Promise<void> {
    this.#signal(signal);
    await this.#leave();
  }

  enable(): void {
    this.#signal({ type: "enable" });
  }

  /** For good. Resolves when nothing of it is left. */
  async close(): Promise<void> {
    this.#signal({ type: "close" });
    await this.#leave();
  }

  listFailed(error: PlugboardError): void {
    this.#signal({ type: "list-failed", error });
  }

  listRefreshed(): void {
    this.#signal({ type: "list-refreshed" });
  }

  #open(): Promise<Session> {
    const { now } = this.#settings;
    const startedAt = now();
    this.counts.starts++;
    const abort = new AbortController();
    let session: Session | undefined;
    const isCurrent = () =>
      this.#opening?.abort === abort || (session !== undefined && this.#session === session);
    const hooks: SessionHooks = {
      signal: abort.signal,
      onDetail: (detail) => isCurrent() && this.#signal({ type: "detail", detail }),
      onLost: (error) => session && this.#lose(session, error),
      onUntold: () => this.#settings.onUntold?.(),
      listener: this.#settings.listener,
      onNotification: (method, params) => isCurrent() && this.#hear(method, params),
    };
    const begun = Promise.resolve().then(() => this.#settings.open(hooks));
    const promise = begun.then(
      async (opened) => {
        session = opened;
        if (this.#opening?.abort !== abort) {
          await opened.close();
          throw gone(this.name);
        }
        this.#opening = undefined;
        this.#session = opened;
        this.startMs = now() - startedAt;
        this.usedAt = now();
        this.#signal({ type: "connected", at: now() });
        this.#settings.onConnected?.();
        this.#listen(opened);
        if (opened.lost) this.#lose(opened, opened.lost);
        return opened;
      },
      (error: unknown) => {
        if (this.#opening?.abort !== abort) throw gone(this.name);
        this.#opening = undefined;
        const failure = asPlugboardError(error, this.name);
        this.#fail(failure);
        throw failure;
      },
    );
    promise.catch(() => undefined);
    this.#opening = { promise, abort };
    // Only now: whoever hears of the start and wants to use the server shares it.
    this.#signal({ type: "connect", at: startedAt });
    return promise;
  }

  /** A wait that nobody decided on means that the clock was put back. */
  #untilRetry({ retryAt }: { retryAt: number }): number {
    const { longestMs, breakMs } = this.#backoff;
    const waitMs = retryAt - this.#settings.now();
    return waitMs > Math.max(2 * longestMs, breakMs) ? 0 : waitMs;
  }

  /** Also over when the connection is ended, or the caller gives up. */
  async #wait(ms: number, signal: AbortSignal | undefined): Promise<void> {
    const ended = AbortSignal.any([this.#waits.signal, ...(signal ? [signal] : [])]);
    await sleep(ms, undefined, { signal: ended }).catch(() => undefined);
  }

  #fail(error: PlugboardError): void {
    this.counts.failures++;
    this.#signal({ type: "failed", error, verdict: this.#verdict(error) });
    this.#scheduleRetry();
  }

  #lose(session: Session, error: PlugboardError): void {
    if (this.#session !== session) return;
    const lastedMs = isUp(this.#state) ? this.#settings.now() - this.#state.since : 0;
    const wasUseful = session.hasAnswered;
    this.#session = undefined;
    this.#listening?.abort();
    this.counts.failures++;
    this.#signal({ type: "lost", error, verdict: this.#verdict(error, { lastedMs, wasUseful }) });
    this.#retire(session);
    this.#scheduleRetry();
  }

  /** Calls that are still on their way over the old session may finish; a dead one is closed at once. */
  #retire(session: Session): void {
    this.#retiring.add(session);
    const closed = (session.lost ? Promise.resolve() : session.quiet()).then(() => session.close());
    this.#leaving.add(closed.finally(() => this.#retiring.delete(session)));
  }

  /** What a failed request tells about the connection itself. */
  #learn(session: Session, error: unknown): void {
    if (!isPlugboardError(error) || this.#session !== session) return;
    if (wasNotExecuted(error) || error.code === "auth-required") this.#lose(session, error);
  }

  #verdict(error: PlugboardError, life: { lastedMs?: number; wasUseful?: boolean } = {}): Verdict {
    const { now, random } = this.#settings;
    const failures = failuresOf(this.#state);
    return decide({ error, failures, at: now(), ...life }, this.#backoff, random());
  }

  #scheduleRetry(): void {
    clearTimeout(this.#retry);
    const state = this.#state;
    if (!this.#settings.eager || state.name !== "waiting") return;
    const delay = Math.max(0, this.#untilRetry(state));
    this.#retry = setTimeout(() => {
      if (this.#state === state) this.#open().catch(() => undefined);
    }, delay);
    this.#retry.unref();
  }

  #hear(method: string, params: Record<string, unknown>): void {
    const { emit, now, listener } = this.#settings;
    const event = toEvent({ server: this.name, ...this.#settings.about }, method, params, now());
    if (event?.type === "catalog-changed") this.#changes.add(event);
    else if (event) emit(event);
    listener?.onNotification?.(method, params);
  }

  /** In the modern era changes are told only to those who ask; the question is asked again whenever its stream ends. */
  #listen(session: Session): void {
    if (session.greeting.era !== "modern") return;
    const filter = changesToldBy(session.greeting.capabilities);
    if (Object.keys(filter).length === 0) return;
    this.#listening = new AbortController();
    this.#leaving.add(keepListening(session, filter, this.#listening.signal, this.#settings.random));
  }

  async #leave(): Promise<void> {
    this.#stopWaiting();
    this.#listening?.abort();
    if (this.#state.name === "closed") this.#changes.close();
    const { promise, abort } = this.#opening ?? {};
    const session = this.#session;
    this.#opening = undefined;
    this.#session = undefined;
    abort?.abort(gone(this.name));
    for (const old of [...this.#retiring, ...(session ? [session] : [])]) this.#leaving.add(old.close());
    if (promise) this.#leaving.add(promise);
    await this.#leaving.ended();
  }

  #stopWaiting(): void {
    clearTimeout(this.#retry);
    this.#waits.abort();
    this.#waits = new AbortController();
  }

  #signal(signal: Signal): void {
    const before = this.#state;
    const after = transition(before, signal);
    if (after === before) return;
    this.#state = after;
    const { emit, now } = this.#settings;
    const error = "error" in after && after.error ? { error: summarise(after.error) } : {};
    emit({
      type: "connection-changed",
      server: this.name,
      ...this.#settings.about,
      from: before.name,
      ...describeState(after),
      ...error,
      at: now(),
    });
  }
}

export function isBroken({ name }: ConnectionState): boolean {
  return name === "waiting" || name === "failed" || name === "needs-auth" || name === "needs-registration";
}

function lacksRights(error: unknown): boolean {
  return isPlugboardError(error) && error.missingScopes !== undefined;
}
