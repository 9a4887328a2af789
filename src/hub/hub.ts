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
 * Makes a hub of what `loadConfig` returned, with the vault, logins, snapshots and records of this user, or of a literal,
 * with everything in memory unless it is given. Starts what is to be started, and fails only when a `required` server
 * does.
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
  /** Another account than the configured one. */
  profile?: string | undefined;
}

interface UseChoice extends AccountChoice {
  caller?: string | undefined;
  project?: string | undefined;
  signal?: AbortSignal | undefined;
}

const allLists = ["tools", "resources", "resourceTemplates", "prompts"] as const;

/** All servers as one object: the widest view, and the one that can change what there is. */
export class Hub extends View {
  #closing: Promise<void> | undefined;

  readonly #onClosed: () => PromiseLike<void> | undefined;

  /** Use `createHub`. */
  constructor(
    config: LoadedConfig | ConfigLiteral,
    options: HubOptions,
    onClosed: () => PromiseLike<void> | undefined,
  ) {
    const { loaded, inProcess } = understand(config, options.env ?? process.env);
    const engine = new Engine(loaded, inProcess, options);
    super(engine, engine.root);
    this.#onClosed = onClosed;
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

  /** How every server is, as a caller or account has it; looking connects nothing. */
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

  /** Connects anew: all servers, or only those that failed. Never throws for a server that fails again. */
  async reconnect(options: { failedOnly?: boolean } = {}): Promise<void> {
    const usable = this.status().filter(({ state }) => state !== "disabled");
    await Promise.allSettled(
      usable.map(({ name }) => this.engine.servers.reconnect(name, options.failedOnly ?? false)),
    );
  }

  /** Lets a person log in to a server, and keeps that. What waited for it connects with the next use. */
  async login(name: string, options: LoginOptions = {}): Promise<Account> {
    const { servers, onDemand } = this.engine;
    return onDemand.login(servers.key(name, { account: options.profile }), options, "disconnect");
  }

  /** Revokes a login where that can be done, and forgets it in any case. */
  async logout(name: string, options: AccountChoice = {}): Promise<LogoutResult> {
    const { servers, signIn } = this.engine;
    const key = servers.key(name, { account: options.profile });
    const profile = servers.chosenAccount(key);
    const result = await signIn.logout(name, await servers.target(key), { profile });
    await servers.disconnectAccount(key);
    return result;
  }

  /** The stored login of a server, without asking anybody. */
  async account(name: string, options: AccountChoice = {}): Promise<Account | undefined> {
    const { servers, signIn } = this.engine;
    const key = servers.key(name, { account: options.profile });
    return signIn.stored(name, await servers.target(key), { profile: servers.chosenAccount(key) });
  }

  /** The questions that wait for an answer, of every caller. */
  questions(): OpenQuestion[] {
    return this.engine.questions.list();
  }

  /** Answers an open question in place of whoever was asked. */
  answer(id: string, answer: unknown): void {
    this.engine.questions.answer(id, answer);
  }

  /** The calls under way, and the last thousand that ended. */
  calls(): CallRecord[] {
    return this.engine.log.list();
  }

  /** Gives up a call that is under way; its server is told. */
  cancel(call: string): void {
    this.engine.log.cancel(call);
  }

  /** Asks servers for their lists anew, whatever is known. */
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

  events(): AsyncIterable<PlugboardEvent> {
    return this.engine.events;
  }

  /** Resolves when no process, timer or socket of it is left. */
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
    // The new rules hold at once, also while an old server takes its time to leave.
    const { added, removed, changed } = await engine.servers.apply(loaded, replaced);
    const touched = changed.map(({ name }) => name);
    if (added.length + removed.length + touched.length > 0) {
      engine.events.emit({ type: "config-changed", added, removed, changed: touched, at: engine.now() });
    }
    for (const name of [...added, ...touched]) engine.subscriptions.restart(name);
    const eager = new Set(engine.servers.eagerNames());
    for (const name of [...added, ...touched].filter((one) => eager.has(one))) {
      this.#connectUnasked(name).catch(() => undefined);
    }
  }

  /** What starts by itself asks nobody to log in: ten servers must not mean ten pages. */
  async #connectUnasked(name: string): Promise<void> {
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

function understand(config: LoadedConfig | ConfigLiteral, env: Readonly<Record<string, string | undefined>>) {
  if ("projectRoot" in config) return { loaded: config, inProcess: new Map<string, InProcessServer>() };
  return fromLiteral<InProcessServer>(config, env);
}
