import type { CallLog } from "../calls/call-log.ts";
import type { CallOptions, CallResult, PresentContext } from "../calls/call-tool.ts";
import type * as Calling from "../calls/calling.ts";
import type { ForwardOptions } from "../calls/forward-call.ts";
import type { ResultStore } from "../calls/results/store.ts";
import type { Catalog } from "../catalog/catalog.ts";
import type { Scope } from "../catalog/filter.ts";
import { Validators } from "../catalog/validators.ts";
import type { Questions } from "../interact/questions.ts";
import type { Environment } from "../lib/folders.ts";
import type { JsonRpcAnswer, RawAnswer } from "../servers/rpc/messages.ts";
import type { ServerSet } from "../servers/server-set.ts";
import type { Store } from "../store/store.ts";
import type { LoginOnDemand } from "./login-on-demand.ts";
import type { ServerRequests } from "./server-requests.ts";

export interface ToolCallSettings {
  servers: ServerSet;
  catalog: Catalog;
  requests: ServerRequests;
  questions: Questions;
  onDemand: LoginOnDemand;
  log: CallLog;
  store: Store;
  env: Environment;
  now(): number;
}

/** Calls of tools on behalf of views. What listing does not need is loaded with the first call. */
export class ToolCalls {
  readonly #settings: ToolCallSettings;
  readonly #validators = new Validators();
  /** One for each view, made when it first calls something. */
  readonly #contexts = new WeakMap<Scope, PresentContext>();
  #calling: typeof Calling | undefined;
  #results: Promise<ResultStore> | undefined;

  constructor(settings: ToolCallSettings) {
    this.#settings = settings;
  }

  callTool(
    id: string,
    args: Record<string, unknown>,
    options: CallOptions,
    scope: Scope,
  ): Promise<CallResult> {
    const known = this.#contexts.get(scope);
    // Most calls need not wait for a promise here.
    if (known && this.#calling) return this.#calling.callTool(id, args, options, known);
    return this.#load().then((calling) => calling.callTool(id, args, options, this.#context(scope, calling)));
  }

  async forwardCall(
    id: string,
    params: Record<string, unknown> | Buffer,
    options: ForwardOptions,
    scope: Scope,
  ): Promise<JsonRpcAnswer | RawAnswer> {
    const calling = this.#calling ?? (await this.#load());
    return calling.forwardCall(id, params, options, this.#context(scope, calling));
  }

  /** Results that were too large to return whole. */
  results(): Promise<ResultStore> {
    const { store, now } = this.#settings;
    this.#results ??= import("../calls/results/store.ts").then(({ createResultStore }) =>
      createResultStore(store, { now }),
    );
    return this.#results;
  }

  async #load(): Promise<typeof Calling> {
    return (this.#calling ??= await import("../calls/calling.ts"));
  }

  #context(scope: Scope, calling: typeof Calling): PresentContext {
    const known = this.#contexts.get(scope);
    if (known) return known;
    const { servers, catalog, requests, questions, onDemand, log, env } = this.#settings;
    const { caller } = scope.use;
    const context: PresentContext = {
      scope,
      catalog,
      validators: this.#validators,
      questions,
      log,
      get settings() {
        return servers.config.settings;
      },
      output: calling.outputDefaults(env),
      configOf: (server) => servers.entry(server).config ?? {},
      keyOf: (server) => servers.key(server, scope.use),
      request: (server, params, options) => requests.request(scope, server, "tools/call", params, options),
      signedIn: (signal, work) => onDemand.run({ use: scope.use, signal }, work),
      answer: (server, call, signal) => (method, params) =>
        requests.answer({ method, params, signal }, scope.use, server, call),
      keep:
        ({ server, id }) =>
        async (whole) =>
          (await this.results()).save(whole, { server, tool: id, ...(caller !== undefined && { caller }) }),
    };
    this.#contexts.set(scope, context);
    return context;
  }
}
