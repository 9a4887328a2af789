import type { Account } from "../auth/oauth/account.ts";
import type { LoginOptions } from "../auth/oauth/login/login.ts";
import type { LogoutResult } from "../auth/oauth/logout.ts";
import { fromLiteral } from "../config/literal.ts";
import type { ConfigLiteral } from "../config/literal.ts";
import type { LoadedConfig } from "../config/model.ts";
import { Engine } from "./engine.ts";
import type { HubOptions } from "./options.ts";
import { PlugboardError, isPlugboardError } from "../errors.ts";
import type { CallRecord } from "../calls/call-log.ts";
import type { PlugboardEvent } from "../events.ts";
import type { OpenQuestion } from "../interact/questions.ts";
import type { ServerReport } from "../servers/server-report.ts";
import type { InProcessServer } from "../servers/transports/memory.ts";
import { View } from "./view.ts";

/**
 * Creates a hub. With the result of `loadConfig`, it uses this user's vault, logins, snapshots and records; with a
 * literal, everything is in memory unless passed in. Starts the eager servers, and fails only if a `required` one does.
 */
export async function createHub(
  config: LoadedConfig | ConfigLiteral,
  options: HubOptions = {},
): Promise<Hub> {
  const home = "home" in config ? config.home : undefined;
  const workspace = await home?.open();
  const known: HubOptions | undefined = await workspace?.hubOptions(config as LoadedConfig);
  const hub = new Hub(config, { ...known, ...options }, () => workspace?.[Symbol.asyncDispose]());
  try {
    if (options.start !== false) await hub.start();
    return hub;
  } catch (error) {
    await hub.close();
    throw error;
  }
}

interface AccountChoice {
  /** The account to use instead of the configured one. */
  profile?: string | undefined;
}

interface UseChoice extends AccountChoice {
  caller?: string | undefined;
  project?: string | undefined;
  signal?: AbortSignal | undefined;
}

const allLists = ["tools", "resources", "resourceTemplates", "prompts"] as const;

/** All servers as one object: the view without filters, which can also change the configuration. */
export class Hub extends View {
  #closing: Promise<void> | undefined;

  readonly #onClosed: () => PromiseLike<void> | undefined;

  /** Use `createHub`. */
  constructor(
    config: LoadedConfig | ConfigLiteral,
    options: HubOptions,
    onClosed: () => PromiseLike<void> | undefined,
  ) {
    const { loaded, inProcess } = normalizeConfig(config, options.env ?? process.env);
    const engine = new Engine(loaded, inProcess, options);
    super(engine, engine.root);
    this.#onClosed = onClosed;
  }

  /** Starts the eager servers in parallel. Waits only for the `required` ones; the others report through events. */
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
    if (impossible) await this.#connectWithoutLogin(impossible.name);
    const starts = names.map((name) =>
      this.#connectWithoutLogin(name).then(
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

  /** The status of every server for a caller or account. Does not connect. */
  status({ profile, caller, project }: UseChoice = {}): ServerReport[] {
    const { servers, signIn } = this.engine;
    const use = { caller, account: profile, project };
    return servers.reports(use).map((report) => {
      const { name } = report;
      const account = signIn.account(name, servers.chosenAccount(servers.key(name, use)));
      return account ? { ...report, account } : report;
    });
  }

  get config(): LoadedConfig {
    return this.engine.servers.config;
  }

  async connect(name: string, { profile, caller, project, signal }: UseChoice = {}): Promise<void> {
    const { servers, onDemand, root } = this.engine;
    const use = { ...root.use, caller, account: profile, project };
    await onDemand.run({ use, signal }, () =>
      servers.connections.get(servers.key(name, use), use).ready(signal),
    );
  }

  async disconnect(name: string): Promise<void> {
    await this.engine.servers.disconnect(name);
  }

  /** Reconnects all servers, or only those that failed. Never throws for a server that fails again. */
  async reconnect(options: { failedOnly?: boolean } = {}): Promise<void> {
    const usable = this.status().filter(({ state }) => state !== "disabled");
    await Promise.allSettled(
      usable.map(({ name }) => this.engine.servers.reconnect(name, options.failedOnly ?? false)),
    );
  }

  /** Lets a person log in to a server and stores the login. Servers that needed it connect on their next use. */
  async login(name: string, options: LoginOptions = {}): Promise<Account> {
    const { servers, onDemand } = this.engine;
    return onDemand.login(servers.key(name, { account: options.profile }), options, "disconnect");
  }

  /** Revokes a login if the server supports it, and deletes it in any case. */
  async logout(name: string, options: AccountChoice = {}): Promise<LogoutResult> {
    const { servers, signIn } = this.engine;
    const key = servers.key(name, { account: options.profile });
    const profile = servers.chosenAccount(key);
    const result = await signIn.logout(name, await servers.target(key), { profile });
    await servers.disconnectAccount(key);
    return result;
  }

  /** The stored login for a server. Never prompts. */
  async account(name: string, options: AccountChoice = {}): Promise<Account | undefined> {
    const { servers, signIn } = this.engine;
    const key = servers.key(name, { account: options.profile });
    return signIn.stored(name, await servers.target(key), { profile: servers.chosenAccount(key) });
  }

  /** The open questions of all callers. */
  questions(): OpenQuestion[] {
    return this.engine.questions.list();
  }

  /** Answers an open question in place of the person who was asked. */
  answer(id: string, answer: unknown): void {
    this.engine.questions.answer(id, answer);
  }

  /** The running calls, and the last thousand that ended. */
  calls(): CallRecord[] {
    return this.engine.log.list();
  }

  /** Cancels a running call and notifies its server. */
  cancel(call: string): void {
    this.engine.log.cancel(call);
  }

  /** Reads the lists of one server, or of all, again. */
  async refresh(name?: string, { profile, caller, project, signal }: UseChoice = {}): Promise<void> {
    const { catalog, servers, root } = this.engine;
    const use = { caller, account: profile, project };
    const names = name === undefined ? catalog.serverNames(root) : [name];
    const refreshed = names.map((server) => catalog.refresh(servers.key(server, use), allLists, signal));
    if (name !== undefined) await refreshed[0];
    const results = await Promise.allSettled(refreshed);
    const cancelled = results.find(
      (result) => result.status === "rejected" && isPlugboardError(result.reason, "call-cancelled"),
    );
    if (cancelled?.status === "rejected") throw cancelled.reason;
  }

  /** Applies a new configuration. Unchanged servers and their calls are not affected. */
  async reload(config: LoadedConfig | ConfigLiteral): Promise<void> {
    if (!("projectRoot" in config)) {
      const { loaded, inProcess } = fromLiteral<InProcessServer>(config, this.engine.env);
      return this.#take(loaded, inProcess);
    }
    // An in-process server belongs to its own entry, not to a different entry with the same name.
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

  /** Undoes `disable`. A server stays disabled if policy, missing trust or invalid config forbids it. */
  enable(name: string): void {
    this.engine.servers.enable(name);
  }

  /** Sends the sandbox state to servers that declare `codex/sandbox-state`, now and whenever they connect. */
  async setSandboxState(state: Record<string, unknown>): Promise<void> {
    await this.engine.servers.setSandboxState(state);
  }

  events(): AsyncIterable<PlugboardEvent> {
    return this.engine.events;
  }

  /** Resolves when no process, timer or socket is left. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    try {
      await this.engine.close();
    } finally {
      await this.#onClosed();
    }
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
    // The new rules apply immediately, even while an old server is still shutting down.
    const { added, removed, changed } = await engine.servers.apply(loaded, replaced);
    const touched = changed.map(({ name }) => name);
    if (added.length + removed.length + touched.length > 0) {
      engine.events.emit({ type: "config-changed", added, removed, changed: touched, at: engine.now() });
    }
    for (const name of [...added, ...touched]) engine.subscriptions.restart(name);
    const eager = new Set(engine.servers.eagerNames());
    for (const name of [...added, ...touched].filter((one) => eager.has(one))) {
      this.#connectWithoutLogin(name).catch(() => undefined);
    }
  }

  /** Servers that start automatically do not ask for a login: ten servers must not open ten login pages. */
  async #connectWithoutLogin(name: string): Promise<void> {
    const { servers, root } = this.engine;
    await servers.connections.get(servers.key(name), root.use).ready();
  }

  #reportStartup(results: { name: string; error: unknown }[]): void {
    const ready = results.filter(({ error }) => error === undefined).map(({ name }) => name);
    const failed = results.filter(({ error }) => error !== undefined).map(({ name }) => name);
    const asked = new Set(results.map(({ name }) => name));
    const skipped = this.engine.servers.names().filter((name) => !asked.has(name));
    this.engine.events.emit({ type: "startup-complete", ready, failed, skipped, at: this.engine.now() });
  }
}

function normalizeConfig(
  config: LoadedConfig | ConfigLiteral,
  env: Readonly<Record<string, string | undefined>>,
) {
  if ("projectRoot" in config) return { loaded: config, inProcess: new Map<string, InProcessServer>() };
  return fromLiteral<InProcessServer>(config, env);
}
