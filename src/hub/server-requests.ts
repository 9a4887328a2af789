import type { Scope } from "../catalog/filter.ts";
import type { ServerRequestOptions } from "../calls/send.ts";
import type { Interact } from "../interact/interact.ts";
import type { AnswerServer } from "../interact/answers.ts";
import type { ConnectionKey, Use } from "../servers/connection-key.ts";
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
    const timeoutMs = options.timeoutMs ?? config?.callTimeoutMs ?? callMs;
    const asked: SessionRequest = {
      timeoutMs,
      maxTimeoutMs: Math.max(timeoutMs, options.maxTimeoutMs ?? config?.maxCallTimeoutMs ?? longestCallMs),
      signal,
      onProgress: options.onProgress,
      onNotification: options.onNotification,
      onQuestion: onQuestion ?? ((question) => this.#answer(question, use, server, options.call?.id)),
      answeredBy: onQuestion ?? interact,
      caller: use.caller,
      capabilities: options.capabilities ?? use.capabilities,
      raw: options.raw,
      write: options.write,
      trace: options.trace,
    };
    // Most requests need no second look at who is logged in.
    if (interact.logIn === undefined && config?.oauth?.grant === undefined) {
      const key = options.key ?? servers.key(server, use);
      return config?.isolation === "call"
        ? this.#send(key, use, method, params, asked)
        : servers.connections.get(key, use).request(method, params, asked);
    }
    const work = () => this.#send(servers.key(server, use), use, method, params, asked);
    return onDemand.run({ use, signal }, work);
  }

  #send(
    key: ConnectionKey,
    use: Use,
    method: string,
    params: Record<string, unknown>,
    asked: SessionRequest,
  ): Promise<JsonRpcAnswer | RawAnswer> {
    return this.#settings.servers.use(key, use, (connection) => connection.request(method, params, asked));
  }

  #answer({ method, params, signal }: Question, use: Use, server: string, call: string | undefined) {
    const { servers, answers } = this.#settings;
    const { interact = nobody, caller } = use;
    const asking = { server, caller, account: servers.key(server, use).account, call };
    return answers({ asking, interact, method, params, signal });
  }

  deadlines(server: string): { timeoutMs: number; maxTimeoutMs: number } {
    const { config } = this.#settings.servers.entry(server);
    const timeoutMs = config?.callTimeoutMs ?? callMs;
    return { timeoutMs, maxTimeoutMs: Math.max(timeoutMs, config?.maxCallTimeoutMs ?? longestCallMs) };
  }
}
