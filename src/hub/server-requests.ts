import type { Scope } from "../catalog/filter.ts";
import type { ServerRequestOptions } from "../calls/send.ts";
import type { ServerConfig } from "../config/server-schema.ts";
import type { Interact } from "../interact/interact.ts";
import type { AnswerServer } from "../interact/answers.ts";
import type { ElicitationCompletions } from "../interact/completions.ts";
import { waitCancelled } from "../lib/abortable.ts";
import { startDeadline } from "../lib/deadline.ts";
import { withOrigin } from "../calls/origin.ts";
import { leadsElsewhere } from "../servers/connection-errors.ts";
import type { ConnectionKey, Use } from "../servers/connection-key.ts";
import type { RequestTrace } from "../servers/rpc/requests.ts";
import type { TargetIdentity } from "../servers/target-identity.ts";
import { mayAskDuring } from "../servers/rpc/inbound.ts";
import type { Question } from "../servers/rpc/inbound.ts";
import type { JsonRpcAnswer, RawAnswer } from "../servers/rpc/messages.ts";
import { requestHeaders } from "../servers/request-headers.ts";
import type { SessionRequest } from "../servers/session.ts";
import type { ServerSet } from "../servers/server-set.ts";
import type { LoginOnDemand } from "./login-on-demand.ts";
import type { PinnedAnswer } from "./pinned-requests.ts";

const callMs = 60_000;
const longestCallMs = 600_000;
const pageMs = 60_000;

export interface ServerRequestsSettings {
  servers: ServerSet;
  answers: AnswerServer;
  completions: ElicitationCompletions;
  onDemand: LoginOnDemand;
  markOf(target: TargetIdentity): Promise<string>;
  /** Holds requests of pinned servers to what the lock says; undefined for those that it says nothing about. */
  pinned(
    scope: Scope,
    server: string,
    method: string,
    params: Record<string, unknown>,
    signal: AbortSignal | undefined,
  ): Promise<PinnedAnswer | undefined> | undefined;
}

const nobody: Interact = {};

/** Requests to servers on behalf of a view: the right connection, its deadlines, who answers, a login where one is missing. */
export class ServerRequests {
  readonly #settings: ServerRequestsSettings;

  constructor(settings: ServerRequestsSettings) {
    this.#settings = settings;
  }

  request(
    scope: Scope,
    server: string,
    method: string,
    params: Record<string, unknown>,
    options: ServerRequestOptions,
  ): Promise<JsonRpcAnswer | RawAnswer> {
    // Calls are judged with their tool.
    const { pinned } = this.#settings;
    const held = method === "tools/call" ? undefined : pinned(scope, server, method, params, options.signal);
    if (!held) return this.#decided(scope, server, method, params, options);
    return held.then(async (shown) => {
      if (!shown) return this.#decided(scope, server, method, params, options);
      const answer = await this.#decided(scope, server, method, params, { ...options, raw: false });
      return "result" in answer ? shown(answer) : answer;
    });
  }

  #decided(
    { use }: Scope,
    server: string,
    method: string,
    params: Record<string, unknown>,
    options: ServerRequestOptions,
  ): Promise<JsonRpcAnswer | RawAnswer> {
    const { servers } = this.#settings;
    const undecided = options.key ? undefined : servers.undecided(server, use, () => options.signal);
    if (undecided) return undecided.then(() => this.#request(use, server, method, params, options));
    return this.#request(use, server, method, params, options);
  }

  #request(
    use: Use,
    server: string,
    method: string,
    params: Record<string, unknown>,
    options: ServerRequestOptions,
  ): Promise<JsonRpcAnswer | RawAnswer> {
    const { servers, onDemand } = this.#settings;
    const { config } = servers.entry(server);
    const { interact = nobody } = use;
    const { onQuestion, signal } = options;
    const { timeoutMs, maxTimeoutMs } = deadlinesOf(config, options);
    const asked: SessionRequest = {
      timeoutMs,
      maxTimeoutMs,
      signal,
      onProgress: options.onProgress,
      onNotification: options.onNotification,
      onQuestion: (question) => this.answer(question, use, server, options),
      answeredBy: onQuestion ?? interact,
      caller: use.caller,
      // Nobody can be asked during the others, so they need not wait for their turn.
      exclusive: options.exclusive && mayAskDuring(method) && (onQuestion ? true : canAnswer(interact)),
      capabilities: options.capabilities ?? use.capabilities,
      logLevel: options.logLevel,
      headers: options.headers && requestHeaders(options.headers, server),
      raw: options.raw,
      write: options.write,
      trace: options.trace,
      check: options.check,
      onlyAt: options.onlyAt,
      task: options.task,
      waitsForTask: options.waitsForTask,
      turn: undefined,
    };
    // Most requests need no second look at who is logged in.
    if (interact.logIn === undefined && config?.oauth?.grant === undefined)
      return servers.request(options.key ?? servers.key(server, use), use, method, params, asked);
    const work = () => servers.request(servers.key(server, use), use, method, params, asked);
    return onDemand.run({ use, signal: signal ?? options.cancellation?.signal }, work);
  }

  /** What a mark stands for, if that is still what would run or be contacted; throws if not. */
  async boundTarget(mark: string, key: ConnectionKey, signal?: AbortSignal): Promise<TargetIdentity> {
    const { servers, markOf } = this.#settings;
    const target = await servers.identify(key, signal);
    if ((await markOf(target)) !== mark) throw leadsElsewhere(key.server);
    return target;
  }

  /** A request outside of calls, whose answer says what gave it if it is not the end; `boundTo` sends it nowhere else. */
  async continued(
    scope: Scope,
    server: string,
    method: string,
    params: Record<string, unknown>,
    { boundTo, ...options }: ServerRequestOptions & { boundTo?: string | undefined },
  ): Promise<JsonRpcAnswer | RawAnswer> {
    const { servers, markOf } = this.#settings;
    const trace: RequestTrace = {};
    const key = () => servers.key(server, scope.use);
    const onlyAt = boundTo === undefined ? undefined : await this.boundTarget(boundTo, key(), options.signal);
    const answer = await this.request(scope, server, method, params, { ...options, trace, onlyAt });
    return withOrigin(answer, trace, markOf);
  }

  /** Sends a notification over the connection of a view. */
  async notify(
    { use }: Scope,
    server: string,
    method: string,
    params: Record<string, unknown>,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const { servers, onDemand } = this.#settings;
    const work = () => servers.notify(servers.key(server, use), use, method, params, signal);
    await onDemand.run({ use, signal }, work);
  }

  /** What the server of a view declares; connects it if that is not known. */
  async capabilities(
    { use }: Scope,
    server: string,
    signal: AbortSignal | undefined,
  ): Promise<Readonly<Record<string, unknown>>> {
    const { servers, onDemand } = this.#settings;
    const connected = () => servers.connections.get(servers.key(server, use), use).ready(signal);
    const { greeting } = await onDemand.run({ use, signal }, connected);
    return greeting.capabilities;
  }

  /** Lets whoever uses a server answer what it asks, pushed by a legacy one or required by a modern one. */
  answer(
    {
      method,
      params,
      signal,
      stepAside,
    }: Pick<Question, "method" | "params" | "stepAside"> & { signal?: AbortSignal | undefined },
    { interact = nobody, ...use }: Use,
    server: string,
    { call, onQuestion }: Pick<ServerRequestOptions, "call" | "onQuestion"> = {},
  ): Promise<Record<string, unknown>> {
    const { servers, answers } = this.#settings;
    const asking = { server, caller: use.caller, account: servers.key(server, use).account, call: call?.id };
    return answers({ asking, interact, method, params, signal, stepAside, onQuestion });
  }

  /** Resolves when a server has said that a page it sent somebody to is done, or after a while: not all say so. */
  async completed(server: string, elicitationId: string, signal: AbortSignal): Promise<void> {
    using deadline = startDeadline(pageMs);
    const until = AbortSignal.any([signal, deadline.signal]);
    await this.#settings.completions.wait(server, elicitationId, until).catch(() => undefined);
    if (signal.aborted) throw waitCancelled(signal, server);
  }

  /** The deadlines of requests that the hub makes by itself. */
  deadlines(server: string): Deadlines {
    return deadlinesOf(this.#settings.servers.entry(server).config);
  }
}

function canAnswer({ elicit, sample, roots }: Interact): boolean {
  return (elicit ?? sample ?? roots) !== undefined;
}

interface Deadlines {
  timeoutMs: number;
  maxTimeoutMs: number;
}

function deadlinesOf(
  config: ServerConfig | undefined,
  asked: Pick<ServerRequestOptions, "timeoutMs" | "maxTimeoutMs"> = {},
): Deadlines {
  const timeoutMs = asked.timeoutMs ?? config?.callTimeoutMs ?? callMs;
  const most = asked.maxTimeoutMs ?? config?.maxCallTimeoutMs;
  // A limit that somebody set counts, however short; ours gives way to a longer silence that was allowed.
  return { timeoutMs, maxTimeoutMs: most ?? Math.max(timeoutMs, longestCallMs) };
}
