import { PlugboardError } from "../errors.ts";
import type { PlugboardEvent } from "../events.ts";
import { diffConfig } from "../config/diff.ts";
import type { ConfigDiff } from "../config/diff.ts";
import type { LoadedConfig, ServerEntry } from "../config/model.ts";
import { Connection } from "./connection.ts";
import { gone, unusable } from "./connection-errors.ts";
import { createOpener, resolveTarget } from "./opener.ts";
import type { OpenerContext } from "./opener.ts";
import { reportServer } from "./server-report.ts";
import type { ServerReport } from "./server-report.ts";
import type { ConnectionState } from "./state.ts";
import type { Target } from "./target.ts";

export interface ServerSetSettings extends Omit<OpenerContext, "policy"> {
  /** Start everything at once and keep it up, whatever `lazy` says by default. */
  eager: boolean;
  now(): number;
  random(): number;
  emit(event: PlugboardEvent): void;
  hasNewLogin?: ((server: string) => Promise<boolean>) | undefined;
  onNotification?: ((server: string, method: string, params: Record<string, unknown>) => void) | undefined;
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
  /** One more connection for each caller that must not share. */
  callers: Map<string, Connection>;
  /** And one for each call under way that must not. */
  passing: Set<Connection>;
}

/** All servers of a hub and their connections: one shared by everybody, or one for each caller where asked. */
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
  async target(name: string): Promise<Target> {
    const { entry, connection } = this.#member(name);
    if (connection.state.name === "disabled") throw unusable(name, connection.state);
    return (await resolveTarget(entry, { ...this.#settings, policy: this.#config.policy })).target;
  }

  /** The server's own connection: the one that is reported and listed, and shared unless that must not be. */
  connection(name: string): Connection {
    return this.#member(name).connection;
  }

  /** Does something over the connection that a caller is to use. */
  use<T>(name: string, caller: string | undefined, work: (connection: Connection) => Promise<T>): Promise<T> {
    const member = this.#member(name);
    const isolation = member.entry.config?.isolation ?? "shared";
    if (isolation === "shared" || (isolation === "caller" && caller === undefined))
      return work(member.connection);
    if (isolation === "call" || caller === undefined) return this.#useOnce(member, work);
    const own = member.callers.get(caller) ?? this.#connectBeside(member);
    member.callers.set(caller, own);
    return work(own);
  }

  async disconnect(name: string): Promise<void> {
    await Promise.all(connectionsOf(this.#member(name)).map((connection) => connection.disconnect()));
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

  reports(): ServerReport[] {
    return [...this.#members.values()].map(({ entry, connection }) => reportServer(entry, connection));
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
    for (const name of replaced) if (!known.has(name)) diff.changed.push({ name, fields: ["server"] });
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

  #join(entry: ServerEntry): void {
    this.#members.set(entry.name, {
      entry,
      connection: this.#connect(entry, this.#isEager(entry), initialState(entry)),
      callers: new Map(),
      passing: new Set(),
    });
  }

  async #part(name: string): Promise<void> {
    const member = this.#members.get(name);
    this.#members.delete(name);
    if (member) await Promise.all(connectionsOf(member).map((connection) => connection.close()));
  }

  async #useOnce<T>(member: Member, work: (connection: Connection) => Promise<T>): Promise<T> {
    const connection = this.#connectBeside(member);
    member.passing.add(connection);
    try {
      return await work(connection);
    } finally {
      await connection.close();
      member.passing.delete(connection);
    }
  }

  /** One more connection to the same server; what is switched off stays off. */
  #connectBeside({ entry, connection: { state } }: Member): Connection {
    return this.#connect(entry, false, state.name === "disabled" ? state : initialState(entry));
  }

  #isEager({ config }: ServerEntry): boolean {
    return (
      config?.required === true || config?.lazy === false || (this.#settings.eager && config?.lazy !== true)
    );
  }

  #connect(entry: ServerEntry, eager: boolean, initial: ConnectionState): Connection {
    const { now, random, onQuestion, onNotification, hasNewLogin } = this.#settings;
    const { name } = entry;
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
      open: createOpener(entry, { ...this.#settings, policy: this.#config.policy }),
      ...(hasNewLogin && { hasNewLogin: () => hasNewLogin(name) }),
      ...(onNotification && {
        onNotification: (method, params) => onNotification(name, method, params),
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

function connectionsOf({ connection, callers, passing }: Member): Connection[] {
  return [connection, ...callers.values(), ...passing];
}

function isBroken({ name }: ConnectionState): boolean {
  return name === "waiting" || name === "failed" || name === "needs-auth" || name === "needs-registration";
}

function initialState({ status }: ServerEntry): ConnectionState {
  if (status.kind === "ready") return { name: "idle" };
  const { reason, message, hint } = status;
  return { name: "disabled", reason, message, hint };
}
