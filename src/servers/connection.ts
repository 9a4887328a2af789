import { setTimeout as sleep } from "node:timers/promises";
import { isPlugboardError, PlugboardError } from "../errors.ts";
import { questionMs } from "../interact/questions.ts";
import { abortable, waitCancelled } from "../lib/abortable.ts";
import { PendingWork } from "../lib/pending-work.ts";
import { decide, defaultBackoff, nextAttempt } from "./backoff.ts";
import type { Use } from "./connection-key.ts";
import type { BackoffSettings } from "./backoff.ts";
import {
  asPlugboardError,
  gone,
  leadsElsewhere,
  notYet,
  summarise,
  unusable,
  wasNotExecuted,
} from "./connection-errors.ts";
import type { ConnectionSettings, KeptLogin, SessionHooks } from "./connection-settings.ts";
import { SessionDoubts } from "./session-doubts.ts";
import { refusalIn } from "./http-evidence.ts";
import { holdCredentials } from "./request-headers.ts";
import { ThrottledChanges } from "./throttled-changes.ts";
import type { Heard } from "./rpc/inbound.ts";
import { audienceOfConnection } from "./rpc/message-audience.ts";
import type { JsonRpcAnswer } from "./rpc/messages.ts";
import { changesToldBy, keepListening } from "./listening.ts";
import { toEvent } from "./notification-events.ts";
import type { Session, SessionCheck, SessionRequest } from "./session.ts";
import { describeState, failuresOf, isUp, transition } from "./state.ts";
import type { ConnectionState, Signal, Verdict } from "./state.ts";
import type { TargetIdentity } from "./target-identity.ts";
import { Turns } from "./turns.ts";

/** A wait this short for the next attempt is made; a longer one is an error that says when. */
const patienceMs = 1_000;
/**
 * The live side of one server. `#state` is the only truth about how it is; everything else follows from it. After
 * every await the session is compared with the current one, so news from an old session changes nothing.
 */
export class Connection {
  readonly name: string;
  /** The only caller that uses it; absent if several may. */
  readonly caller: string | undefined;
  readonly counts = { starts: 0, failures: 0, requests: 0 };
  /** How long the last start took. */
  startMs: number | undefined;
  /** When somebody last wanted something of it, milliseconds since the epoch; while requests are under way it is busy. */
  usedAt: number;
  /** What keeps it in use beside requests: subscriptions. */
  holds = 0;
  /** On whose behalf it was last used. */
  use: Use | undefined;
  readonly #settings: ConnectionSettings;
  readonly #backoff: BackoffSettings;
  #state: ConnectionState;
  #session: Session | undefined;
  #number = 0;
  #opening: { promise: Promise<Session>; abort: AbortController } | undefined;
  #retry: NodeJS.Timeout | undefined;
  #listening: AbortController | undefined;
  readonly #doubts: SessionDoubts;
  /** Ends the waits for the next attempt. */
  #waits = new AbortController();
  readonly #changes: ThrottledChanges;
  readonly #retiring = new Set<Session>();
  readonly #leaving = new PendingWork();
  readonly #turns: Turns;

  constructor(settings: ConnectionSettings) {
    this.name = settings.name;
    this.caller = settings.caller;
    this.#settings = settings;
    this.#backoff = { ...defaultBackoff, ...settings.backoff };
    this.#state = settings.initial;
    this.usedAt = settings.now();
    this.#turns = new Turns(this.name, questionMs);
    this.#changes = new ThrottledChanges(settings.emit);
    this.#doubts = new SessionDoubts({
      server: this.name,
      isCurrent: (session) => this.#session === session,
      lose: (session, error) => this.#lose(session, error),
    });
  }

  get state(): ConnectionState {
    return this.#state;
  }

  get session(): Session | undefined {
    return this.#session;
  }

  /** Identifies the session, also among those of other connections of this name. */
  get sessionNumber(): number | undefined {
    return this.#session && this.#number;
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
      if (waitMs > 0) await this.wait(waitMs, signal);
      if (this.#state !== state || signal?.aborted) return this.ready(signal);
    }
    return abortable(this.#open(), signal, this.name);
  }

  /**
   * Sends a request. It is repeated once, and only when the server certainly did nothing with it: a session that it
   * no longer knows, an era that it has left, headers that do not fit its tool, a connection that broke before the
   * request left, or rights that somebody has got meanwhile.
   */
  request(method: string, params: Record<string, unknown>, options: SessionRequest): Promise<JsonRpcAnswer> {
    if (!options.exclusive) return this.#request(method, params, options);
    // The deadline of a request begins when it is sent, not while it waits.
    if (this.#settings.asksUntold?.()) return this.#requestInTurn(method, params, options);
    options.turn = this.#turns.begin();
    return this.#request(method, params, options);
  }

  async #requestInTurn(
    method: string,
    params: Record<string, unknown>,
    options: SessionRequest,
  ): Promise<JsonRpcAnswer> {
    options.turn = await this.#turns.next(untilGivenUp(options));
    return this.#request(method, params, options);
  }

  async #request(
    method: string,
    params: Record<string, unknown>,
    options: SessionRequest,
  ): Promise<JsonRpcAnswer> {
    try {
      const session = this.#checked(options) ?? (await this.#readyFor(options));
      const login = this.#settings.login?.();
      const version = login?.version;
      this.counts.requests++;
      let failure: unknown;
      try {
        const answer = await session.request(method, params, options);
        session.hasAnswered = true;
        session.timeouts = 0;
        if (!("error" in answer)) return answer;
        if (options.check && answer.error.code === headerMismatch)
          return await this.#withOtherHeaders(method, params, options, options.check);
        if (!(await this.#doubts.isOfOtherEra(session, answer.error))) return answer;
      } catch (error) {
        failure = error;
        // That somebody's own credentials are refused says nothing about the connection, nor about its login.
        if (holdCredentials(options.headers) && isRefusal(error)) throw ownRefused(error, this.name);
        this.learn(session, error);
        if (isPlugboardError(error, "call-timeout")) this.#doubts.countTimeout(session, options.timeoutMs);
        if (options.signal?.aborted) throw error;
        if (login && lacksRights(error) && (await this.#findsOther(login, version)))
          return await (await this.#readyFor(options)).request(method, params, options);
        if (options.check && refusalIn(error)?.code === headerMismatch)
          return await this.#withOtherHeaders(method, params, options, options.check);
        if (!wasNotExecuted(error) && !(await this.#doubts.isOfOtherEra(session, refusalIn(error))))
          throw error;
      }
      const fresh = await this.#readyFor(options);
      if (fresh === session) throw failure;
      return await fresh.request(method, params, options);
    } finally {
      if (!options.isUpkeep) this.usedAt = this.#settings.now();
      options.turn?.end();
    }
  }

  /** Sends a notification; connects first where that is needed. */
  async notify(
    method: string,
    params: Record<string, unknown>,
    caller: string | undefined,
    signal?: AbortSignal,
  ): Promise<void> {
    this.usedAt = this.#settings.now();
    const session = await this.ready(signal);
    session.usedBy(caller);
    await session.notify(method, params);
  }

  /** Some headers of a call follow the definition of its tool, which the server has changed without a word. */
  async #withOtherHeaders(
    method: string,
    params: Record<string, unknown>,
    options: SessionRequest,
    check: SessionCheck,
  ): Promise<JsonRpcAnswer> {
    await check.reread();
    return (await this.#readyFor(options)).request(method, params, options);
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
    this.resume();
  }

  /** Starts it if it is kept up by itself or somebody is subscribed to something. */
  resume(): void {
    if (this.#isWanted && this.#state.name === "ready") this.ready().catch(() => undefined);
  }

  get #isWanted(): boolean {
    return this.#settings.eager || this.holds > 0;
  }

  /** Waits for a session that the request may be sent over; whoever gives the request up ends the waiting, too. */
  async #readyFor(options: SessionRequest): Promise<Session> {
    const { trace, check, onlyAt } = options;
    if (trace?.cancelled) throw trace.cancelled;
    if (!options.isUpkeep) this.usedAt = this.#settings.now();
    const signal = untilGivenUp(options);
    for (;;) {
      const session = await this.ready(signal);
      if (onlyAt && !session.identity.equals(onlyAt)) throw leadsElsewhere(this.name);
      if (!check || this.#isFor(check, session)) return session;
      await check.again(session.identity);
      const checked = this.#checked(options);
      if (checked) return checked;
    }
  }

  /** The session that is there already: most requests need not wait even for a promise. */
  #checked({ signal, check, onlyAt }: SessionRequest): Session | undefined {
    const session = this.#session;
    if (!session || !isUp(this.#state) || signal?.aborted || !leadsTo(session, onlyAt)) return undefined;
    if (!check) return session;
    return this.#isFor(check, session) ? session : undefined;
  }

  #isFor(check: SessionCheck, session: Session): boolean {
    return check.session === this.sessionNumber && !check.isStale && leadsTo(session, check.target);
  }

  /** Ends the session, if any, and goes back to `ready`. */
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

  listFailed(list: string, error: PlugboardError): void {
    this.#signal({ type: "list-failed", list, error });
  }

  listRefreshed(list: string): void {
    this.#signal({ type: "list-refreshed", list });
  }

  #open(): Promise<Session> {
    const { now } = this.#settings;
    const startedAt = now();
    this.counts.starts++;
    const abort = new AbortController();
    let session: Session | undefined;
    let skipped = 0;
    const isCurrent = () =>
      this.#opening?.abort === abort || (session !== undefined && this.#session === session);
    const hooks: SessionHooks = {
      signal: abort.signal,
      onDetail: (detail) => isCurrent() && this.#signal({ type: "detail", detail }),
      onStderr: (line) => this.#log(line, "stderr", session),
      onSkipped: (line) => ++skipped <= maxSkippedLines && this.#log(line, "stdout", session),
      onLost: (error) => session && this.#lose(session, error),
      onMissed: () => {
        if (!isCurrent()) return;
        this.#missLists();
        this.#settings.onMissed?.();
      },
      onDoubted: () => session && isCurrent() && void this.#doubts.ask(session),
      onUntold: () => this.#settings.onUntold?.(),
      listener: this.#settings.listener,
      onNotification: (method, params, heard) => isCurrent() && this.#hear(method, params, heard),
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
        this.#number = this.#settings.nextSession();
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

  /** Resolves after a while, or when the connection is ended or the caller gives up. */
  async wait(ms: number, signal: AbortSignal | undefined): Promise<void> {
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
  learn(session: Session, error: unknown): void {
    if (!isPlugboardError(error) || this.#session !== session) return;
    if (wasNotExecuted(error) || error.code === "auth-required") this.#lose(session, error);
    else void this.#doubts.isOfOtherEra(session, refusalIn(error));
  }

  #verdict(error: PlugboardError, life: { lastedMs?: number; wasUseful?: boolean } = {}): Verdict {
    const { now, random } = this.#settings;
    const failures = failuresOf(this.#state);
    return decide({ error, failures, at: now(), ...life }, this.#backoff, random());
  }

  #scheduleRetry(): void {
    clearTimeout(this.#retry);
    const state = this.#state;
    const now = this.#settings.now();
    const retryAt = this.#isWanted ? nextAttempt(state, now, this.#backoff) : undefined;
    if (retryAt === undefined) return;
    this.#retry = setTimeout(
      () => {
        if (this.#state === state) void this.#retryNow(state);
      },
      Math.max(0, this.#untilRetry({ retryAt })),
    );
    this.#retry.unref();
  }

  /** The state and its events say how it went. A login that is still missing is looked for again later. */
  async #retryNow(state: ConnectionState): Promise<void> {
    const isDue = state.name === "waiting" || state.name === "failed";
    await (isDue ? this.#open() : this.ready()).catch(() => undefined);
    if (this.#state === state) this.#scheduleRetry();
  }

  #log(message: string, source: "stderr" | "stdout", session: Session | undefined): void {
    if (message.trim() === "") return;
    const { emit, now, about } = this.#settings;
    const log = { type: "server-log", level: "info", source, message } as const;
    const audience = session?.rpc.requests.audience.ofAnything(this.caller);
    const whose = audience?.for === "caller" ? { caller: audience.caller } : {};
    emit({ ...log, server: this.name, ...about, ...whose, at: now() });
  }

  #hear(method: string, params: Record<string, unknown>, heard?: Heard): void {
    const { emit, now, listener } = this.#settings;
    const audience = heard?.audience ?? audienceOfConnection(this.caller);
    const event = toEvent({ server: this.name, ...this.#settings.about }, method, params, audience, now());
    if (event?.type === "catalog-changed") this.#changes.add(event);
    else if (event) emit(event);
    listener?.onNotification?.(method, params, heard);
  }

  /** The lists whose changes the server tells of count as changed. */
  #missLists(): void {
    const { capabilities = {} } = this.#session?.greeting ?? {};
    for (const change of Object.keys(changesToldBy(capabilities)))
      this.#hear(`notifications/${change.replace("ListChanged", "")}/list_changed`, {});
  }

  /** In the modern era changes are told only to those who ask; the question is asked again whenever its stream ends. */
  #listen(session: Session): void {
    if (session.greeting.era !== "modern") return;
    const filter = changesToldBy(session.greeting.capabilities);
    if (Object.keys(filter).length === 0) return;
    const { signal } = (this.#listening = new AbortController());
    const { random } = this.#settings;
    const listening = {
      filter,
      signal,
      random,
      onOpen: (_: object, again: boolean) => again && this.#session === session && this.#missLists(),
      onFailed: (error: unknown) => this.learn(session, error),
      onRefused: ({ code }: { code: number }) => {
        if (code === methodNotFound) void this.#doubts.ask(session);
      },
    };
    this.#leaving.add(keepListening(session, listening));
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
    // Only a session that is fine, at the end of everything: others end for a reason.
    const mayStay = this.#state.name === "closed";
    for (const old of this.#retiring) this.#leaving.add(old.close());
    if (session) this.#leaving.add(session.close(mayStay));
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
    const { emit, now, onWorking, onFailed } = this.#settings;
    if (after.name === "connected") onWorking?.();
    else if (after.name === "degraded") onFailed?.(after.error, Object.keys(after.lists));
    else if (after.name !== "connecting" && "error" in after) onFailed?.(after.error);
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

function leadsTo(session: Session, target: TargetIdentity | undefined): boolean {
  return target === undefined || session.identity.equals(target);
}

/** Aborted when a request is given up by its signal or from outside; for the time until it is sent. */
function untilGivenUp({ signal, trace }: SessionRequest): AbortSignal | undefined {
  const stop = new AbortController();
  if (trace) trace.cancel = (reason) => stop.abort(reason);
  if (trace?.cancelled) stop.abort(trace.cancelled);
  const signals = [...(signal ? [signal] : []), ...(trace ? [stop.signal] : [])];
  return signals.length > 0 ? AbortSignal.any(signals) : undefined;
}

/** A server that takes stdout for its log is told of, not recorded. */
const maxSkippedLines = 50;

export function isBroken({ name }: ConnectionState): boolean {
  return name === "waiting" || name === "failed" || name === "needs-auth" || name === "needs-registration";
}

/** The headers of a request do not fit its body, or what the server requires; nothing was executed. */
const headerMismatch = -32_020;
/** A modern server that does not know `subscriptions/listen` may be a legacy one by now. */
const methodNotFound = -32_601;

function isRefusal(error: unknown): error is PlugboardError {
  const status = isPlugboardError(error) ? error.data?.status : undefined;
  return status === 401 || status === 403;
}

function ownRefused(cause: PlugboardError, server: string): PlugboardError {
  const message = `"${server}" refused the credentials that came with the request (HTTP ${String(cause.data?.status)}).`;
  const hint = "Send other ones; the server's own connection is not affected.";
  return new PlugboardError("auth-failed", message, { server, cause, executed: "no", hint });
}

function lacksRights(error: unknown): boolean {
  return isPlugboardError(error) && error.missingScopes !== undefined;
}
