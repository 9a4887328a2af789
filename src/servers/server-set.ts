import { PlugboardError } from "../errors.ts";
import type { PlugboardEvent } from "../events.ts";
import { diffConfig } from "../config/diff.ts";
import type { ConfigDiff } from "../config/diff.ts";
import type { LoadedConfig, ServerEntry } from "../config/model.ts";
import { Connection } from "./connection.ts";
import { createOpener } from "./opener.ts";
import type { OpenerContext } from "./opener.ts";
import { reportServer } from "./server-report.ts";
import type { ServerReport } from "./server-report.ts";
import type { ConnectionState } from "./state.ts";

export interface ServerSetSettings extends Omit<OpenerContext, "policy"> {
  /** Start everything at once and keep it up, whatever `lazy` says by default. */
  eager: boolean;
  now(): number;
  random(): number;
  emit(event: PlugboardEvent): void;
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
}

/** All servers of a hub and their connections: one shared by everybody, or one for each caller where asked. */
export class ServerSet {
  readonly #settings: ServerSetSettings;
  readonly #members = new Map<string, Member>();
  #config: LoadedConfig;
  #sandboxState: Record<string, unknown> | undefined;

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

  /** The connection that a caller uses; with `isolation: call` a new one that the caller of this must close. */
  connection(name: string, caller?: string): { connection: Connection; isTemporary: boolean } {
    const member = this.#member(name);
    const isolation = member.entry.config?.isolation ?? "shared";
    if (isolation === "call") return { connection: this.#connect(member.entry, false), isTemporary: true };
    if (isolation === "shared" || caller === undefined)
      return { connection: member.connection, isTemporary: false };
    const own = member.callers.get(caller) ?? this.#connect(member.entry, false);
    member.callers.set(caller, own);
    return { connection: own, isTemporary: false };
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

  /** Takes a new configuration into use and touches only what is different. */
  async apply(config: LoadedConfig): Promise<ConfigDiff> {
    const diff = diffConfig(this.#config, config);
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
    const all = [...this.#members.values()].flatMap(({ connection, callers }) => [
      connection,
      ...callers.values(),
    ]);
    return Promise.all(all.map((connection) => this.#tellSandboxState(connection)));
  }

  async close(): Promise<void> {
    await Promise.all(this.names().map((name) => this.#part(name)));
  }

  #member(name: string): Member {
    const member = this.#members.get(name);
    if (member) return member;
    throw new PlugboardError("server-unknown", `There is no server "${name}".`, {
      server: name,
      data: { known: this.names().slice(0, 50) },
    });
  }

  #join(entry: ServerEntry): void {
    this.#members.set(entry.name, {
      entry,
      connection: this.#connect(entry, this.#isEager(entry)),
      callers: new Map(),
    });
  }

  async #part(name: string): Promise<void> {
    const member = this.#members.get(name);
    this.#members.delete(name);
    if (member)
      await Promise.all(
        [member.connection, ...member.callers.values()].map((connection) => connection.close()),
      );
  }

  #isEager({ config }: ServerEntry): boolean {
    return (
      config?.required === true || config?.lazy === false || (this.#settings.eager && config?.lazy !== true)
    );
  }

  #connect(entry: ServerEntry, eager: boolean): Connection {
    const { now, random, onQuestion } = this.#settings;
    const { name } = entry;
    const connection: Connection = new Connection({
      name,
      eager,
      initial: initialState(entry),
      now,
      random,
      emit: (event) => {
        this.#settings.emit(event);
        if (event.type === "connection-changed" && event.to === "connected" && event.from === "connecting")
          void this.#tellSandboxState(connection);
      },
      open: createOpener(entry, { ...this.#settings, policy: this.#config.policy }),
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

function initialState({ status }: ServerEntry): ConnectionState {
  if (status.kind === "ready") return { name: "idle" };
  const { reason, message, hint } = status;
  return { name: "disabled", reason, message, hint };
}
