import type { Scope } from "../catalog/filter.ts";
import type { ServerRequestOptions } from "../calls/send.ts";
import type { ServerConfig } from "../config/server-schema.ts";
import type { Interact } from "../interact/interact.ts";
import type { AnswerServer } from "../interact/answers.ts";
import type { Use } from "../servers/connection-key.ts";
import type { Question } from "../servers/rpc/inbound.ts";
import type { JsonRpcAnswer, RawAnswer } from "../servers/rpc/messages.ts";
import type { SessionRequest } from "../servers/session.ts";
import type { ServerSet } from "../servers/server-set.ts";
import type { LoginOnDemand } from "./login-on-demand.ts";

const callMs = 60_000;
const longestCallMs = 600_000;

export interface ServerRequestsSettings {
  servers: ServerSet;
  answers: AnswerServer;
  onDemand: LoginOnDemand;
}

const nobody: Interact = {};

/** Requests to servers on behalf of a view: the right connection, its deadlines, who answers, a login where one is missing. */
export class ServerRequests {
  readonly #settings: ServerRequestsSettings;

  constructor(settings: ServerRequestsSettings) {
    this.#settings = settings;
  }

  request(
    { use }: Scope,
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
      onQuestion: onQuestion ?? ((question) => this.answer(question, use, server, options.call?.id)),
      answeredBy: onQuestion ?? interact,
      caller: use.caller,
      capabilities: options.capabilities ?? use.capabilities,
      raw: options.raw,
      write: options.write,
      trace: options.trace,
    };
    // Most requests need no second look at who is logged in.
    if (interact.logIn === undefined && config?.oauth?.grant === undefined)
      return servers.request(options.key ?? servers.key(server, use), use, method, params, asked);
    const work = () => servers.request(servers.key(server, use), use, method, params, asked);
    return onDemand.run({ use, signal }, work);
  }

  /** Lets whoever uses a server answer what it asks, pushed by a legacy one or required by a modern one. */
  answer(
    { method, params, signal }: Pick<Question, "method" | "params"> & { signal?: AbortSignal | undefined },
    { interact = nobody, ...use }: Use,
    server: string,
    call?: string,
  ): Promise<Record<string, unknown>> {
    const { servers, answers } = this.#settings;
    const asking = { server, caller: use.caller, account: servers.key(server, use).account, call };
    return answers({ asking, interact, method, params, signal });
  }

  /** The deadlines of requests that the hub makes by itself. */
  deadlines(server: string): Deadlines {
    return deadlinesOf(this.#settings.servers.entry(server).config);
  }
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
  const most = asked.maxTimeoutMs ?? config?.maxCallTimeoutMs ?? longestCallMs;
  return { timeoutMs, maxTimeoutMs: Math.max(timeoutMs, most) };
}
