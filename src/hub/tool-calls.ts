import type { CallCheck } from "../calls/approve.ts";
import type { RememberedApprovals } from "../calls/approvals/remembered.ts";
import type { CallLog } from "../calls/call-log.ts";
import type { CallOptions, CallResult, PresentContext } from "../calls/call-tool.ts";
import type * as Calling from "../calls/calling.ts";
import type { ForwardOptions } from "../calls/forward-call.ts";
import type { ParsedParams } from "../calls/parsed-params.ts";
import type { ApprovalQueue } from "../calls/queue/queue.ts";
import type { ResultStore } from "../calls/results/store.ts";
import { TaskRecords, taskEntry } from "../calls/tasks/records.ts";
import type { TaskEntry } from "../calls/tasks/records.ts";
import type { TaskHandle } from "../calls/tasks/task-handle.ts";
import type { Catalog } from "../catalog/catalog.ts";
import type { Scope } from "../catalog/filter.ts";
import type { ToolEntry } from "../catalog/tool-entry.ts";
import { Validators } from "../catalog/validators.ts";
import type { Questions } from "../interact/questions.ts";
import type { Environment } from "../lib/folders.ts";
import type { JsonRpcAnswer, RawAnswer } from "../servers/rpc/messages.ts";
import type { ServerSet } from "../servers/server-set.ts";
import { PlugboardError } from "../errors.ts";
import type { Store } from "../store/store.ts";
import type { LoginOnDemand } from "./login-on-demand.ts";
import type { ServerRequests } from "./server-requests.ts";

export interface ToolCallSettings {
  servers: ServerSet;
  catalog: Catalog;
  requests: ServerRequests;
  questions: Questions;
  queue: ApprovalQueue;
  onDemand: LoginOnDemand;
  log: CallLog;
  approvals: RememberedApprovals;
  store: Store;
  lastingHandles: boolean;
  env: Environment;
  now(): number;
}

/** Calls of tools on behalf of views. What listing does not need is loaded with the first call. */
export class ToolCalls {
  readonly #settings: ToolCallSettings;
  readonly #validators = new Validators();
  /** One for each view, made when it first calls something. */
  readonly #contexts = new WeakMap<Scope, PresentContext>();
  readonly #tasks: TaskRecords;
  #calling: typeof Calling | undefined;
  #results: Promise<ResultStore> | undefined;

  constructor(settings: ToolCallSettings) {
    this.#settings = settings;
    this.#tasks = new TaskRecords(settings.store, settings.now);
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

  async checkCall(
    id: string,
    args: Record<string, unknown>,
    options: Pick<CallOptions, "approval" | "signal">,
    scope: Scope,
  ): Promise<CallCheck> {
    const calling = this.#calling ?? (await this.#load());
    return calling.checkCall(id, args, options, this.#context(scope, calling));
  }

  async mayAsk(
    tools: readonly ToolEntry[],
    { approval = "approve" }: Pick<CallOptions, "approval">,
    scope: Scope,
  ): Promise<ToolEntry[]> {
    const calling = this.#calling ?? (await this.#load());
    const context = this.#context(scope, calling);
    return tools.filter((tool) => calling.mayAsk(tool, approval, context));
  }

  forwardCall(
    id: string,
    params: Record<string, unknown> | ParsedParams,
    options: ForwardOptions,
    scope: Scope,
  ): Promise<JsonRpcAnswer | RawAnswer> {
    const known = this.#contexts.get(scope);
    if (known && this.#calling) return this.#calling.forwardCall(id, params, options, known);
    return this.#load().then((calling) =>
      calling.forwardCall(id, params, options, this.#context(scope, calling)),
    );
  }

  /** The tasks of this caller at servers that it sees, the oldest first. */
  async tasks({ use, filter }: Scope): Promise<TaskEntry[]> {
    const { catalog } = this.#settings;
    const records = await this.#tasks.list(use.caller);
    return records.filter(({ server }) => catalog.isVisible(server, { use, filter })).map(taskEntry);
  }

  /** `as` gives the view of an account. */
  async task(id: string, scope: Scope, as: (account: string | undefined) => Scope): Promise<TaskHandle> {
    const calling = this.#calling ?? (await this.#load());
    const record = await this.#tasks.get(scope.use.caller, id);
    if (!record || !this.#settings.catalog.isVisible(record.server, scope)) throw calling.unknownTask();
    return calling.taskHandle(record, this.#context(as(record.account), calling));
  }

  /** Results that were too large to return whole. */
  results(): Promise<ResultStore> {
    const { store, now } = this.#settings;
    this.#results ??= import("../calls/results/store.ts").then(({ createResultStore }) =>
      createResultStore(store, { now }),
    );
    return this.#results;
  }

  #assertLasting(): void {
    const { lastingHandles, store } = this.#settings;
    if (!lastingHandles || store.durable) return;
    throw new PlugboardError("store-unavailable", "Nothing can be stored beyond the end of this process");
  }

  async #load(): Promise<typeof Calling> {
    return (this.#calling ??= await import("../calls/calling.ts"));
  }

  #context(scope: Scope, calling: typeof Calling): PresentContext {
    const known = this.#contexts.get(scope);
    if (known) return known;
    const { servers, catalog, requests, questions, queue, onDemand, log, env, approvals } = this.#settings;
    const { caller } = scope.use;
    const context: PresentContext = {
      scope,
      catalog,
      validators: this.#validators,
      questions,
      queue,
      log,
      output: calling.outputDefaults(env),
      approvals,
      get loaded() {
        return servers.config;
      },
      route: (server) => servers.route(server, scope.use),
      routed: (server, signal) => servers.routed(server, scope.use, signal),
      markOf: (target) => approvals.markOf(target),
      boundTarget: (mark, route, signal) => requests.boundTarget(mark, route, signal),
      request: (...request) => requests.request(...request),
      signedIn: (signal, work) => onDemand.run({ use: scope.use, signal }, work),
      answer: (route, question, by) => requests.answer(question, route, by),
      tasks: this.#tasks,
      taskRoute: ({ server, shared }) => servers.route(server, scope.use, shared),
      completed: (server, elicitationId, signal) => requests.completed(server, elicitationId, signal),
      readResult: async (handle, selection) => (await this.results()).value(handle, { caller, ...selection }),
      keep:
        ({ server, id }) =>
        async (whole, mirrored) => {
          this.#assertLasting();
          return (await this.results()).save(whole, { server, tool: id, caller, mirrored });
        },
    };
    this.#contexts.set(scope, context);
    return context;
  }
}
