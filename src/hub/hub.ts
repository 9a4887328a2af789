import type { Account } from "../auth/oauth/account.ts";
import type { LoginOptions } from "../auth/oauth/login/login.ts";
import type { LogoutResult } from "../auth/oauth/logout.ts";
import { assertNoMistakes, fromLiteral } from "../config/literal.ts";
import { pinsIn } from "../config/lock/load-pins.ts";
import { readLock } from "../config/lock/lock-file.ts";
import type { LockFile } from "../config/lock/lock-file.ts";
import type { ConfigLiteral, FileLiteral, LiteralServer } from "../config/literal.ts";
import { assertNoLostRule } from "../config/lost-rules.ts";
import type { LoadedConfig } from "../config/model.ts";
import { assertAllowed, loadPolicy, noPolicy, policyIn } from "../config/policy/policy.ts";
import type { ManagedPolicy } from "../config/policy/policy.ts";
import { Approvals } from "./approvals.ts";
import { Engine } from "./engine.ts";
import { managedFolderOf } from "./options.ts";
import type { HubOptions } from "./options.ts";
import { PlugboardError, isPlugboardError } from "../errors.ts";
import type { ListKind } from "../catalog/known-list.ts";
import type { CallRecord } from "../calls/call-log.ts";
import type { LogLevel, PlugboardEvent } from "../events.ts";
import type { OpenQuestion } from "../interact/questions.ts";
import type { Introduction } from "../servers/server-memory.ts";
import type { ServerReport } from "../servers/server-report.ts";
import type { InProcessServer } from "../servers/transports/memory.ts";
import type { DefinitionFlag } from "../catalog/flags/definition.ts";
import type { PinCheckOptions, PinReport } from "./pin-check.ts";
import { keepTicksFast } from "../lib/ticks.ts";
import { View } from "./view.ts";
import { withheld } from "./withheld.ts";

/**
 * Creates a hub. With the result of `loadConfig`, it uses this user's vault, logins, snapshots and records; with a
 * literal, everything is in memory unless passed in. Starts the eager servers, and fails only if a `required` one does.
 * Throws if a literal has a mistake, or if rules of the user are missing in the configuration (see `lostRules`).
 */
export async function createHub(
  config: LoadedConfig | ConfigLiteral | FileLiteral,
  options: HubOptions = {},
): Promise<Hub> {
  keepTicksFast();
  if ("projectRoot" in config && options.lostRules !== "ignore") assertNoLostRule(config);
  const home = "home" in config ? config.home : undefined;
  const workspace = await home?.open();
  const known: HubOptions | undefined = await workspace?.hubOptions(config as LoadedConfig);
  const policy = "projectRoot" in config ? config.policy : await loadPolicy(managedFolderOf(options));
  const lock = options.lock === undefined ? undefined : await readLock(options.lock);
  const onClosed = () => workspace?.[Symbol.asyncDispose]();
  const hub = new Hub(config, policy, { ...known, ...options }, lock, onClosed);
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

/** For whom something is done. */
interface UseChoice extends AccountChoice {
  caller?: string | undefined;
  project?: string | undefined;
  signal?: AbortSignal | undefined;
}

const allLists: readonly ListKind[] = ["tools", "resources", "resourceTemplates", "prompts"];

/** All servers as one object: the view without filters, which can also change the configuration. */
export class Hub extends View {
  #closing: Promise<void> | undefined;

  readonly #onClosed: () => PromiseLike<void> | undefined;
  /** The folder of the machine's policy. */
  readonly #managed: string;
  readonly #allowsLostRules: boolean;
  /** The lock file that was passed in. */
  readonly #lock: string | undefined;

  /** Use `createHub`. */
  constructor(
    config: LoadedConfig | ConfigLiteral | FileLiteral,
    policy: ManagedPolicy,
    options: HubOptions,
    lock: LockFile | undefined,
    onClosed: () => PromiseLike<void> | undefined,
  ) {
    const { loaded, inProcess } = normalizeConfig(config, options.env ?? process.env, policy);
    const engine = new Engine(withLock(loaded, lock), inProcess, options);
    super(engine, engine.root);
    this.#onClosed = onClosed;
    this.#lock = options.lock;
    this.#managed = managedFolderOf(options);
    this.#allowsLostRules = options.lostRules === "ignore";
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
        status.reason !== "off",
    );
    if (impossible) await this.#connectWithoutLogin(impossible.name);
    const starts = names.map((name) =>
      this.#connectWithoutLogin(name).then(
        () => ({ name, error: undefined }),
        (error: unknown) => ({ name, error }),
      ),
    );
    const { engine } = this;
    void Promise.all(starts).then((results) => reportStartup(engine, results));
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
    return servers.reports(use).map((whole) => {
      const { name } = whole;
      const report = withheld(whole, servers.config.pins?.get(name));
      const account = signIn.account(name, servers.chosenAccount(servers.key(name, use)));
      return account ? { ...report, account } : report;
    });
  }

  /**
   * What servers say about themselves: now, or when they were last connected; without instructions that a lock file keeps
   * back. Does not connect.
   */
  async introductions(): Promise<Map<string, Introduction>> {
    return this.engine.introductions();
  }

  /**
   * Connects to servers and compares what they offer now with the lock files: all usable servers, or those that are named.
   * A server that fails is reported, and its pins stay as they are.
   */
  async checkPins(names?: readonly string[], options: PinCheckOptions = {}): Promise<PinReport[]> {
    const { engine } = this;
    // Loaded here, because most programs never ask.
    const { checkPins } = await import("./pin-check.ts");
    return checkPins(engine, names ?? engine.catalog.serverNames(engine.root), options);
  }

  /**
   * What is suspicious in the definitions that are known: hidden characters, look-alike names, and texts that name another
   * server's tools. Advice for people; nothing is set aside because of it. Does not connect.
   */
  async flags(): Promise<DefinitionFlag[]> {
    const { engine } = this;
    const { knownFlags } = await import("./known-flags.ts");
    return knownFlags(engine);
  }

  /** The configuration in use. */
  get config(): LoadedConfig {
    return this.engine.servers.config;
  }

  /** Connects to a server now instead of at its first use. Throws why it failed. */
  async connect(name: string, { profile, caller, project, signal }: UseChoice = {}): Promise<void> {
    const { servers, onDemand, root } = this.engine;
    const use = { ...root.use, caller, account: profile, project };
    await onDemand.run({ use, signal }, () =>
      servers.connections.get(servers.key(name, use), use).ready(signal),
    );
  }

  /** Ends a server's connections; its next use connects again. */
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
    const result = await servers.withTarget(key, (target) => signIn.logout(name, target, { profile }));
    await servers.disconnectAccount(key);
    return result;
  }

  /** The stored login for a server. Never prompts. */
  async account(name: string, options: AccountChoice = {}): Promise<Account | undefined> {
    const { servers, signIn } = this.engine;
    const key = servers.key(name, { account: options.profile });
    const profile = servers.chosenAccount(key);
    return servers.withTarget(key, (target) => signIn.stored(name, target, { profile }));
  }

  /** The open questions of all callers. */
  questions(): OpenQuestion[] {
    return this.engine.questions.list();
  }

  /** Answers an open question in place of the person who was asked. */
  answer(id: string, answer: unknown): void {
    this.engine.questions.answer(id, answer);
  }

  /** The calls that wait for approval, and the answers that allow later calls without a question. For the hub's owner only. */
  get approvals(): Approvals {
    const { approvals, queue, servers } = this.engine;
    return new Approvals(approvals, queue, () => servers.config);
  }

  /** The running calls, and the last thousand that ended. */
  calls(): CallRecord[] {
    return this.engine.log.list();
  }

  /** Cancels a running call and notifies its server. */
  cancel(call: string): void {
    this.engine.log.cancel(call);
  }

  /** Reads the lists of one server, or of all, again. With `kinds`, only these lists. */
  async refresh(
    name?: string,
    { profile, caller, project, signal, kinds = allLists }: UseChoice & { kinds?: readonly ListKind[] } = {},
  ): Promise<void> {
    const { catalog, servers, root } = this.engine;
    const use = { caller, account: profile, project };
    const names = name === undefined ? catalog.serverNames(root) : [name];
    const refreshed = names.map((server) => catalog.refresh(servers.key(server, use), kinds, signal));
    if (name !== undefined) await refreshed[0];
    const results = await Promise.allSettled(refreshed);
    const cancelled = results.find(
      (result) => result.status === "rejected" && isPlugboardError(result.reason, "call-cancelled"),
    );
    if (cancelled?.status === "rejected") throw cancelled.reason;
  }

  /**
   * Applies a new configuration. Unchanged servers and their calls are not affected. One in which rules of the user are
   * missing is refused, and the old one stays.
   */
  async reload(config: LoadedConfig | ConfigLiteral | FileLiteral): Promise<void> {
    if (!("projectRoot" in config)) {
      // Without a policy the new configuration applies at once, before anything else can happen.
      const reading = policyIn(this.#managed);
      const policy = reading ? await reading : noPolicy;
      const { loaded, inProcess } = fromLiteral<InProcessServer>(config, this.engine.env, policy);
      assertNoMistakes(loaded);
      return this.#take(loaded, inProcess);
    }
    if (!this.#allowsLostRules) assertNoLostRule(config);
    // An in-process server belongs to its own entry, not to a different entry with the same name.
    const { inProcess, servers } = this.engine;
    const kept = [...inProcess].filter(([name]) => servers.isLoaded(name, config));
    return this.#take(config, new Map(kept));
  }

  /** Adds a server, or replaces the one of that name. It is not written to any file. Throws `config-invalid`. */
  async add(name: string, config: LiteralServer): Promise<void> {
    // The policy may have changed since the configuration was loaded. Without one, the server is there at once.
    const reading = policyIn(this.#managed);
    const policies = [...(reading ? [await reading] : []), this.config.policy];
    const { loaded, inProcess } = fromLiteral<InProcessServer>(
      { mcpServers: { [name]: config } },
      this.engine.env,
      policies[0] ?? noPolicy,
    );
    assertNoMistakes(loaded);
    const entry = loaded.servers.get(name);
    if (!entry) throw new PlugboardError("config-invalid", `"${name}" cannot be the name of a server.`);
    const { env } = this.engine;
    for (const policy of policies) assertAllowed(policy, { entry, env, isInProcess: inProcess.has(name) });
    const others = [...this.engine.inProcess].filter(([other]) => other !== name);
    const servers = new Map([...this.config.servers, [name, entry]]);
    await this.#take({ ...this.config, servers }, new Map([...others, ...inProcess]));
  }

  /** Removes a server and ends its connections. It stays in the files that configure it. */
  async remove(name: string): Promise<void> {
    this.engine.servers.entry(name);
    const rest = [...this.config.servers].filter(([other]) => other !== name);
    await this.reload({ ...this.config, servers: new Map(rest) });
  }

  /** Switches a server off: its programs end, and nothing that it offers is listed or can be used. */
  async disable(name: string): Promise<void> {
    const { engine } = this;
    const left = engine.servers.disable(name, "switched off", "Switch it on with `hub.enable`.");
    engine.tellSwitched(name);
    await left;
  }

  /** Undoes `disable`. A server stays disabled if policy, missing trust or invalid config forbids it. */
  enable(name: string): void {
    const { engine } = this;
    engine.servers.enable(name);
    engine.tellSwitched(name);
  }

  /**
   * Asks legacy servers for log messages from this level on, now and whenever they connect. One that refuses is left as it
   * is; `undefined` asks no server any more. Resolves when those that are connected have answered.
   */
  async setLogLevel(level: LogLevel | undefined): Promise<void> {
    await this.engine.servers.announcements.setLogLevel(level);
  }

  /** Every event from this call on, until the hub closes. A slow reader loses the oldest beyond 10,000. */
  events(): AsyncIterableIterator<PlugboardEvent> {
    return this.engine.events.read();
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
    const lock = this.#lock === undefined ? undefined : await readLock(this.#lock);
    engine.inProcess = inProcess;
    // The new rules apply immediately, even while an old server is still shutting down.
    const applied = engine.servers.apply(withLock(loaded, lock), replaced);
    engine.subscriptions.endHidden();
    const { added, removed, changed, rules } = await applied;
    const touched = changed.map(({ name }) => name);
    if (rules || added.length + removed.length + touched.length > 0) {
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
}

function reportStartup(engine: Engine, results: { name: string; error: unknown }[]): void {
  const ready = results.filter(({ error }) => error === undefined).map(({ name }) => name);
  const failed = results.filter(({ error }) => error !== undefined).map(({ name }) => name);
  const asked = new Set(results.map(({ name }) => name));
  const skipped = engine.servers.names().filter((name) => !asked.has(name));
  engine.events.emit({ type: "startup-complete", ready, failed, skipped, at: engine.now() });
}

function normalizeConfig(
  config: LoadedConfig | ConfigLiteral | FileLiteral,
  env: Readonly<Record<string, string | undefined>>,
  policy: ManagedPolicy,
) {
  if ("projectRoot" in config) return { loaded: config, inProcess: new Map<string, InProcessServer>() };
  const literal = fromLiteral<InProcessServer>(config, env, policy);
  assertNoMistakes(literal.loaded);
  return literal;
}

function withLock(loaded: LoadedConfig, lock: LockFile | undefined): LoadedConfig {
  if (!lock) return loaded;
  const names = [...loaded.servers.keys()];
  return { ...loaded, pins: pinsIn(lock, names), lockFiles: new Map(names.map((name) => [name, lock.file])) };
}
