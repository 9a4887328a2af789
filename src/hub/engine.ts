import { randomBytes } from "node:crypto";
import { createMemoryCredentials } from "../auth/credentials.ts";
import { RememberedApprovals } from "../calls/approvals/remembered.ts";
import { CallLog } from "../calls/call-log.ts";
import { ApprovalQueue } from "../calls/queue/queue.ts";
import { ResourceSubscriptions } from "../calls/subscriptions.ts";
import { Catalog } from "../catalog/catalog.ts";
import type { Scope } from "../catalog/filter.ts";
import { paramHeaderValues } from "../catalog/param-headers.ts";
import { firstMistake } from "../catalog/schema/validate.ts";
import { Snapshots } from "../catalog/snapshot.ts";
import { chainVariable } from "../config/loops.ts";
import type { LoadedConfig } from "../config/model.ts";
import { policyIn } from "../config/policy/policy.ts";
import { unshownValues } from "../config/show/unshown.ts";
import { secretFromFiles } from "../config/secret-files.ts";
import { PlugboardError } from "../errors.ts";
import type { PlugboardEvent } from "../events.ts";
import { createAnswers } from "../interact/answers.ts";
import type { AnswerServer } from "../interact/answers.ts";
import { ElicitationCompletions } from "../interact/completions.ts";
import { interactCapabilities } from "../interact/interact.ts";
import { Questions } from "../interact/questions.ts";
import { EventStream } from "../lib/event-stream.ts";
import { homeFolder } from "../lib/folders.ts";
import type { Environment } from "../lib/folders.ts";
import { own } from "../lib/record.ts";
import { shownValue } from "../lib/shown-value.ts";
import type { Otherwise } from "../servers/rpc/inbound.ts";
import { MessageBudget } from "../servers/rpc/message-budget.ts";
import type { ConnectionKey, Use } from "../servers/connection-key.ts";
import type { ProcessTree } from "../servers/process/process-tree.ts";
import { Redaction } from "../servers/redaction.ts";
import type { Route } from "../servers/route.ts";
import type { Capabilities } from "../servers/rpc/envelope.ts";
import { LastFailures } from "../servers/last-failures.ts";
import { ServerMemory } from "../servers/server-memory.ts";
import type { Introduction } from "../servers/server-memory.ts";
import { ServerSet } from "../servers/server-set.ts";
import { startGates } from "../servers/start-gate.ts";
import type { InProcessServer } from "../servers/transports/memory.ts";
import { WarmServers } from "../servers/warm/warm-servers.ts";
import { createMemoryStore } from "../store/memory/store.ts";
import { LoginOnDemand } from "./login-on-demand.ts";
import { managedFolderOf } from "./options.ts";
import type { ToolOffers } from "./offer/tool-offers.ts";
import type { HubOptions, WarmPlace } from "./options.ts";
import { pinnedRequest } from "./pinned-requests.ts";
import { toNotification } from "./server-notification.ts";
import type { ServerNotification } from "./server-notification.ts";
import { ServerRequests, deadlinesOf } from "./server-requests.ts";
import { SignIn } from "./sign-in.ts";
import { ToolCalls } from "./tool-calls.ts";
import { withheld } from "./withheld.ts";

const idleMs = 600_000;
const maxConnections = 256;

/** The parts of a hub, put together. Views and the hub are thin shapes over it. */
export class Engine {
  readonly env: Environment;
  readonly now: () => number;
  /** What the headers of views are told apart by; it never leaves the process. */
  readonly headersKey = randomBytes(32);
  readonly events = new EventStream<PlugboardEvent>();
  readonly notifications = new EventStream<ServerNotification>();
  readonly questions: Questions;
  readonly completions = new ElicitationCompletions();
  readonly answers: AnswerServer;
  readonly log: CallLog;
  readonly servers: ServerSet;
  readonly signIn: SignIn;
  readonly onDemand: LoginOnDemand;
  readonly requests: ServerRequests;
  readonly subscriptions: ResourceSubscriptions;
  readonly catalog: Catalog;
  /** Calls that wait for approval. */
  readonly queue: ApprovalQueue;
  readonly calls: ToolCalls;
  readonly approvals: RememberedApprovals;
  /** What the hub itself sees, and who answers where nobody else does. */
  readonly root: Scope;
  /** Servers that live in this process, by name. */
  inProcess: Map<string, InProcessServer>;
  /** What legacy servers are told that somebody here can do. */
  #declared: Capabilities;
  #isOpen = true;
  #offers: Promise<ToolOffers> | undefined;
  readonly #budgets = new Map<string, MessageBudget>();
  /** Opened with the first program. */
  #processes: Promise<ProcessTree> | undefined;

  constructor(config: LoadedConfig, inProcess: Map<string, InProcessServer>, options: HubOptions) {
    const { env = process.env, clock: now = Date.now, random = Math.random, interact = {} } = options;
    const { credentials = createMemoryCredentials(), authProviders = {}, toolFilter, onTrace } = options;
    const store = options.store ?? createMemoryStore({ now });
    // A server that is used only once leaves nothing behind.
    const kept = options.rememberLists === false ? createMemoryStore({ now }) : store;
    const capabilities = { ...interactCapabilities(interact), ...options.capabilities };
    const emit = (event: PlugboardEvent) => this.events.emit(event);
    this.env = env;
    this.now = now;
    this.inProcess = inProcess;
    this.root = { filter: {}, use: { interact, capabilities } };
    this.#declared = capabilities;
    const questions = (this.questions = new Questions({ emit, now }));
    const log = (this.log = new CallLog(
      this.events,
      now,
      options.events?.arguments ? shownArguments : undefined,
    ));
    const answers = (this.answers = createAnswers({
      questions,
      completions: this.completions,
      elicitationMode: (server) => this.elicitationMode(server),
      mistakeIn: firstMistake,
    }));
    const home = homeFolder(env);
    const secrets = async (name: string) =>
      (await (options.secrets?.(name) ?? own(env, name))) ??
      (await secretFromFiles(this.servers.config.settings, name));
    const servers = (this.servers = new ServerSet(config, {
      env,
      home,
      secrets,
      trust: options.trust,
      telemetry: options.telemetry,
      onTrace: onTrace && ((entry) => onTrace({ ...entry, at: now() })),
      policyOnDisk: () => policyIn(managedFolderOf(options)),
      processes: () => (this.#processes ??= this.#openProcesses(options)),
      warm: options.warm && this.#keepWarm(options.warm, options),
      gates: startGates(config.settings),
      memory: new ServerMemory(async () => store),
      failures: new LastFailures(async () => kept),
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
      listener: (key, use, owner) => this.#listener(key, use, owner),
      onConnected: (key) => {
        void this.subscriptions.reopen(key);
        this.catalog.onConnected(key);
      },
      onMissed: (key) => this.subscriptions.missed(key),
      onEnded: (key) => this.catalog.forgetKey(key),
      onParted: (name) => this.catalog.forget(name),
    }));
    const target = (server: string, signal?: AbortSignal) => servers.target(servers.key(server), signal);
    const signIn = (this.signIn = new SignIn({ credentials, authProviders, env, target, now, emit }));
    const onDemand = (this.onDemand = new LoginOnDemand({ questions, servers, signIn, now }));
    const requests = (this.requests = new ServerRequests({
      answers,
      completions: this.completions,
      onDemand,
      markOf: (target) => this.approvals.markOf(target),
      pinned: (...asked) => pinnedRequest(servers.config.pins, this.catalog, asked),
    }));
    const connection = (key: ConnectionKey, use?: Use) => servers.connections.get(key, use);
    const keyOf = (server: string, use: Use) => servers.key(server, use);
    this.subscriptions = new ResourceSubscriptions({ key: keyOf, connection, random });
    const catalog = (this.catalog = new Catalog({
      servers,
      snapshots: new Snapshots(kept, capabilities),
      emit,
      now,
      ask: (key, method, params, signal) =>
        connection(key).request(method, params, {
          ...deadlinesOf(servers.entry(key.server).config),
          signal,
          // Lists that the hub reads by itself must not keep a server up that nobody uses.
          isUpkeep: options.keepFresh,
          judgesDepth: true,
        }),
      toolFilter,
      keepFresh: options.keepFresh,
    }));
    const decisions = options.approvals ?? (async () => store);
    const queue = (this.queue = new ApprovalQueue({
      store: decisions,
      now,
      emit,
      settings: () => servers.config.settings,
      // With a state folder, the same user's other processes are meant to see what waits.
      mustBeShared: options.stateFolder !== undefined,
      sources: { env, secrets, home },
      random,
      remember: (...given) => this.approvals.accept(...given),
      onProblem: (message) => this.#warn(message),
    }));
    const approvals = (this.approvals = new RememberedApprovals({
      store: decisions,
      key: options.approvalsKey,
      process: () => queue.process,
      now,
      emit,
    }));
    const parts = { servers, catalog, requests, questions, queue, onDemand, log, approvals };
    const lastingHandles = options.lastingHandles ?? false;
    this.calls = new ToolCalls({ ...parts, store, lastingHandles, env, now });
  }

  /** What models are shown; loaded with the first who asks. */
  offers(): Promise<ToolOffers> {
    const { catalog, env, servers } = this;
    const about = { type: "server-log", server: "", level: "warning", source: "transport" } as const;
    this.#offers ??= import("./offer/tool-offers.ts").then(
      (loaded) =>
        new loaded.ToolOffers({
          catalog,
          env,
          config: () => servers.config,
          introductions: () => this.introductions(),
          warn: (message) => this.events.emit({ ...about, message, at: this.now() }),
        }),
    );
    return this.#offers;
  }

  /** What servers say about themselves, without instructions that a lock file keeps back. */
  async introductions(): Promise<Map<string, Introduction>> {
    const said = await this.servers.introductions();
    const { pins } = this.servers.config;
    return new Map([...said].map(([name, one]) => [name, withheld(one, pins?.get(name))]));
  }

  /** Somebody else may answer from now on, so servers that connect later are told what that one can do. */
  declare(capabilities: Capabilities): void {
    this.#declared = { ...this.#declared, ...capabilities };
  }

  /** A server was switched off or on, and what it offers is gone or back. */
  tellSwitched(server: string): void {
    for (const kind of ["tools", "resources", "prompts"] as const)
      this.events.emit({ type: "catalog-changed", server, kind, at: this.now() });
  }

  /** Everything that is used through a view or the hub asks this first. */
  assertOpen(): void {
    if (this.#isOpen) return;
    throw new PlugboardError("connection-lost", "The hub is closed.", {
      executed: "no",
      data: { reason: "closed" },
      hint: "Create another hub with `createHub`.",
    });
  }

  async close(): Promise<void> {
    this.#isOpen = false;
    this.questions.close();
    this.onDemand.close();
    this.subscriptions.close();
    const closing = this.servers.close();
    const processes = await this.#processes;
    await this.queue.close().catch(() => undefined);
    await Promise.all([closing, processes?.close(), this.signIn.close(), this.catalog.close()]);
    this.events.close();
    this.notifications.close();
  }

  /** All that a hub shows when it is printed: neither the environment nor what is configured. */
  toJSON(): { servers: string[] } {
    return { servers: this.servers.names() };
  }

  [Symbol.for("nodejs.util.inspect.custom")](): { servers: string[] } {
    return this.toJSON();
  }

  /** Whether people are asked what a server wants to know. */
  elicitationMode(server: string): "ask" | "decline" {
    const { config, entry } = { config: this.servers.config, entry: this.servers.entry(server) };
    return entry.config?.elicitation ?? config.settings.elicitation ?? "ask";
  }

  #paramHeaders(key: ConnectionKey, params: Record<string, unknown>): Record<string, string> {
    const tool = this.catalog.byName(key, String(params["name"]));
    return tool ? paramHeaderValues(tool.raw["inputSchema"], params["arguments"]) : {};
  }

  /** What a connection hears and is asked while no request is under way. */
  #listener(key: ConnectionKey, use: () => Use | undefined, owner: string | undefined): Otherwise {
    const { server, caller, account } = key;
    const asking = { server, caller, account };
    const interact = () => ((caller === undefined ? undefined : use()) ?? this.root.use).interact ?? {};
    return {
      caller,
      owner,
      budget: this.#budget(server),
      get answeredBy() {
        return interact();
      },
      onQuestion: (question) => this.answers({ ...question, asking, interact: interact() }),
      onNotification: (method, params, heard) => {
        if (heard && this.notifications.hasListeners) {
          const told = toNotification(key, method, heard);
          if (told) this.notifications.emit(told);
        }
        const changed = /^notifications\/(tools|resources|prompts)\/list_changed$/.exec(method)?.[1];
        if (changed) this.catalog.invalidate(key, changed as "tools" | "resources" | "prompts");
        if (method === "notifications/resources/updated") this.subscriptions.hear(key, params);
        if (method === "notifications/elicitation/complete") this.completions.hear(server, params);
      },
    };
  }

  /** One for all connections of a server, and never a new one because it was configured again. */
  #budget(server: string): MessageBudget {
    const known = this.#budgets.get(server);
    if (known) return known;
    const budget = new MessageBudget(() => this.notifications.listeners + this.events.listeners);
    this.#budgets.set(server, budget);
    return budget;
  }

  /** Tells of a problem that concerns no server. */
  #warn(message: string): void {
    const warning = { type: "server-log", server: "", level: "warning", source: "transport" } as const;
    this.events.emit({ ...warning, message, at: this.now() });
  }

  async #openProcesses(options: HubOptions): Promise<ProcessTree> {
    const { ProcessTree } = await import("../servers/process/process-tree.ts");
    return new ProcessTree({ ...this.#startSettings(options), stateFolder: options.stateFolder });
  }

  #keepWarm(place: WarmPlace, options: HubOptions): WarmServers {
    return new WarmServers({ ...place, ...this.#startSettings(options) });
  }

  /** What holds for every program that is started. */
  #startSettings({ chain }: HubOptions) {
    const marks = chain === undefined ? undefined : { [chainVariable]: chain };
    return { env: this.env, marks, onProblem: (message: string) => this.#warn(message) };
  }
}

function shownArguments(args: Record<string, unknown>, route: Route): Record<string, unknown> {
  const session = route.current?.session;
  // What a server was given is known while it is connected; before, what is written in its entry.
  const written = new Redaction(session ? [] : unshownValues(route.config));
  const redact = (text: string) => (session ? session.redact(text) : written.text(text));
  return shownValue(args, redact) as Record<string, unknown>;
}
