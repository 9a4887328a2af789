import { defaultProfile } from "../auth/oauth/record.ts";
import { PlugboardError } from "../errors.ts";
import type { PlugboardEvent } from "../events.ts";
import { diffConfig } from "../config/diff.ts";
import type { ConfigDiff } from "../config/diff.ts";
import type { LoadedConfig, ServerEntry } from "../config/model.ts";
import { Connection, isBroken } from "./connection.ts";
import type { KeptLogin } from "./connection.ts";
import { gone, unusable } from "./connection-errors.ts";
import { createOpener, resolveInTime } from "./opener.ts";
import type { OpenerContext } from "./opener.ts";
import { reportServer } from "./server-report.ts";
import type { ServerReport } from "./server-report.ts";
import type { ConnectionState } from "./state.ts";
import type { HttpTarget, ServerAuth, Target } from "./target.ts";

/** On whose behalf a server is used. */
export interface User {
  /** Matters for servers with `isolation: caller`. */
  caller?: string | undefined;
  /** The account, instead of the configured one. Servers that run on this machine have none. */
  profile?: string | undefined;
}

export interface ServerSetSettings extends Omit<OpenerContext, "policy" | "authProvider" | "paramHeaders"> {
  /** Start everything at once and keep it up, whatever `lazy` says by default. */
  eager: boolean;
  now(): number;
  random(): number;
  emit(event: PlugboardEvent): void;
  /** `profile` as `chosenProfile` says it. */
  authProvider?:
    | ((
        server: string,
        target: HttpTarget,
        profile: string | undefined,
      ) => (ServerAuth & KeptLogin) | undefined)
    | undefined;
  /** `other` is the account of a connection that is not the server's own. */
  paramHeaders?:
    | ((server: string, params: Record<string, unknown>, other: string | undefined) => Record<string, string>)
    | undefined;
  onNotification?:
    | ((server: string, method: string, params: Record<string, unknown>, other: string | undefined) => void)
    | undefined;
  onQuestion?:
    | ((
        server: string,
        method: string,
        params: Record<string, unknown>,
        signal: AbortSignal,
      ) => Promise<Record<string, unknown>>)
    | undefined;
}

interface Member {
  entry: ServerEntry;
  connection: Connection;
  /** One more connection for each caller that must not share, and for each other account. */
  beside: Map<string, Branch>;
  /** And one for each call under way that must not. */
  passing: Set<Branch>;
}

interface Branch {
  connection: Connection;
  /** Its account, where that is not the one of the server's own connection. */
  other: string | undefined;
}

/** All servers of a hub and their connections: one shared by everybody, or one for each caller or account. */
export class ServerSet {
  readonly #settings: ServerSetSettings;
  readonly #members = new Map<string, Member>();
  #config: LoadedConfig;
  #sandboxState: Record<string, unknown> | undefined;
  #isClosed = false;

  constructor(config: LoadedConfig, settings: ServerSetSettings) {
    this.#config = config;
    this.#settings = settings;
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

  /** Where a server is, with every value filled in; what is switched off or not allowed has no such place. */
  async target(name: string, signal?: AbortSignal): Promise<Target> {
    const { entry, connection } = this.#member(name);
    if (connection.state.name === "disabled") throw unusable(name, connection.state);
    const context = { ...this.#settings, policy: this.#config.policy };
    return (await resolveInTime(entry, context, signal)).target;
  }

  /** The account that was chosen, for this use or by the settings; absent where the server's own entry decides. */
  chosenProfile(name: string, profile?: string): string | undefined {
    return this.otherProfile(name, profile) ?? chosenIn(this.#config, name);
  }

  /** The account, when it is another one than the server's own connection has. */
  otherProfile(name: string, profile: string | undefined): string | undefined {
    if (profile === undefined) return undefined;
    if (profile === "")
      throw new PlugboardError("usage-invalid", "A profile needs a name.", { server: name });
    const { url } = this.#member(name).entry.config ?? {};
    return url === undefined || profile === this.profile(name) ? undefined : profile;
  }

  /** The account of the server's own connection. */
  profile(name: string): string {
    const { oauth } = this.#member(name).entry.config ?? {};
    return this.chosenProfile(name) ?? oauth?.profile ?? defaultProfile;
  }

  /** The lasting connection of a user: the one that is reported and listed, the server's own unless it must not be. */
  connection(name: string, { caller, profile }: User = {}): Connection {
    const member = this.#member(name);
    const own = member.entry.config?.isolation === "caller" ? caller : undefined;
    const other = this.otherProfile(name, profile);
    if (own === undefined && other === undefined) return member.connection;
    const key = JSON.stringify([own, other]);
    const known = member.beside.get(key);
    if (known) return known.connection;
    const branch = this.#branch(member, other);
    member.beside.set(key, branch);
    return branch.connection;
  }

  /** Does something over the connection that a user is to have. */
  use<T>(name: string, user: User, work: (connection: Connection) => Promise<T>): Promise<T> {
    const member = this.#member(name);
    return member.entry.config?.isolation === "call"
      ? this.#useOnce(member, this.otherProfile(name, user.profile), work)
      : work(this.connection(name, user));
  }

  async disconnect(name: string): Promise<void> {
    await Promise.all(connectionsOf(this.#member(name)).map((connection) => connection.disconnect()));
  }

  /** The same for the connections of one account only. */
  async disconnectAccount(name: string, profile: string | undefined): Promise<void> {
    await Promise.all(this.#connectionsAs(name, profile).map((connection) => connection.disconnect()));
  }

  /** Lets every connection of an account use the login that is kept now. */
  async takeLogin(name: string, profile: string | undefined): Promise<void> {
    await Promise.all(this.#connectionsAs(name, profile).map((connection) => connection.takeLogin()));
  }

  /** Forgets failures and tries anew: everything, or only what failed. */
  async reconnect(name: string, failedOnly: boolean): Promise<void> {
    const member = this.#member(name);
    const chosen = connectionsOf(member).filter(({ state }) => !failedOnly || isBroken(state));
    const work = chosen.map((one) => (one === member.connection ? one.reconnect() : one.disconnect()));
    await Promise.allSettled(work);
  }

  async disable(name: string, message: string, hint: string): Promise<void> {
    const signal = { type: "disable", reason: "config", message, hint } as const;
    await Promise.all(connectionsOf(this.#member(name)).map((connection) => connection.disable(signal)));
  }

  enable(name: string): void {
    const member = this.#member(name);
    for (const connection of connectionsOf(member)) connection.enable();
    if (member.connection.state.name === "idle" && this.#isEager(member.entry))
      member.connection.ready().catch(() => undefined);
  }

  reports(user: User = {}): ServerReport[] {
    return [...this.#members.values()].map(({ entry }) =>
      reportServer(entry, this.connection(entry.name, user)),
    );
  }

  /** The servers that are started without being asked for. */
  eagerNames(): string[] {
    return [...this.#members.values()]
      .filter(({ entry }) => entry.status.kind === "ready" && this.#isEager(entry))
      .map(({ entry }) => entry.name);
  }

  /** Takes a new configuration into use and touches only what is different, or is said to be. */
  async apply(config: LoadedConfig, replaced: readonly string[] = []): Promise<ConfigDiff> {
    if (this.#isClosed) throw new PlugboardError("connection-lost", "The hub is closed.");
    const diff = diffConfig(this.#config, config);
    const known = new Set([...diff.added, ...diff.changed.map(({ name }) => name)]);
    const touch = (name: string, field: string) => {
      if (!known.has(name)) diff.changed.push({ name, fields: [field] });
      known.add(name);
    };
    for (const name of replaced) touch(name, "server");
    for (const name of config.servers.keys())
      if (chosenIn(config, name) !== this.chosenProfile(name)) touch(name, "profile");
    this.#config = config;
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
    const all = [...this.#members.values()].flatMap(connectionsOf);
    return Promise.all(all.map((connection) => this.#tellSandboxState(connection)));
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all(this.names().map((name) => this.#part(name)));
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

  #connectionsAs(name: string, profile: string | undefined): Connection[] {
    const other = this.otherProfile(name, profile);
    const theirs = branchesOf(this.#member(name)).filter((branch) => branch.other === other);
    return theirs.map(({ connection }) => connection);
  }

  #join(entry: ServerEntry): void {
    this.#members.set(entry.name, {
      entry,
      connection: this.#connect(entry, this.#isEager(entry), initialState(entry), undefined),
      beside: new Map(),
      passing: new Set(),
    });
  }

  async #part(name: string): Promise<void> {
    const member = this.#members.get(name);
    this.#members.delete(name);
    if (member) await Promise.all(connectionsOf(member).map((connection) => connection.close()));
  }

  async #useOnce<T>(
    member: Member,
    other: string | undefined,
    work: (connection: Connection) => Promise<T>,
  ): Promise<T> {
    const branch = this.#branch(member, other);
    member.passing.add(branch);
    try {
      return await work(branch.connection);
    } finally {
      await branch.connection.close();
      member.passing.delete(branch);
    }
  }

  /** One more connection to the same server; what is switched off stays off. */
  #branch({ entry, connection: { state } }: Member, other: string | undefined): Branch {
    const initial = state.name === "disabled" ? state : initialState(entry);
    return { connection: this.#connect(entry, false, initial, other), other };
  }

  #isEager({ config }: ServerEntry): boolean {
    return (
      config?.required === true || config?.lazy === false || (this.#settings.eager && config?.lazy !== true)
    );
  }

  #connect(
    entry: ServerEntry,
    eager: boolean,
    initial: ConnectionState,
    other: string | undefined,
  ): Connection {
    const { now, random, onQuestion, onNotification, authProvider, paramHeaders } = this.#settings;
    const { name } = entry;
    const profile = other ?? chosenIn(this.#config, name);
    let login: KeptLogin | undefined;
    const connection: Connection = new Connection({
      name,
      eager,
      initial,
      now,
      random,
      emit: (event) => {
        this.#settings.emit(event);
        if (event.type === "connection-changed" && event.to === "connected" && event.from === "connecting")
          void this.#tellSandboxState(connection);
      },
      open: createOpener(entry, {
        ...this.#settings,
        policy: this.#config.policy,
        authProvider: (server, target) => {
          const auth = authProvider?.(server, target, profile);
          login = auth;
          return auth;
        },
        paramHeaders: (server, params) => paramHeaders?.(server, params, other) ?? {},
      }),
      login: () => login,
      ...(onNotification && {
        onNotification: (method, params) => onNotification(name, method, params, other),
      }),
      ...(onQuestion && { onQuestion: (method, params, signal) => onQuestion(name, method, params, signal) }),
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

function branchesOf({ connection, beside, passing }: Member): Branch[] {
  return [{ connection, other: undefined }, ...beside.values(), ...passing];
}

function connectionsOf(member: Member): Connection[] {
  return branchesOf(member).map(({ connection }) => connection);
}

/** What runs on this machine has no accounts. */
function chosenIn({ servers, settings }: LoadedConfig, name: string): string | undefined {
  const { profiles = {} } = settings;
  const isRemote = servers.get(name)?.config?.url !== undefined;
  return isRemote && Object.hasOwn(profiles, name) ? profiles[name] : undefined;
}

function initialState({ status }: ServerEntry): ConnectionState {
  if (status.kind === "ready") return { name: "idle" };
  const { reason, message, hint } = status;
  return { name: "disabled", reason, message, hint };
}
