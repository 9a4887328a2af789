import { homedir } from "node:os";
import { readPages } from "./catalog/pages.ts";
import { fromLiteral } from "./config/literal.ts";
import type { ConfigLiteral } from "./config/literal.ts";
import type { LoadedConfig } from "./config/model.ts";
import type { SecretSource } from "./config/expand.ts";
import { PlugboardError } from "./errors.ts";
import type { EventOf, EventType, PlugboardEvent } from "./events.ts";
import type { Environment } from "./lib/folders.ts";
import { EventStream } from "./lib/event-stream.ts";
import type { Capabilities } from "./servers/envelope.ts";
import type { JsonRpcAnswer, Progress } from "./servers/lane.ts";
import { ProcessTree } from "./servers/process-tree.ts";
import { ServerMemory } from "./servers/server-memory.ts";
import type { ServerReport } from "./servers/server-report.ts";
import { ServerSet } from "./servers/server-set.ts";
import { StartGate } from "./servers/start-gate.ts";
import type { InProcessServer } from "./servers/transports/memory.ts";
import { createMemoryStore } from "./store/memory.ts";
import type { Store } from "./store/store.ts";

/** Everything from outside enters here. */
export interface HubOptions {
  env?: Environment;
  /** Where `${secret:NAME}` is looked up; the variable NAME when absent. */
  secrets?: SecretSource;
  /** Durable state; in memory when absent. The hub does not close it. */
  store?: Store;
  /** Where running servers are recorded, so that a later start can end what a killed one left behind. */
  stateFolder?: string;
  /** Start all servers at once and keep them up, instead of when they are needed. */
  eager?: boolean;
  /** What we tell servers that we can do. */
  capabilities?: Capabilities;
  clock?: () => number;
  random?: () => number;
}

export interface RequestOptions {
  server: string;
  /** Who asks; matters for servers with `isolation: caller`. */
  caller?: string | undefined;
  signal?: AbortSignal | undefined;
  onProgress?: ((progress: Progress) => void) | undefined;
  /** How long the server may be silent. */
  timeoutMs?: number | undefined;
  maxTimeoutMs?: number | undefined;
  /** The capabilities of whoever asks, where they differ from the hub's. */
  capabilities?: Capabilities | undefined;
}

/** A tool as its server describes it. */
export interface RawTool {
  server: string;
  tool: Record<string, unknown>;
}

const callMs = 60_000;
const longestCallMs = 600_000;

/** Starts what is to be started, and fails only when a `required` server does. */
export async function createHub(
  config: LoadedConfig | ConfigLiteral,
  options: HubOptions = {},
): Promise<Hub> {
  const hub = new Hub(config, options);
  try {
    await hub.start();
    return hub;
  } catch (error) {
    await hub.close();
    throw error;
  }
}

/** All servers as one object. */
export class Hub {
  readonly #servers: ServerSet;
  readonly #processes: ProcessTree;
  readonly #events = new EventStream<PlugboardEvent>();
  readonly #now: () => number;
  readonly #env: Environment;
  #inProcess: Map<string, InProcessServer>;
  #closing: Promise<void> | undefined;

  constructor(config: LoadedConfig | ConfigLiteral, options: HubOptions) {
    const {
      env = process.env,
      clock = Date.now,
      random = Math.random,
      capabilities = {},
      stateFolder,
    } = options;
    const store = options.store ?? createMemoryStore({ now: clock });
    const { loaded, inProcess } =
      "projectRoot" in config
        ? { loaded: config, inProcess: new Map<string, InProcessServer>() }
        : fromLiteral(config, env);
    this.#now = clock;
    this.#env = env;
    this.#inProcess = inProcess;
    this.#processes = new ProcessTree({ env, stateFolder, onProblem: (message) => this.#warn(message) });
    this.#servers = new ServerSet(loaded, {
      env,
      home: env["HOME"] || homedir(),
      secrets: options.secrets ?? (async (name) => env[name]),
      processes: this.#processes,
      gate: new StartGate(loaded.settings.startConcurrency ?? 8),
      memory: new ServerMemory(async () => store),
      capabilities,
      inProcess: (name) => this.#inProcess.get(name),
      eager: options.eager ?? false,
      now: clock,
      random,
      emit: (event) => this.#events.emit(event),
    });
  }

  /** Starts the eager servers in parallel. Waits for the `required` ones; the others report themselves. */
  async start(): Promise<void> {
    const names = this.#servers.eagerNames();
    const { servers } = this.#servers.config;
    const required = [...servers.values()].filter(
      ({ config, status }) => config?.required && status.kind === "disabled",
    );
    for (const { name } of required) await this.connect(name);
    const starts = names.map((name) =>
      this.connect(name).then(
        () => ({ name, ok: true }),
        (error: unknown) => ({ name, ok: false, error }),
      ),
    );
    void Promise.all(starts).then((results) => this.#reportStartup(results));
    const needed = starts.filter((_, index) => servers.get(names[index] ?? "")?.config?.required);
    const check = async (start: (typeof starts)[number]) => {
      const result = await start;
      if ("error" in result) throw result.error;
    };
    await Promise.all(needed.map(check));
  }

  status(): ServerReport[] {
    return this.#servers.reports();
  }

  get config(): LoadedConfig {
    return this.#servers.config;
  }

  async connect(name: string): Promise<void> {
    await this.#servers.connection(name).ready();
  }

  async disconnect(name: string): Promise<void> {
    await this.#servers.disconnect(name);
  }

  /** Connects anew: all servers, or only those that failed. Never throws for a server that fails again. */
  async reconnect(options: { failedOnly?: boolean } = {}): Promise<void> {
    const usable = this.status().filter(({ state }) => state !== "disabled");
    await Promise.all(usable.map(({ name }) => this.#servers.reconnect(name, options.failedOnly === true)));
  }

  /** Takes a new configuration into use. Servers that did not change, and their calls, notice nothing. */
  async reload(config: LoadedConfig | ConfigLiteral): Promise<void> {
    if (!("projectRoot" in config)) {
      const { loaded, inProcess } = fromLiteral<InProcessServer>(config, this.#env);
      return this.#take(loaded, inProcess);
    }
    // A server in this process stands for its own entry, not for another one of the same name.
    const kept = [...this.#inProcess].filter(
      ([name]) => config.servers.get(name) === this.config.servers.get(name),
    );
    return this.#take(config, new Map(kept));
  }

  async #take(loaded: LoadedConfig, inProcess: Map<string, InProcessServer>): Promise<void> {
    const names = [...loaded.servers.keys()];
    const replaced = names.filter((name) => this.#inProcess.get(name) !== inProcess.get(name));
    this.#inProcess = inProcess;
    const { added, removed, changed } = await this.#servers.apply(loaded, replaced);
    const touched = changed.map(({ name }) => name);
    if (added.length + removed.length + touched.length > 0) {
      this.#events.emit({ type: "config-changed", added, removed, changed: touched, at: this.#now() });
    }
    const eager = new Set(this.#servers.eagerNames());
    for (const name of [...added, ...touched].filter((one) => eager.has(one)))
      this.connect(name).catch(() => undefined);
  }

  async add(name: string, config: ConfigLiteral["servers"][string]): Promise<void> {
    const { loaded, inProcess } = fromLiteral<InProcessServer>({ servers: { [name]: config } }, this.#env);
    const entry = loaded.servers.get(name);
    const [mistake] = loaded.diagnostics.filter(({ severity }) => severity === "error");
    if (!entry?.config || mistake)
      throw new PlugboardError(
        "config-invalid",
        `Server "${name}": ${mistake?.message ?? "cannot be used"}.`,
        { server: name },
      );
    const others = [...this.#inProcess].filter(([other]) => other !== name);
    const servers = new Map([...this.config.servers, [name, entry]]);
    await this.#take({ ...this.config, servers }, new Map([...others, ...inProcess]));
  }

  async remove(name: string): Promise<void> {
    this.#servers.entry(name);
    const rest = [...this.config.servers].filter(([other]) => other !== name);
    await this.reload({ ...this.config, servers: new Map(rest) });
  }

  async disable(name: string): Promise<void> {
    await this.#servers.disable(name, "switched off", "Switch it on with `hub.enable`.");
  }

  /** Lifts the switch; what a policy, missing trust or a mistake forbids stays forbidden. */
  enable(name: string): void {
    this.#servers.enable(name);
  }

  /** The raw door: the server's own answer or error, untouched. */
  async request(
    method: string,
    params: Record<string, unknown>,
    options: RequestOptions,
  ): Promise<JsonRpcAnswer> {
    const { server, caller, signal, onProgress, capabilities } = options;
    const { config } = this.#servers.entry(server);
    const timeoutMs = options.timeoutMs ?? config?.callTimeoutMs ?? callMs;
    const maxTimeoutMs = Math.max(
      timeoutMs,
      options.maxTimeoutMs ?? config?.maxCallTimeoutMs ?? longestCallMs,
    );
    const limits = { timeoutMs, maxTimeoutMs };
    return this.#servers.use(server, caller, (connection) =>
      connection.request(method, params, { ...limits, signal, onProgress, capabilities }),
    );
  }

  /** Every tool of every usable server, in the servers' own words. A server that cannot be listed is left out; `status` says why. */
  async tools(): Promise<RawTool[]> {
    const ready = this.status().filter(({ state }) => state !== "disabled");
    const lists = await Promise.allSettled(ready.map(({ name }) => this.#listTools(name)));
    return lists.flatMap((list) => (list.status === "fulfilled" ? list.value : []));
  }

  /** Tells servers that declare `codex/sandbox-state` what they may do, now and whenever they connect. */
  async setSandboxState(state: Record<string, unknown>): Promise<void> {
    await this.#servers.setSandboxState(state);
  }

  /** Calls `listener` for each event of a type; returns how to stop that. */
  on<T extends EventType>(type: T, listener: (event: EventOf<T>) => void): () => void {
    return this.#events.listen((event) => {
      if (event.type === type) listener(event as EventOf<T>);
    });
  }

  events(): AsyncIterable<PlugboardEvent> {
    return this.#events;
  }

  /** Resolves when no process, timer or socket of it is left. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #close(): Promise<void> {
    await Promise.all([this.#servers.close(), this.#processes.close()]);
    this.#events.close();
  }

  async #listTools(server: string): Promise<RawTool[]> {
    const connection = this.#servers.connection(server);
    const session = await connection.ready();
    if (!session.greeting.capabilities["tools"]) return [];
    try {
      const tools = await readPages(server, "tools", (params) =>
        connection.request("tools/list", params, { timeoutMs: callMs, maxTimeoutMs: callMs }),
      );
      connection.listRefreshed();
      return tools.map((tool) => ({ server, tool }));
    } catch (error) {
      if (error instanceof PlugboardError) connection.listFailed(error);
      throw error;
    }
  }

  #reportStartup(results: { name: string; ok: boolean }[]): void {
    const named = (ok: boolean) => results.filter((one) => one.ok === ok).map(({ name }) => name);
    const skipped = this.status()
      .map(({ name }) => name)
      .filter((name) => !results.some((one) => one.name === name));
    this.#events.emit({
      type: "startup-complete",
      ready: named(true),
      failed: named(false),
      skipped,
      at: this.#now(),
    });
  }

  #warn(message: string): void {
    this.#events.emit({
      type: "server-log",
      server: "",
      level: "warning",
      source: "transport",
      message,
      at: this.#now(),
    });
  }
}
