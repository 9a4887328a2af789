import type { ServerRequestOptions } from "../calls/send.ts";
import type { ServerConfig } from "../config/server-schema.ts";
import type { Interact } from "../interact/interact.ts";
import type { AnswerServer } from "../interact/answers.ts";
import type { ElicitationCompletions } from "../interact/completions.ts";
import { waitCancelled } from "../lib/abortable.ts";
import { startDeadline } from "../lib/deadline.ts";
import { withOrigin } from "../calls/origin.ts";
import { leadsElsewhere } from "../servers/connection-errors.ts";
import type { Route } from "../servers/route.ts";
import type { RequestTrace } from "../servers/rpc/requests.ts";
import type { TargetIdentity } from "../servers/target-identity.ts";
import { mayAskDuring } from "../servers/rpc/inbound.ts";
import type { Question } from "../servers/rpc/inbound.ts";
import type { JsonRpcAnswer, RawAnswer } from "../servers/rpc/messages.ts";
import { requestHeaders } from "../servers/request-headers.ts";
import type { SessionRequest } from "../servers/session.ts";
import type { LoginOnDemand } from "./login-on-demand.ts";
import type { PinnedAnswer } from "./pinned-requests.ts";

const callMs = 60_000;
const longestCallMs = 600_000;
const pageMs = 60_000;

export interface ServerRequestsSettings {
  answers: AnswerServer;
  completions: ElicitationCompletions;
  onDemand: LoginOnDemand;
  markOf(target: TargetIdentity): Promise<string>;
  /** Holds requests of pinned servers to what the lock says; undefined for those that it says nothing about. */
  pinned(
    route: Route,
    method: string,
    params: Record<string, unknown>,
    signal: AbortSignal | undefined,
  ): Promise<PinnedAnswer | undefined> | undefined;
}

const nobody: Interact = {};

/** Requests to servers: their deadlines, who answers what is asked meanwhile, a login where one is missing. */
export class ServerRequests {
  readonly #settings: ServerRequestsSettings;

  constructor(settings: ServerRequestsSettings) {
    this.#settings = settings;
  }

  /** Sends a request. Those of pinned servers are held to the lock. */
  request(
    route: Route,
    method: string,
    params: Record<string, unknown>,
    options: ServerRequestOptions,
  ): Promise<JsonRpcAnswer | RawAnswer> {
    // Calls are judged with their tool.
    const held =
      method === "tools/call" ? undefined : this.#settings.pinned(route, method, params, options.signal);
    if (!held) return this.#send(route, method, params, options);
    return held.then(async (shown) => {
      if (!shown) return this.#send(route, method, params, options);
      const answer = await this.#send(route, method, params, { ...options, raw: false });
      return "result" in answer ? shown(answer) : answer;
    });
  }

  #send(
    route: Route,
    method: string,
    params: Record<string, unknown>,
    options: ServerRequestOptions,
  ): Promise<JsonRpcAnswer | RawAnswer> {
    const { use, server, config } = route;
    const { interact = nobody } = use;
    const { onQuestion, signal } = options;
    const { timeoutMs, maxTimeoutMs } = deadlinesOf(config, options);
    const asked: SessionRequest = {
      timeoutMs,
      maxTimeoutMs,
      signal,
      onProgress: options.onProgress,
      onNotification: options.onNotification,
      onQuestion: (question) => this.answer(question, route, options),
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
    const work = () => route.request(method, params, asked);
    // Most requests need no second look at who is logged in.
    if (interact.logIn === undefined && config.oauth?.grant === undefined) return work();
    return this.#settings.onDemand.run({ use, signal: signal ?? options.cancellation?.signal }, work);
  }

  /** What a mark stands for, if that is still what would run or be contacted; throws if not. */
  async boundTarget(mark: string, route: Route, signal?: AbortSignal): Promise<TargetIdentity> {
    const target = await route.identify(signal);
    if ((await this.#settings.markOf(target)) !== mark) throw leadsElsewhere(route.server);
    return target;
  }

  /** A request outside of calls, whose answer says what gave it if it is not the end; `boundTo` sends it nowhere else. */
  async continued(
    route: Route,
    method: string,
    params: Record<string, unknown>,
    { boundTo, ...options }: ServerRequestOptions & { boundTo?: string | undefined },
  ): Promise<JsonRpcAnswer | RawAnswer> {
    const trace: RequestTrace = {};
    const onlyAt = boundTo === undefined ? undefined : await this.boundTarget(boundTo, route, options.signal);
    const answer = await this.request(route, method, params, { ...options, trace, onlyAt });
    return withOrigin(answer, trace, this.#settings.markOf);
  }

  async notify(
    route: Route,
    method: string,
    params: Record<string, unknown>,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const { use } = route;
    await this.#settings.onDemand.run({ use, signal }, () => route.notify(method, params, signal));
  }

  /** What a server declares; connects it if that is not known. */
  async capabilities(
    route: Route,
    signal: AbortSignal | undefined,
  ): Promise<Readonly<Record<string, unknown>>> {
    const { use } = route;
    const { greeting } = await this.#settings.onDemand.run({ use, signal }, () => route.ready(signal));
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
    { server, key: { account }, use: { caller, interact = nobody } }: Route,
    { call, onQuestion }: Pick<ServerRequestOptions, "call" | "onQuestion"> = {},
  ): Promise<Record<string, unknown>> {
    const asking = { server, caller, account, call: call?.id };
    return this.#settings.answers({ asking, interact, method, params, signal, stepAside, onQuestion });
  }

  /** Resolves when a server has said that a page it sent somebody to is done, or after a while: not all say so. */
  async completed(server: string, elicitationId: string, signal: AbortSignal): Promise<void> {
    using deadline = startDeadline(pageMs);
    const until = AbortSignal.any([signal, deadline.signal]);
    await this.#settings.completions.wait(server, elicitationId, until).catch(() => undefined);
    if (signal.aborted) throw waitCancelled(signal, server);
  }
}

function canAnswer({ elicit, sample, roots }: Interact): boolean {
  return (elicit ?? sample ?? roots) !== undefined;
}

export interface Deadlines {
  timeoutMs: number;
  maxTimeoutMs: number;
}

/** How long a request to a server may take, where nobody says. */
export function deadlinesOf(
  config: ServerConfig | undefined,
  asked: Pick<ServerRequestOptions, "timeoutMs" | "maxTimeoutMs"> = {},
): Deadlines {
  const timeoutMs = asked.timeoutMs ?? config?.callTimeoutMs ?? callMs;
  const most = asked.maxTimeoutMs ?? config?.maxCallTimeoutMs;
  // A limit that somebody set counts, however short; ours gives way to a longer silence that was allowed.
  return { timeoutMs, maxTimeoutMs: most ?? Math.max(timeoutMs, longestCallMs) };
}
