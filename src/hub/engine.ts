import type { Account } from "../auth/oauth/account.ts";
import { createMemoryCredentials } from "../auth/credentials.ts";
import type { LoginOptions } from "../auth/oauth/login.ts";
import type { CallContext, CallOptions, CallResult } from "../calls/call-tool.ts";
import type * as Calls from "../calls/calling.ts";
import type { ResultStore } from "../calls/results/store.ts";
import { ResourceSubscriptions } from "../calls/subscriptions.ts";
import type { ResourceListener } from "../calls/subscriptions.ts";
import { Catalog } from "../catalog/catalog.ts";
import type { Narrowing } from "../catalog/catalog.ts";
import { paramHeaderValues } from "../catalog/param-headers.ts";
import { Snapshots } from "../catalog/snapshot.ts";
import type { LoadedConfig } from "../config/model.ts";
import type { PlugboardEvent } from "../events.ts";
import { createAnswers } from "../interact/answers.ts";
import type { AnswerServer } from "../interact/answers.ts";
import { interactCapabilities } from "../interact/interact.ts";
import type { Interact } from "../interact/interact.ts";
import { EventStream } from "../lib/event-stream.ts";
import { homeFolder } from "../lib/folders.ts";
import type { Environment } from "../lib/folders.ts";
import type { JsonRpcAnswer } from "../servers/rpc/lane.ts";
import type { ProcessTree } from "../servers/process/process-tree.ts";
import { ServerMemory } from "../servers/server-memory.ts";
import { ServerSet } from "../servers/server-set.ts";
import { StartGate } from "../servers/start-gate.ts";
import type { InProcessServer } from "../servers/transports/memory.ts";
import { createMemoryStore } from "../store/memory.ts";
import type { Store } from "../store/store.ts";
import type { HubOptions, RequestOptions } from "./options.ts";
import { LoginOnDemand } from "./login-on-demand.ts";
import { SignIn } from "./sign-in.ts";

type Calling = typeof Calls;

const callMs = 60_000;
const longestCallMs = 600_000;

/** The parts of a hub, put together. Views and the hub are thin shapes over it. */
export class Engine {
  readonly servers: ServerSet;
  readonly catalog: Catalog;
  readonly events = new EventStream<PlugboardEvent>();
  readonly signIn: SignIn;
  readonly onDemand: LoginOnDemand;
  /** Servers that live in this process, by name. */
  inProcess: Map<string, InProcessServer>;
  readonly now: () => number;
  readonly #store: Store;
  /** What listing does not need is loaded when it is: the command line lists tools more often than it calls them. */
  #processes: Promise<ProcessTree> | undefined;
  #calling: Calling | undefined;
  #results: Promise<ResultStore> | undefined;
  readonly #interact: Interact;
  readonly #answers: AnswerServer;
  /** By account; the servers' own under "". */
  readonly #subscriptions = new Map<string, ResourceSubscriptions>();
  readonly #random: () => number;
  readonly env: Environment;
  /** One for each view, made when it first calls something. */
  readonly #contexts = new WeakMap<Narrowing, CallContext>();
  #calls = 0;

  constructor(config: LoadedConfig, inProcess: Map<string, InProcessServer>, options: HubOptions) {
    const {
      env = process.env,
      clock = Date.now,
      random = Math.random,
      interact = {},
      stateFolder,
      toolFilter,
    } = options;
    const store = options.store ?? createMemoryStore({ now: clock });
    this.now = clock;
    this.inProcess = inProcess;
    this.env = env;
    this.#interact = interact;
    this.#random = random;
    const emit = (event: PlugboardEvent) => this.#emit(event);
    this.#answers = createAnswers({
      interact,
      elicitationMode: (server) =>
        this.servers.entry(server).config?.elicitation ?? this.servers.config.settings.elicitation ?? "ask",
      emit,
      now: clock,
    });
    this.#store = store;
    const { credentials = createMemoryCredentials(), authProviders = {} } = options;
    const target = (server: string, signal?: AbortSignal) => this.servers.target(server, signal);
    this.signIn = new SignIn({ credentials, authProviders, env, target, now: clock, emit });
    this.onDemand = new LoginOnDemand({
      interact,
      isMachine: (server) => this.#isMachine(server),
      profileOf: (server) => this.servers.profile(server),
      accountOf: (server, profile) =>
        this.signIn.account(server, this.servers.chosenProfile(server, profile)),
      logIn: (server, asked) => this.#logIn(server, asked),
      disconnect: (server, profile) =>
        this.servers.disconnectAccount(server, this.servers.chosenProfile(server, profile)),
      now: clock,
    });
    this.servers = new ServerSet(config, {
      env,
      home: homeFolder(env),
      secrets: options.secrets ?? (async (name) => env[name]),
      processes: () => (this.#processes ??= this.#openProcesses(stateFolder)),
      gate: new StartGate(config.settings.startConcurrency ?? 8),
      memory: new ServerMemory(async () => store),
      capabilities: { ...interactCapabilities(interact), ...options.capabilities },
      authProvider: (server, target, profile) => this.signIn.provider(server, target, profile),
      inProcess: (name) => this.inProcess.get(name),
      paramHeaders: (server, params, other) => this.#paramHeaders(server, params, other),
      eager: options.eager ?? false,
      now: clock,
      random,
      emit,
      onQuestion: (server, method, params, signal) => this.#answers(server, method, params, signal),
      onNotification: (server, method, params, other) => {
        const changed = /^notifications\/(tools|resources|prompts)\/list_changed$/.exec(method)?.[1];
        if (changed) this.catalog.invalidate(server, changed as "tools" | "resources" | "prompts");
        if (method === "notifications/resources/updated")
          this.#subscriptions.get(other ?? "")?.hear(server, params);
      },
    });
    this.catalog = new Catalog({
      servers: this.servers,
      snapshots: new Snapshots(store),
      emit,
      now: clock,
      ask: (connection, server, method, params) =>
        connection.request(method, params, this.#deadlines({ server })),
      toolFilter,
    });
  }

  /** All that a hub shows when it is printed: neither the environment nor what is configured. */
  toJSON(): { servers: string[] } {
    return { servers: this.servers.names() };
  }

  [Symbol.for("nodejs.util.inspect.custom")](): { servers: string[] } {
    return this.toJSON();
  }

  /** The raw door: the server's own answer or error, untouched. */
  async request(
    method: string,
    params: Record<string, unknown>,
    options: RequestOptions,
  ): Promise<JsonRpcAnswer> {
    const { server, signal, onProgress, capabilities } = options;
    const asked = { ...this.#deadlines(options), signal, onProgress, capabilities };
    const work = () =>
      this.servers.use(server, options, (connection) => connection.request(method, params, asked));
    return this.#mayLogIn(server) ? this.onDemand.run(options, work) : work();
  }

  /** Most requests need no second look at who is logged in. */
  #mayLogIn(server: string): boolean {
    return this.#interact.logIn !== undefined || this.#isMachine(server);
  }

  #isMachine(server: string): boolean {
    return this.servers.entry(server).config?.oauth?.grant !== undefined;
  }

  async #logIn(server: string, options: LoginOptions): Promise<Account> {
    const { servers, signIn } = this;
    const profile = servers.chosenProfile(server, options.profile);
    const account = await signIn.login(server, await servers.target(server), { ...options, profile });
    // What is connected goes on with the new rights, and so do the calls that are under way.
    await servers.takeLogin(server, profile);
    return account;
  }

  subscribe(
    server: string,
    uri: string,
    listener: ResourceListener,
    user: { profile?: string | undefined },
  ): Promise<() => Promise<void>> {
    const profile = this.servers.otherProfile(server, user.profile);
    const known = this.#subscriptions.get(profile ?? "");
    const subscriptions =
      known ??
      new ResourceSubscriptions({
        connection: (name) => this.servers.connection(name, { profile }),
        random: this.#random,
      });
    this.#subscriptions.set(profile ?? "", subscriptions);
    return subscriptions.subscribe(server, uri, listener);
  }

  async callTool(
    id: string,
    args: Record<string, unknown>,
    options: CallOptions,
    narrowing: Narrowing,
  ): Promise<CallResult> {
    const calling = (this.#calling ??= await import("../calls/calling.ts"));
    let context = this.#contexts.get(narrowing);
    if (!context) {
      context = this.#callContext(narrowing, calling);
      this.#contexts.set(narrowing, context);
    }
    return calling.callTool(id, args, options, context);
  }

  /** Answers input that a modern server requires. */
  answer(server: string, signal: AbortSignal | undefined) {
    return (method: string, params: Record<string, unknown>) =>
      this.#answers(server, method, params, signal ?? never);
  }

  /** Results that were too large to return whole. */
  results(): Promise<ResultStore> {
    this.#results ??= import("../calls/results/store.ts").then(({ createResultStore }) =>
      createResultStore(this.#store, { now: this.now }),
    );
    return this.#results;
  }

  async close(): Promise<void> {
    this.onDemand.close();
    for (const subscriptions of this.#subscriptions.values()) subscriptions.close();
    const closing = this.servers.close();
    const processes = await this.#processes;
    await Promise.all([closing, processes?.close(), this.signIn.close()]);
    this.events.close();
  }

  #deadlines({ server, timeoutMs: asked, maxTimeoutMs: most }: RequestOptions): {
    timeoutMs: number;
    maxTimeoutMs: number;
  } {
    const { config } = this.servers.entry(server);
    const timeoutMs = asked ?? config?.callTimeoutMs ?? callMs;
    return {
      timeoutMs,
      maxTimeoutMs: Math.max(timeoutMs, most ?? config?.maxCallTimeoutMs ?? longestCallMs),
    };
  }

  #callContext(narrowing: Narrowing, calling: Calling): CallContext {
    const { caller, profile } = narrowing;
    const { servers } = this;
    return {
      catalog: this.catalog,
      validators: new calling.Validators(),
      interact: this.#interact,
      narrowing,
      get settings() {
        return servers.config.settings;
      },
      output: calling.outputDefaults(this.env),
      configOf: (server) => servers.entry(server).config ?? {},
      request: (server, params, { signal, onProgress, timeoutMs }) =>
        this.request("tools/call", params, { server, caller, profile, signal, onProgress, timeoutMs }),
      signedIn: (signal, work) => this.onDemand.run({ profile, signal }, work),
      answer: (server, signal) => this.answer(server, signal),
      keep:
        ({ server, id }) =>
        async (whole) =>
          (await this.results()).save(whole, { server, tool: id, ...(caller !== undefined && { caller }) }),
      events: this.events,
      nextCall: () => `c${++this.#calls}`,
      now: this.now,
    };
  }

  /** What the parts tell each other goes through here, then to whoever listens. */
  #emit(event: PlugboardEvent): void {
    if (event.type === "connection-changed" && event.to === "connected" && event.from === "connecting")
      for (const subscriptions of this.#subscriptions.values()) void subscriptions.reopen(event.server);
    this.events.emit(event);
  }

  #paramHeaders(
    server: string,
    params: Record<string, unknown>,
    other: string | undefined,
  ): Record<string, string> {
    const tool = this.catalog.byName(server, String(params["name"]), other);
    return tool ? paramHeaderValues(tool.inputSchema, params["arguments"]) : {};
  }

  async #openProcesses(stateFolder: string | undefined): Promise<ProcessTree> {
    const { ProcessTree } = await import("../servers/process/process-tree.ts");
    return new ProcessTree({ env: this.env, stateFolder, onProblem: (message) => this.#warn(message) });
  }

  #warn(message: string): void {
    this.events.emit({
      type: "server-log",
      server: "",
      level: "warning",
      source: "transport",
      message,
      at: this.now(),
    });
  }
}

const never = new AbortController().signal;
