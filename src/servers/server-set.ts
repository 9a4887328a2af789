import { defaultProfile } from "../auth/oauth/record.ts";
import { PlugboardError } from "../errors.ts";
import type { PlugboardEvent } from "../events.ts";
import { diffConfig } from "../config/diff.ts";
import type { ConfigDiff } from "../config/diff.ts";
import type { LoadedConfig, ServerEntry } from "../config/model.ts";
import { Connection, isBroken } from "./connection.ts";
import type { KeptLogin } from "./connection.ts";
import { gone, unusable } from "./connection-errors.ts";
import { connectionKey, describeKey } from "./connection-key.ts";
import type { ConnectionKey, Use } from "./connection-key.ts";
import { Connections } from "./connections.ts";
import { createOpener, resolveInTime } from "./opener.ts";
import type { OpenerContext } from "./opener.ts";
import type { Capabilities } from "./rpc/envelope.ts";
import type { Listener } from "./rpc/inbound.ts";
import type { JsonRpcAnswer, RawAnswer } from "./rpc/messages.ts";
import type { SessionRequest } from "./session.ts";
import { reportServer } from "./server-report.ts";
import type { ServerReport } from "./server-report.ts";
import type { ConnectionState } from "./state.ts";
import type { HttpTarget, ServerAuth, Target } from "./target.ts";

export interface ServerSetSettings extends Omit<
  OpenerContext,
  "policy" | "authProvider" | "paramHeaders" | "capabilities"
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
  listener(key: ConnectionKey, use: () => Use | undefined): Listener;
  onConnected(key: ConnectionKey): void;
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
}

/** The configured servers: their entries, who gets which connection, and how that changes. */
export class ServerSet {
  readonly connections: Connections;
  readonly #settings: ServerSetSettings;
  readonly #members = new Map<string, Member>();
  /** Servers that were switched off in this run, and what to say about it. */
  readonly #disabled = new Map<string, Extract<ConnectionState, { name: "disabled" }>>();
  #config: LoadedConfig;
  #sandboxState: Record<string, unknown> | undefined;
  #isClosed = false;

  constructor(config: LoadedConfig, settings: ServerSetSettings) {
    this.#config = config;
    this.#settings = settings;
    this.connections = new Connections({
      create: (key, use) => this.#connect(key, use),
      isOwn: (key) => this.#members.get(key.server)?.own.text === key.text,
      idleStopMs: ({ server }) => this.#members.get(server)?.entry.config?.idleStopMs,
      idleMs: settings.idleMs,
      maxConnections: settings.maxConnections,
      onEnded: settings.onEnded,
      now: settings.now,
    });
    for (const entry of config.servers.values()) this.#join(entry);
  }

  get config(): LoadedConfig {
    return this.#config;
  }

  names(): string[] {
    return [...this.#members.keys()];
  }

  entry(name: string): ServerEntry {
    return this.#member(name).entry;
  }

  /** The connection that a use gets at a server. The only place that decides it. */
  key(name: string, { caller, account, project }: Use = {}): ConnectionKey {
    const member = this.#member(name);
    const { isolation } = member.entry.config ?? {};
    const isApart = isolation === "caller" || member.asksUntold;
    if ((!isApart || caller === undefined) && account === undefined && isolation !== "project")
      return member.own;
    return connectionKey({
      server: name,
      ...(isApart && caller !== undefined && { caller }),
      ...(isolation === "project" && { project: project ?? this.#config.projectRoot }),
      ...this.#account(member.entry, account),
    });
  }

  /** Sends a request over the connection of a key, or over one of its own where every call has one. */
  request(
    key: ConnectionKey,
    use: Use,
    method: string,
    params: Record<string, unknown>,
    options: SessionRequest,
  ): Promise<JsonRpcAnswer | RawAnswer> {
    if (this.#member(key.server).entry.config?.isolation !== "call")
      return this.connections.get(key, use).request(method, params, options);
    return this.connections.once(key, use, (connection) => connection.request(method, params, options));
  }

  /** The account that somebody chose, for this use or by the settings; undefined where the server's entry decides. */
  chosenAccount(key: ConnectionKey): string | undefined {
    const isOwn = key.account === this.#member(key.server).own.account;
    return isOwn ? this.#chosen(key.server) : key.account;
  }

  /** Where a server is, with every value filled in; what is switched off or not allowed has no such place. */
  async target(key: ConnectionKey, signal?: AbortSignal): Promise<Target> {
    const { entry } = this.#member(key.server);
    const state = this.#initialState(entry);
    if (state.name === "disabled") throw unusable(key.server, state);
    return (await resolveInTime(entry, this.#openerContext(key), signal)).target;
  }

  async disconnect(name: string): Promise<void> {
    this.#member(name);
    await Promise.all(this.#all(name).map((connection) => connection.disconnect()));
  }

  /** The same for the connections of one account only. */
  async disconnectAccount({ server, account }: ConnectionKey): Promise<void> {
    await Promise.all(this.#ofAccount(server, account).map((connection) => connection.disconnect()));
  }

  /** Lets every connection of an account use the login that is kept now. */
  async takeLogin({ server, account }: ConnectionKey): Promise<void> {
    await Promise.all(this.#ofAccount(server, account).map((connection) => connection.takeLogin()));
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
    const state = { name: "disabled", reason: "config", message, hint } as const;
    this.#disabled.set(name, state);
    const signal = { ...state, type: "disable" } as const;
    await Promise.all(this.#all(name).map((connection) => connection.disable(signal)));
  }

  enable(name: string): void {
    const { entry, own } = this.#member(name);
    this.#disabled.delete(name);
    for (const connection of this.#all(name)) connection.enable();
    if (this.isEager(entry) && this.connections.get(own).state.name === "idle")
      this.connections
        .get(own)
        .ready()
        .catch(() => undefined);
  }

  /** How the connection of a use is at every server; looking connects nothing. */
  reports(use: Use = {}): ServerReport[] {
    return [...this.#members.values()].map(({ entry }) => {
      const key = this.key(entry.name, use);
      return reportServer(entry, key, this.connections.peek(key), this.#initialState(entry));
    });
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
    const diff = diffConfig(this.#config, config);
    const known = new Set([...diff.added, ...diff.changed.map(({ name }) => name)]);
    const touch = (name: string, field: string) => {
      if (!known.has(name)) diff.changed.push({ name, fields: [field] });
      known.add(name);
    };
    for (const name of replaced) touch(name, "server");
    for (const name of config.servers.keys())
      if (this.#chosen(name, config) !== this.#chosen(name)) touch(name, "profile");
    this.#config = config;
    // A switch outlives a changed entry, not a removed one.
    for (const name of diff.removed) this.#disabled.delete(name);
    const touched = [...diff.removed, ...diff.changed.map(({ name }) => name)];
    const leaving = touched.map((name) => this.#part(name));
    for (const entry of config.servers.values()) {
      const member = this.#members.get(entry.name);
      if (member) member.entry = entry;
      else this.#join(entry);
    }
    await Promise.all(leaving);
    return diff;
  }

  setSandboxState(state: Record<string, unknown>): Promise<unknown> {
    this.#sandboxState = state;
    return Promise.all(this.connections.of().map(([, connection]) => this.#tellSandboxState(connection)));
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#members.clear();
    await this.connections.close();
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

  /** What runs on this machine has no accounts. */
  #account({ name, config }: ServerEntry, asked: string | undefined): { account?: string } {
    if (asked === "") throw new PlugboardError("usage-invalid", "A profile needs a name.", { server: name });
    if (config?.url === undefined) return {};
    return { account: asked ?? this.#chosen(name) ?? config.oauth?.profile ?? defaultProfile };
  }

  /** The account that was chosen for everything, or by the settings for this server. */
  #chosen(name: string, { servers, settings } = this.#config): string | undefined {
    if (servers.get(name)?.config?.url === undefined) return undefined;
    const { profiles = {} } = settings;
    return this.#settings.account ?? (Object.hasOwn(profiles, name) ? profiles[name] : undefined);
  }

  #initialState(entry: ServerEntry): ConnectionState {
    const { status, name } = entry;
    if (status.kind === "ready") return this.#disabled.get(name) ?? { name: "idle" };
    const { reason, message, hint } = status;
    return { name: "disabled", reason, message, hint };
  }

  #openerContext(key: ConnectionKey, use?: Use): OpenerContext {
    const { paramHeaders, capabilities } = this.#settings;
    return {
      ...this.#settings,
      capabilities: () => capabilities(key, use),
      policy: this.#config.policy,
      project: key.project,
      authProvider: undefined,
      paramHeaders: (_, params) => paramHeaders?.(key, params) ?? {},
    };
  }

  #connect(key: ConnectionKey, use: Use | undefined): Connection {
    const { now, random, emit, listener, onConnected, authProvider } = this.#settings;
    const member = this.#member(key.server);
    const { entry, own } = member;
    const account = this.chosenAccount(key);
    let login: KeptLogin | undefined;
    const connection: Connection = new Connection({
      name: key.server,
      about: describeKey(key),
      eager: key.text === own.text && this.isEager(entry),
      initial: this.#initialState(entry),
      now,
      random,
      emit,
      onConnected: () => {
        void this.#tellSandboxState(connection);
        onConnected(key);
      },
      open: createOpener(entry, {
        ...this.#openerContext(key, use),
        authProvider: (server, target) => (login = authProvider?.(server, target, account)),
      }),
      login: () => login,
      listener: listener(key, () => connection.use),
      onUntold: () => {
        member.asksUntold = true;
      },
    });
    return connection;
  }

  /** Only servers that declared the capability are told; whether they listen is their business. */
  async #tellSandboxState({ session }: Connection): Promise<void> {
    const experimental = session?.greeting.capabilities["experimental"] as
      | Record<string, unknown>
      | undefined;
    if (!session || !this.#sandboxState || !experimental?.["codex/sandbox-state"]) return;
    await session.notify("codex/sandbox-state/update", this.#sandboxState).catch(() => undefined);
  }
}
