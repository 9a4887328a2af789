import { createMemoryCredentials } from "../auth/credentials.ts";
import { CallLog } from "../calls/call-log.ts";
import { ResourceSubscriptions } from "../calls/subscriptions.ts";
import { Catalog } from "../catalog/catalog.ts";
import type { Scope } from "../catalog/filter.ts";
import { paramHeaderValues } from "../catalog/param-headers.ts";
import { Snapshots } from "../catalog/snapshot.ts";
import type { LoadedConfig } from "../config/model.ts";
import type { PlugboardEvent } from "../events.ts";
import { createAnswers } from "../interact/answers.ts";
import type { AnswerServer } from "../interact/answers.ts";
import { interactCapabilities } from "../interact/interact.ts";
import { Questions } from "../interact/questions.ts";
import { EventStream } from "../lib/event-stream.ts";
import { homeFolder } from "../lib/folders.ts";
import type { Environment } from "../lib/folders.ts";
import type { Listener } from "../servers/rpc/inbound.ts";
import type { ConnectionKey, Use } from "../servers/connection-key.ts";
import type { ProcessTree } from "../servers/process/process-tree.ts";
import type { Capabilities } from "../servers/rpc/envelope.ts";
import { ServerMemory } from "../servers/server-memory.ts";
import { ServerSet } from "../servers/server-set.ts";
import { StartGate } from "../servers/start-gate.ts";
import type { InProcessServer } from "../servers/transports/memory.ts";
import { createMemoryStore } from "../store/memory.ts";
import { LoginOnDemand } from "./login-on-demand.ts";
import type { HubOptions } from "./options.ts";
import { ServerRequests } from "./server-requests.ts";
import { SignIn } from "./sign-in.ts";
import { ToolCalls } from "./tool-calls.ts";

const idleMs = 600_000;
const maxConnections = 256;

/** The parts of a hub, put together. Views and the hub are thin shapes over it. */
export class Engine {
  readonly env: Environment;
  readonly now: () => number;
  readonly events = new EventStream<PlugboardEvent>();
  readonly questions: Questions;
  readonly answers: AnswerServer;
  readonly log: CallLog;
  readonly servers: ServerSet;
  readonly signIn: SignIn;
  readonly onDemand: LoginOnDemand;
  readonly requests: ServerRequests;
  readonly subscriptions: ResourceSubscriptions;
  readonly catalog: Catalog;
  readonly calls: ToolCalls;
  /** What the hub itself sees, and who answers where nobody else does. */
  readonly root: Scope;
  /** Servers that live in this process, by name. */
  inProcess: Map<string, InProcessServer>;
  /** What legacy servers are told that somebody here can do. */
  #declared: Capabilities;
  /** Opened with the first program. */
  #processes: Promise<ProcessTree> | undefined;

  constructor(config: LoadedConfig, inProcess: Map<string, InProcessServer>, options: HubOptions) {
    const { env = process.env, clock: now = Date.now, random = Math.random, interact = {} } = options;
    const { credentials = createMemoryCredentials(), authProviders = {}, toolFilter } = options;
    const store = options.store ?? createMemoryStore({ now });
    const capabilities = { ...interactCapabilities(interact), ...options.capabilities };
    const emit = (event: PlugboardEvent) => this.events.emit(event);
    this.env = env;
    this.now = now;
    this.inProcess = inProcess;
    this.root = { filter: {}, use: { interact, capabilities } };
    this.#declared = capabilities;
    const questions = (this.questions = new Questions({ emit, now }));
    const log = (this.log = new CallLog(this.events, now));
    const answers = (this.answers = createAnswers({
      questions,
      elicitationMode: (server) => this.#mode(server),
    }));
    const servers = (this.servers = new ServerSet(config, {
      env,
      home: homeFolder(env),
      secrets: options.secrets ?? (async (name) => env[name]),
      processes: () => (this.#processes ??= this.#openProcesses(options.stateFolder)),
      gate: new StartGate(config.settings.startConcurrency ?? 8),
      memory: new ServerMemory(async () => store),
      capabilities: (key, use) =>
        (key.caller === undefined ? undefined : use?.capabilities) ?? this.#declared,
      authProvider: (server, at, account) => this.signIn.provider(server, at, account),
      inProcess: (name) => this.inProcess.get(name),
      paramHeaders: (key, params) => this.#paramHeaders(key, params),
      eager: options.eager ?? false,
      account: options.profile,
      idleMs: options.idleMs ?? idleMs,
      maxConnections: options.maxConnections ?? maxConnections,
      now,
      random,
      // Lists that are kept fresh are told of when they are there, not when the server says that they changed.
      emit: options.keepFresh ? (event) => event.type !== "catalog-changed" && emit(event) : emit,
      listener: (key, use) => this.#listener(key, use),
      onConnected: (key) => {
        void this.subscriptions.reopen(key);
        this.catalog.onConnected(key);
      },
      onEnded: (key) => this.catalog.forgetKey(key),
      onParted: (name) => this.catalog.forget(name),
    }));
    const target = (server: string, signal?: AbortSignal) => servers.target(servers.key(server), signal);
    const signIn = (this.signIn = new SignIn({ credentials, authProviders, env, target, now, emit }));
    const onDemand = (this.onDemand = new LoginOnDemand({ questions, servers, signIn, now }));
    const requests = (this.requests = new ServerRequests({ servers, answers, onDemand }));
    const connection = (key: ConnectionKey, use?: Use) => servers.connections.get(key, use);
    this.subscriptions = new ResourceSubscriptions({ connection, random });
    const catalog = (this.catalog = new Catalog({
      servers,
      snapshots: new Snapshots(store),
      emit,
      now,
      ask: (key, method, params, signal) =>
        connection(key).request(method, params, {
          ...requests.deadlines(key.server),
          signal,
          // Lists that the hub reads by itself must not keep a server up that nobody uses.
          isUpkeep: options.keepFresh,
        }),
      toolFilter,
      keepFresh: options.keepFresh,
    }));
    const parts = { servers, catalog, requests, questions, onDemand, log };
    this.calls = new ToolCalls({ ...parts, store, env, now });
  }

  /** Somebody else may answer from now on, so servers that connect later are told what that one can do. */
  declare(capabilities: Capabilities): void {
    this.#declared = { ...this.#declared, ...capabilities };
  }

  async close(): Promise<void> {
    this.questions.close();
    this.onDemand.close();
    this.subscriptions.close();
    const closing = this.servers.close();
    const processes = await this.#processes;
    await Promise.all([closing, processes?.close(), this.signIn.close(), this.catalog.close()]);
    this.events.close();
  }

  /** All that a hub shows when it is printed: neither the environment nor what is configured. */
  toJSON(): { servers: string[] } {
    return { servers: this.servers.names() };
  }

  [Symbol.for("nodejs.util.inspect.custom")](): { servers: string[] } {
    return this.toJSON();
  }

  #mode(server: string): "ask" | "decline" {
    const { config, entry } = { config: this.servers.config, entry: this.servers.entry(server) };
    return entry.config?.elicitation ?? config.settings.elicitation ?? "ask";
  }

  #paramHeaders(key: ConnectionKey, params: Record<string, unknown>): Record<string, string> {
    const tool = this.catalog.byName(key, String(params["name"]));
    return tool ? paramHeaderValues(tool.inputSchema, params["arguments"]) : {};
  }

  /** What a connection hears and is asked while no request is under way. */
  #listener(key: ConnectionKey, use: () => Use | undefined): Listener {
    const { server, caller, account } = key;
    const asking = { server, caller, account };
    const interact = () => ((caller === undefined ? undefined : use()) ?? this.root.use).interact ?? {};
    return {
      caller,
      get answeredBy() {
        return interact();
      },
      onQuestion: (question) => this.answers({ ...question, asking, interact: interact() }),
      onNotification: (method, params) => {
        const changed = /^notifications\/(tools|resources|prompts)\/list_changed$/.exec(method)?.[1];
        if (changed) this.catalog.invalidate(key, changed as "tools" | "resources" | "prompts");
        if (method === "notifications/resources/updated") this.subscriptions.hear(key, params);
      },
    };
  }

  async #openProcesses(stateFolder: string | undefined): Promise<ProcessTree> {
    const { ProcessTree } = await import("../servers/process/process-tree.ts");
    const warning = { type: "server-log", server: "", level: "warning", source: "transport" } as const;
    const onProblem = (message: string) => this.events.emit({ ...warning, message, at: this.now() });
    return new ProcessTree({ env: this.env, stateFolder, onProblem });
  }
}
