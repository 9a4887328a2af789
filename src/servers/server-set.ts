import { PlugboardError } from "../errors.ts";
import type { PlugboardEvent } from "../events.ts";
import { canonicalJson } from "../lib/canonical.ts";
import { diffConfig } from "../config/diff.ts";
import { hasReferences, identityOf, referenceKinds } from "../config/expand.ts";
import type { ConfigDiff } from "../config/diff.ts";
import type { LoadedConfig, ServerEntry } from "../config/model.ts";
import { isRecord } from "../lib/record.ts";
import { accountOf, chosenAccount } from "./account-of.ts";
import { Announcements } from "./announcements.ts";
import { Connection, isBroken } from "./connection.ts";
import type { KeptLogin } from "./connection-settings.ts";
import { gone, unusable } from "./connection-errors.ts";
import { connectionKey, describeKey } from "./connection-key.ts";
import type { ConnectionKey, Use } from "./connection-key.ts";
import { Connections } from "./connections.ts";
import { createOpener, resolveInTime } from "./opener.ts";
import { Redaction } from "./redaction.ts";
import type { OpenerContext } from "./opener.ts";
import type { Capabilities } from "./rpc/envelope.ts";
import type { Otherwise } from "./rpc/inbound.ts";
import { Route } from "./route.ts";
import type { RouteSettings } from "./route.ts";
import { entryFingerprint, serverFingerprint } from "./server-memory.ts";
import type { Introduction } from "./server-memory.ts";
import type { LastFailures } from "./last-failures.ts";
import { reportServer } from "./server-report.ts";
import type { ServerReport } from "./server-report.ts";
import type { ConnectionState } from "./state.ts";
import { takesSandboxState } from "./sandbox-state.ts";
import { Switches } from "./switches.ts";
import type { TargetIdentity } from "./target-identity.ts";
import type { HttpTarget, ServerAuth, Target } from "./target.ts";

export interface ServerSetSettings extends Omit<
  OpenerContext,
  "policy" | "projectRoot" | "authProvider" | "paramHeaders" | "capabilities" | "isShared" | "keepWarmMs"
> {
  /** What a server is told that we can do; `use` is whoever the connection was made for. */
  capabilities(key: ConnectionKey, use: Use | undefined): Capabilities;
  /** Start everything at once and keep it up, whatever `lazy` says by default. */
  eager: boolean;
  /** The account that is used by default, instead of the configured ones. */
  account?: string | undefined;
  /** After how long without use the connections of single callers, projects and accounts end. */
  idleMs: number;
  maxConnections: number;
  failures: LastFailures;
  now(): number;
  random(): number;
  emit(event: PlugboardEvent): void;
  /** `account` is one that was chosen, instead of the one that the server's own entry names. */
  authProvider?:
    | ((
        server: string,
        target: HttpTarget,
        account: string | undefined,
      ) => (ServerAuth & KeptLogin) | undefined)
    | undefined;
  paramHeaders?:
    | ((key: ConnectionKey, params: Record<string, unknown>) => Record<string, string>)
    | undefined;
  /** What a connection hears and is asked while no request is under way. */
  listener(key: ConnectionKey, use: () => Use | undefined, owner: string | undefined): Otherwise;
  onConnected(key: ConnectionKey): void;
  /** What the server said by itself may not have arrived. */
  onMissed(key: ConnectionKey): void;
  /** A connection has been ended for want of use. */
  onEnded(key: ConnectionKey): void;
  /** A server is gone or has become another one; its connections are about to end. */
  onParted(name: string): void;
}

interface Member {
  entry: ServerEntry;
  /** The key of those who share. */
  own: ConnectionKey;
  /** A question could not be tied to its request, so from then on callers do not share. */
  asksUntold: boolean;
  /** Whether it wants to know the sandbox state, so that callers with one of their own do not share; unknown at first. */
  takesSandboxState?: boolean;
}

/** The configured servers: their entries, who gets which connection, and how that changes. */
export class ServerSet {
  readonly connections: Connections;
  readonly announcements = new Announcements(() => this.connections.of().map(([, connection]) => connection));
  readonly #settings: ServerSetSettings;
  readonly #members = new Map<string, Member>();
  readonly #switches = new Switches();
  #loaded: LoadedConfig;
  /** What was loaded, with the servers that were switched off since. */
  #config: LoadedConfig;
  #isClosed = false;
  #sessions = 0;
  readonly #routes: RouteSettings;

  constructor(config: LoadedConfig, settings: ServerSetSettings) {
    this.#loaded = config;
    this.#config = config;
    this.#settings = settings;
    this.connections = new Connections({
      create: (key, use, isOnce) => this.#connect(key, use, isOnce),
      isOwn: (key) => this.#members.get(key.server)?.own.text === key.text,
      idleStopMs: ({ server }) => this.#members.get(server)?.entry.config?.idleStopMs,
      idleMs: settings.idleMs,
      maxConnections: settings.maxConnections,
      onEnded: settings.onEnded,
      now: settings.now,
    });
    this.#routes = {
      connections: this.connections,
      identify: (key, signal) => this.identify(key, signal),
    };
    for (const entry of config.servers.values()) this.#join(entry);
  }

  get config(): LoadedConfig {
    return this.#config;
  }

  /** Whether an entry of a configuration is the one that was loaded, switched off or not. */
  isLoaded(name: string, config: LoadedConfig): boolean {
    return this.#switches.undo(config).servers.get(name) === this.#loaded.servers.get(name);
  }

  names(): string[] {
    return [...this.#members.keys()];
  }

  entry(name: string): ServerEntry {
    return this.#member(name).entry;
  }

  /** The connection that a use gets at a server. */
  key(name: string, use: Use = {}): ConnectionKey {
    return this.#keyOf(this.#member(name), use);
  }

  /** The only place that decides it. */
  #keyOf(member: Member, { caller, account, project, headers }: Use, isShared = false): ConnectionKey {
    const { name } = member.entry;
    const { isolation, url } = member.entry.config ?? {};
    const own = url === undefined ? undefined : headers?.get(name);
    const wasParted =
      member.asksUntold ||
      (member.takesSandboxState === true &&
        isolation !== "call" &&
        caller !== undefined &&
        this.announcements.hasOwnState(caller, name));
    const isApart = own !== undefined || isolation === "caller" || (wasParted && !isShared);
    if (
      own === undefined &&
      (!isApart || caller === undefined) &&
      account === undefined &&
      isolation !== "project"
    )
      return member.own;
    return connectionKey({
      server: name,
      ...(isApart && caller !== undefined && { caller }),
      ...(isolation === "project" && { project: project ?? this.#config.projectRoot }),
      ...(own && { headers: own }),
      ...this.#account(member.entry, account),
    });
  }

  /**
   * For callers with a sandbox state of their own: resolves when it is known whether the server wants it, and so which
   * connection they get. Undefined for everybody else.
   */
  #undecided(
    name: string,
    { caller, headers }: Use,
    signal: () => AbortSignal | undefined,
  ): Promise<unknown> | undefined {
    if (caller === undefined || headers?.has(name) || !this.announcements.hasOwnState(caller, name))
      return undefined;
    const { own, entry, takesSandboxState: isKnown } = this.#member(name);
    const { isolation } = entry.config ?? {};
    if (isKnown !== undefined || isolation === "caller" || isolation === "call") return undefined;
    // What fails here fails again, where it is handled.
    return this.connections
      .get(own)
      .ready(signal())
      .catch(() => undefined);
  }

  /**
   * Where a use goes at a server. Everything that a call needs to know of its server is in it. `isShared` is the
   * connection that it had before something in this run gave its caller one of its own.
   */
  route(name: string, use: Use = {}, isShared = false): Route {
    const member = this.#member(name);
    return new Route(member.entry, this.#config, this.#keyOf(member, use, isShared), use, this.#routes);
  }

  /** The same, as soon as it is known which connection the use gets; mostly that is known at once. */
  routed(name: string, use: Use, signal: () => AbortSignal | undefined): Route | Promise<Route> {
    return this.#undecided(name, use, signal)?.then(() => this.route(name, use)) ?? this.route(name, use);
  }

  /** The account that somebody chose, for this use or by the settings; undefined where the server's entry decides. */
  chosenAccount(key: ConnectionKey): string | undefined {
    const isOwn = key.account === this.#member(key.server).own.account;
    return isOwn ? this.#chosen(key.server) : key.account;
  }

  /** Where a server is, with every value filled in; what is switched off or not allowed has no such place. */
  async target(key: ConnectionKey, signal?: AbortSignal): Promise<Target> {
    return (await this.#resolve(key, signal)).target;
  }

  /** What runs or is contacted over the connection of a key: now, or when it connects. */
  async identify(key: ConnectionKey, signal?: AbortSignal): Promise<TargetIdentity> {
    const { config = {} } = this.#member(key.server).entry;
    const { session } = this.connections.peek(key) ?? {};
    if (session) return session.identity;
    // A command may print something else each time, so what it printed for the connection counts.
    if (config.isolation !== "call" && referenceKinds(config).has("cmd"))
      return (await this.connections.get(key).ready(signal)).identity;
    return (await this.#resolve(key, signal)).identity;
  }

  /** Runs `work` with that place. Its errors do not repeat what is secret about the server. */
  async withTarget<T>(key: ConnectionKey, work: (target: Target) => Promise<T>): Promise<T> {
    const { target, sensitive } = await this.#resolve(key);
    try {
      return await work(target);
    } catch (error) {
      throw new Redaction(sensitive).error(error);
    }
  }

  async #resolve(key: ConnectionKey, signal?: AbortSignal) {
    const { entry } = this.#member(key.server);
    const state = this.#initialState(entry);
    if (state.name === "disabled") throw unusable(key.server, state);
    return resolveInTime(entry, this.#openerContext(key), signal);
  }

  async disconnect(name: string): Promise<void> {
    this.#member(name);
    await Promise.all(this.#all(name).map((connection) => connection.disconnect()));
  }

  /** The same for the connections of one account only. */
  async disconnectAccount({ server, account }: ConnectionKey): Promise<void> {
    await Promise.all(this.#ofAccount(server, account).map((connection) => connection.disconnect()));
  }

  /** Uses another login: what is kept up by itself connects again, the rest with its next use. */
  async reconnectAccount(key: ConnectionKey): Promise<void> {
    this.#forgetFailure(key);
    await this.disconnectAccount(key);
    for (const connection of this.#ofAccount(key.server, key.account)) connection.resume();
  }

  /** Lets every connection of an account use the login that is kept now. */
  async takeLogin(key: ConnectionKey): Promise<void> {
    const { server, account } = key;
    this.#forgetFailure(key);
    await Promise.all(this.#ofAccount(server, account).map((connection) => connection.takeLogin()));
  }

  /** What failed with another login says nothing about this one. */
  #forgetFailure(key: ConnectionKey): void {
    this.#settings.failures.forget(this.entry(key.server), key);
  }

  /** Forgets failures and tries anew: everything, or only what failed. */
  async reconnect(name: string, failedOnly: boolean): Promise<void> {
    const { own } = this.#member(name);
    const chosen = this.connections
      .of(name)
      .filter(([, { state }]) => !failedOnly || isBroken(state))
      .map(([key, connection]) => (key.text === own.text ? connection.reconnect() : connection.disconnect()));
    const isUnused = !failedOnly && !this.connections.peek(own);
    await Promise.allSettled([...chosen, ...(isUnused ? [this.connections.get(own).reconnect()] : [])]);
  }

  async disable(name: string, message: string, hint: string): Promise<void> {
    this.#member(name);
    this.#switches.switchOff(name, message, hint);
    this.#use(this.#loaded);
    this.#joinAll();
    const signal = { type: "disable", reason: "off", message, hint } as const;
    await Promise.all(this.#all(name).map((connection) => connection.disable(signal)));
  }

  enable(name: string): void {
    const { own } = this.#member(name);
    this.#switches.switchOn(name);
    this.#use(this.#loaded);
    this.#joinAll();
    const { entry } = this.#member(name);
    if (this.isEager(entry)) this.connections.get(own);
    for (const connection of this.#all(name)) {
      connection.enable();
      connection.resume();
    }
  }

  /** How the connection of a use is at every server; looking connects nothing. */
  reports(use: Use = {}): ServerReport[] {
    return [...this.#members.values()].map(({ entry }) => {
      const key = this.key(entry.name, use);
      return reportServer(entry, key, this.connections.peek(key), this.#initialState(entry));
    });
  }

  /**
   * What the usable servers say about themselves: over the shared connection, or remembered from an earlier one. Servers
   * that keep callers apart may say to each something of its own, so nothing of theirs is told to all.
   */
  async introductions(): Promise<Map<string, Introduction>> {
    const { memory, inProcess } = this.#settings;
    const usable = [...this.#members.values()].filter(
      ({ entry }) => entry.status.kind === "ready" && entry.config?.isolation !== "caller",
    );
    const found = await Promise.all(
      usable.map(async ({ entry, own }) => {
        const greeting = this.connections.peek(own)?.session?.greeting;
        if (greeting) return [entry.name, greeting] as const;
        const written = inProcess?.(entry.name) ? undefined : entry.written;
        const { introduction } = await memory.recall(serverFingerprint({ ...entry, written }));
        if (introduction?.entry !== entryFingerprint(entry)) return undefined;
        const { entry: _entry, ...said } = introduction;
        return [entry.name, said] as const;
      }),
    );
    return new Map<string, Introduction>(found.filter((one) => one !== undefined));
  }

  /** The servers that are started without being asked for. */
  eagerNames(): string[] {
    return [...this.#members.values()]
      .filter(({ entry }) => entry.status.kind === "ready" && this.isEager(entry))
      .map(({ entry }) => entry.name);
  }

  isEager({ config }: ServerEntry): boolean {
    return (
      config?.required === true || config?.lazy === false || (this.#settings.eager && config?.lazy !== true)
    );
  }

  /** Takes a new configuration into use and touches only what is different, or is said to be. */
  async apply(config: LoadedConfig, replaced: readonly string[] = []): Promise<ConfigDiff> {
    if (this.#isClosed) throw new PlugboardError("connection-lost", "The hub is closed.", { executed: "no" });
    const loaded = this.#switches.undo(config);
    const diff = diffConfig(this.#loaded, loaded);
    const known = new Set([...diff.added, ...diff.changed.map(({ name }) => name)]);
    const touch = (name: string, field: string) => {
      if (!known.has(name)) diff.changed.push({ name, fields: [field] });
      known.add(name);
    };
    for (const name of replaced) touch(name, "server");
    for (const name of config.servers.keys())
      if (this.#chosen(name, config) !== this.#chosen(name)) touch(name, "profile");
    // What a server is comes out only when its values are filled in, so it starts anew and is judged by the new rules.
    if (canonicalJson(config.policy) !== canonicalJson(this.#config.policy))
      for (const { name, config: one } of config.servers.values())
        if (one && hasReferences(identityOf(one))) touch(name, "policy");
    // A switch outlives a changed entry, not a removed one.
    for (const name of diff.removed) this.#switches.switchOn(name);
    const touched = [...diff.removed, ...diff.changed.map(({ name }) => name)];
    this.#use(loaded);
    const leaving = touched.map((name) => this.#part(name));
    this.#joinAll();
    await Promise.all(leaving);
    return diff;
  }

  /** Tells legacy servers that the roots changed, if they were told that they will hear of it. Modern ones ask. */
  async tellRootsChanged(isMeant: (key: ConnectionKey) => boolean): Promise<void> {
    const told = this.connections.of().map(async ([key, { session }]) => {
      const roots = session?.capabilities["roots"];
      if (!session || !isMeant(key) || session.greeting.era !== "legacy") return;
      if (isRecord(roots) && roots["listChanged"] === true)
        await session.notify("notifications/roots/list_changed", {}).catch(() => undefined);
    });
    await Promise.all(told);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#members.clear();
    await this.connections.close();
    await this.#settings.failures.close();
  }

  #use(loaded: LoadedConfig): void {
    this.#loaded = loaded;
    this.#config = this.#switches.applyTo(loaded);
  }

  #joinAll(): void {
    for (const entry of this.#config.servers.values()) {
      const member = this.#members.get(entry.name);
      if (member) member.entry = entry;
      else this.#join(entry);
    }
  }

  #member(name: string): Member {
    const member = this.#members.get(name);
    if (member) return member;
    if (this.#isClosed) throw gone(name);
    throw new PlugboardError("server-unknown", `There is no server "${name}".`, {
      server: name,
      data: { known: this.names().slice(0, 50) },
    });
  }

  #all(name: string): Connection[] {
    return this.connections.of(name).map(([, connection]) => connection);
  }

  #ofAccount(server: string, account: string | undefined): Connection[] {
    const theirs = this.connections.of(server).filter(([key]) => key.account === account);
    return theirs.map(([, connection]) => connection);
  }

  #join(entry: ServerEntry): void {
    const own = connectionKey({ server: entry.name, ...this.#account(entry, undefined) });
    this.#members.set(entry.name, { entry, own, asksUntold: false });
  }

  async #part(name: string): Promise<void> {
    this.#members.delete(name);
    this.#settings.onParted(name);
    await this.connections.remove(name);
  }

  #account(entry: ServerEntry, asked: string | undefined): { account?: string } {
    return accountOf(entry, asked, this.#chosen(entry.name));
  }

  #chosen(name: string, config: LoadedConfig = this.#config): string | undefined {
    return chosenAccount(name, config, this.#settings.account);
  }

  #initialState(entry: ServerEntry): ConnectionState {
    const { status } = entry;
    if (status.kind === "ready") return { name: "ready" };
    const { reason, message, hint } = status;
    return { name: "disabled", reason, message, hint };
  }

  #openerContext(key: ConnectionKey, use?: Use): OpenerContext {
    const { paramHeaders, capabilities } = this.#settings;
    return {
      ...this.#settings,
      capabilities: () => capabilities(key, use),
      policy: () => this.#config.policy,
      keepWarmMs: ({ config }) => config?.keepWarm ?? this.#config.settings.keepWarm ?? 0,
      projectRoot: this.#config.projectRoot,
      project: key.project,
      ownHeaders: key.headers,
      isShared: key.text === this.#member(key.server).own.text,
      authProvider: undefined,
      paramHeaders: (_, params) => paramHeaders?.(key, params) ?? {},
    };
  }

  #connect(key: ConnectionKey, use: Use | undefined, isOnce = false): Connection {
    const { now, random, emit, listener, onConnected, onMissed, authProvider, failures } = this.#settings;
    const member = this.#member(key.server);
    const { entry, own } = member;
    const account = this.chosenAccount(key);
    const caller = key.caller ?? (isOnce ? use?.caller : undefined);
    let login: KeptLogin | undefined;
    const connection: Connection = new Connection({
      name: key.server,
      caller,
      about: describeKey(key),
      eager: key.text === own.text && this.isEager(entry),
      initial: this.#initialState(entry),
      now,
      random,
      emit,
      onConnected: () => {
        const { capabilities = {} } = connection.session?.greeting ?? {};
        member.takesSandboxState = takesSandboxState(capabilities);
        this.announcements.connected(connection);
        onConnected(key);
      },
      onWorking: () => failures.forget(entry, key),
      onFailed: (error, lists) => failures.remember(entry, key, error, { at: now(), lists }),
      nextSession: () => ++this.#sessions,
      onMissed: () => onMissed(key),
      open: createOpener(entry, {
        ...this.#openerContext(key, use),
        authProvider: (server, target) => (login = authProvider?.(server, target, account)),
      }),
      login: () => login,
      listener: listener(key, () => connection.use, caller),
      onUntold: () => {
        member.asksUntold = true;
      },
      asksUntold: () => member.asksUntold,
    });
    return connection;
  }
}
