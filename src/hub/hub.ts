import type { Account } from "../auth/oauth/account.ts";
import type { LoginOptions } from "../auth/oauth/login.ts";
import type { LogoutResult } from "../auth/oauth/logout.ts";
import { fromLiteral } from "../config/literal.ts";
import type { ConfigLiteral } from "../config/literal.ts";
import type { LoadedConfig } from "../config/model.ts";
import { Engine } from "./engine.ts";
import type { HubOptions } from "./options.ts";
import { PlugboardError } from "../errors.ts";
import type { EventOf, EventType, PlugboardEvent } from "../events.ts";
import type { ServerReport } from "../servers/server-report.ts";
import type { InProcessServer } from "../servers/transports/memory.ts";
import { View } from "./view.ts";

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

interface AccountChoice {
  /** Another account than the configured one. */
  profile?: string | undefined;
}

const allLists = ["tools", "resources", "resourceTemplates", "prompts"] as const;

/** All servers as one object: the widest view, and the one that can change what there is. */
export class Hub extends View {
  #closing: Promise<void> | undefined;

  constructor(config: LoadedConfig | ConfigLiteral, options: HubOptions) {
    const { loaded, inProcess } = understand(config, options.env ?? process.env);
    super(new Engine(loaded, inProcess, options), {});
  }

  /** Starts the eager servers in parallel. Waits for the `required` ones; the others report themselves. */
  async start(): Promise<void> {
    const { servers } = this.config;
    const names = this.engine.servers.eagerNames();
    const impossible = [...servers.values()].find(
      ({ config, status }) =>
        config?.required &&
        status.kind === "disabled" &&
        status.reason !== "untrusted" &&
        status.reason !== "config",
    );
    if (impossible) await this.#connectUnasked(impossible.name);
    const starts = names.map((name) =>
      this.#connectUnasked(name).then(
        () => ({ name, error: undefined }),
        (error: unknown) => ({ name, error }),
      ),
    );
    void Promise.all(starts).then((results) => this.#reportStartup(results));
    const needed = starts.filter((_, index) => servers.get(names[index] ?? "")?.config?.required);
    const check = async (start: (typeof starts)[number]) => {
      const { error } = await start;
      if (error !== undefined) throw error;
    };
    await Promise.all(needed.map(check));
  }

  /** How every server is; with `profile`, how the connections as that account are. */
  status({ profile }: AccountChoice = {}): ServerReport[] {
    const { servers, signIn } = this.engine;
    return servers.reports({ profile }).map((report) => {
      const { name } = report;
      const account = signIn.account(name, servers.chosenProfile(name, profile));
      return account ? { ...report, account } : report;
    });
  }

  get config(): LoadedConfig {
    return this.engine.servers.config;
  }

  async connect(name: string, account: AccountChoice = {}): Promise<void> {
    const { servers, onDemand } = this.engine;
    await onDemand.run(account, () => servers.connection(name, account).ready());
  }

  async disconnect(name: string): Promise<void> {
    await this.engine.servers.disconnect(name);
  }

  /** Connects anew: all servers, or only those that failed. Never throws for a server that fails again. */
  async reconnect(options: { failedOnly?: boolean } = {}): Promise<void> {
    const usable = this.status().filter(({ state }) => state !== "disabled");
    await Promise.allSettled(
      usable.map(({ name }) => this.engine.servers.reconnect(name, options.failedOnly ?? false)),
    );
  }

  /** Lets a person log in to a server, and keeps that. What waited for it connects with the next use. */
  async login(name: string, options: LoginOptions = {}): Promise<Account> {
    const { servers, signIn, onDemand } = this.engine;
    const profile = servers.chosenProfile(name, options.profile);
    const account = await signIn.login(name, await servers.target(name), { ...options, profile });
    onDemand.forgive(name);
    await servers.disconnectAccount(name, profile);
    return account;
  }

  /** Revokes a login where that can be done, and forgets it in any case. */
  async logout(name: string, options: AccountChoice = {}): Promise<LogoutResult> {
    const { servers, signIn } = this.engine;
    const profile = servers.chosenProfile(name, options.profile);
    const result = await signIn.logout(name, await servers.target(name), { profile });
    await servers.disconnectAccount(name, profile);
    return result;
  }

  /** The stored login of a server, without asking anybody. */
  async account(name: string, options: AccountChoice = {}): Promise<Account | undefined> {
    const { servers, signIn } = this.engine;
    const profile = servers.chosenProfile(name, options.profile);
    return signIn.stored(name, await servers.target(name), { profile });
  }

  /** Asks servers for their lists anew, whatever is known. */
  async refresh(name?: string, account: AccountChoice = {}): Promise<void> {
    const names = name === undefined ? this.engine.catalog.serverNames({}) : [name];
    const refreshed = names.map((server) => this.engine.catalog.refresh(server, allLists, account));
    if (name !== undefined) await refreshed[0];
    await Promise.allSettled(refreshed);
  }

  /** Takes a new configuration into use. Servers that did not change, and their calls, notice nothing. */
  async reload(config: LoadedConfig | ConfigLiteral): Promise<void> {
    if (!("projectRoot" in config)) {
      const { loaded, inProcess } = fromLiteral<InProcessServer>(config, this.engine.env);
      return this.#take(loaded, inProcess);
    }
    // A server in this process stands for its own entry, not for another one of the same name.
    const kept = [...this.engine.inProcess].filter(
      ([name]) => config.servers.get(name) === this.config.servers.get(name),
    );
    return this.#take(config, new Map(kept));
  }

  async add(name: string, config: ConfigLiteral["servers"][string]): Promise<void> {
    const { loaded, inProcess } = fromLiteral<InProcessServer>(
      { servers: { [name]: config } },
      this.engine.env,
    );
    const entry = loaded.servers.get(name);
    const [mistake] = loaded.diagnostics.filter(({ severity }) => severity === "error");
    if (!entry?.config || mistake) {
      const message = `Server "${name}": ${mistake?.message ?? "cannot be used"}.`;
      throw new PlugboardError("config-invalid", message, { server: name });
    }
    const others = [...this.engine.inProcess].filter(([other]) => other !== name);
    const servers = new Map([...this.config.servers, [name, entry]]);
    await this.#take({ ...this.config, servers }, new Map([...others, ...inProcess]));
  }

  async remove(name: string): Promise<void> {
    this.engine.servers.entry(name);
    const rest = [...this.config.servers].filter(([other]) => other !== name);
    await this.reload({ ...this.config, servers: new Map(rest) });
  }

  async disable(name: string): Promise<void> {
    await this.engine.servers.disable(name, "switched off", "Switch it on with `hub.enable`.");
  }

  /** Lifts the switch; what a policy, missing trust or a mistake forbids stays forbidden. */
  enable(name: string): void {
    this.engine.servers.enable(name);
  }

  /** Tells servers that declare `codex/sandbox-state` what they may do, now and whenever they connect. */
  async setSandboxState(state: Record<string, unknown>): Promise<void> {
    await this.engine.servers.setSandboxState(state);
  }

  /** Calls `listener` for each event of a type; returns how to stop that. */
  on<T extends EventType>(type: T, listener: (event: EventOf<T>) => void): () => void {
    return this.engine.events.listen((event) => {
      if (event.type === type) listener(event as EventOf<T>);
    });
  }

  events(): AsyncIterable<PlugboardEvent> {
    return this.engine.events;
  }

  /** Resolves when no process, timer or socket of it is left. */
  close(): Promise<void> {
    this.#closing ??= this.engine.close();
    return this.#closing;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #take(loaded: LoadedConfig, inProcess: Map<string, InProcessServer>): Promise<void> {
    const { engine } = this;
    const replaced = [...loaded.servers.keys()].filter(
      (name) => engine.inProcess.get(name) !== inProcess.get(name),
    );
    engine.inProcess = inProcess;
    const applying = engine.servers.apply(loaded, replaced);
    // The new rules hold from here on, also while an old server takes its time to leave.
    engine.catalog.forgetJudgements();
    const { added, removed, changed } = await applying;
    const touched = changed.map(({ name }) => name);
    for (const name of [...removed, ...touched]) engine.catalog.forget(name);
    if (added.length + removed.length + touched.length > 0) {
      engine.events.emit({ type: "config-changed", added, removed, changed: touched, at: engine.now() });
    }
    const eager = new Set(engine.servers.eagerNames());
    for (const name of [...added, ...touched].filter((one) => eager.has(one))) {
      this.#connectUnasked(name).catch(() => undefined);
    }
  }

  /** What starts by itself asks nobody to log in: ten servers must not mean ten pages. */
  async #connectUnasked(name: string): Promise<void> {
    await this.engine.servers.connection(name).ready();
  }

  #reportStartup(results: { name: string; error: unknown }[]): void {
    const ready = results.filter(({ error }) => error === undefined).map(({ name }) => name);
    const failed = results.filter(({ error }) => error !== undefined).map(({ name }) => name);
    const asked = new Set(results.map(({ name }) => name));
    const skipped = this.engine.servers.names().filter((name) => !asked.has(name));
    this.engine.events.emit({ type: "startup-complete", ready, failed, skipped, at: this.engine.now() });
  }
}

function understand(config: LoadedConfig | ConfigLiteral, env: Readonly<Record<string, string | undefined>>) {
  if ("projectRoot" in config) return { loaded: config, inProcess: new Map<string, InProcessServer>() };
  return fromLiteral<InProcessServer>(config, env);
}
