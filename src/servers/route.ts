import type { LoadedConfig, ServerEntry } from "../config/model.ts";
import type { ServerConfig } from "../config/server-schema.ts";
import { PlugboardError } from "../errors.ts";
import type { Connection } from "./connection.ts";
import type { ConnectionKey, Use } from "./connection-key.ts";
import type { Connections } from "./connections.ts";
import type { JsonRpcAnswer, RawAnswer } from "./rpc/messages.ts";
import type { Session, SessionCheck, SessionRequest } from "./session.ts";
import type { TargetIdentity } from "./target-identity.ts";

/** What routes reach their servers through; the same for all routes of a hub. */
export interface RouteSettings {
  connections: Connections;
  identify(key: ConnectionKey, signal?: AbortSignal): Promise<TargetIdentity>;
}

const noConfig: ServerConfig = {};

/**
 * Where a call goes: the server's entry, the configuration it was read from, and which of its connections. The set of
 * servers resolves it once for each call.
 */
export class Route {
  readonly server: string;
  readonly entry: ServerEntry;
  /** The configuration that the entry is from. */
  readonly loaded: LoadedConfig;
  readonly key: ConnectionKey;
  /** On whose behalf. */
  readonly use: Use;
  readonly #settings: RouteSettings;

  constructor(
    entry: ServerEntry,
    loaded: LoadedConfig,
    key: ConnectionKey,
    use: Use,
    settings: RouteSettings,
  ) {
    this.server = entry.name;
    this.entry = entry;
    this.loaded = loaded;
    this.key = key;
    this.use = use;
    this.#settings = settings;
  }

  /** What is configured about the server; nothing if its entry cannot be used. */
  get config(): ServerConfig {
    return this.entry.config ?? noConfig;
  }

  /** The connection, if there is one. */
  get current(): Connection | undefined {
    return this.#settings.connections.peek(this.key);
  }

  /** The number of the session that runs; undefined if none does. */
  get sessionNumber(): number | undefined {
    return this.current?.sessionNumber;
  }

  /** What runs or is contacted; undefined while nothing is connected. */
  get target(): TargetIdentity | undefined {
    return this.current?.session?.identity;
  }

  /** What runs or is contacted, or would if it connected now. */
  identify(signal?: AbortSignal): Promise<TargetIdentity> {
    return this.#settings.identify(this.key, signal);
  }

  /** A session, for what is not a request; starts the server if it does not run. */
  ready(signal?: AbortSignal): Promise<Session> {
    return this.#connection.ready(signal);
  }

  /** Sends a request over the connection, or over one of its own where every call has one. */
  request(
    method: string,
    params: Record<string, unknown>,
    options: SessionRequest,
  ): Promise<JsonRpcAnswer | RawAnswer> {
    if (!this.#isOnce) return this.#connection.request(method, params, options);
    const { check } = options;
    return this.#settings.connections.once(this.key, this.use, (connection) => {
      const own = { ...options, check: check && onlyTarget(check, connection) };
      return connection.request(method, params, own);
    });
  }

  /** Sends a notification over the connection. Where every call has one of its own, nobody would hear it. */
  async notify(
    method: string,
    params: Record<string, unknown>,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const { server } = this;
    if (this.#isOnce)
      throw new PlugboardError("usage-invalid", `Every call of "${server}" has a connection of its own.`, {
        server,
        hint: "Notifications need another `isolation` than `call`.",
      });
    await this.#connection.notify(method, params, this.use.caller, signal);
  }

  /** Keeps the connection in use. Returns how to end that. */
  hold(): () => void {
    const connection = this.#connection;
    connection.holds++;
    let isHeld = true;
    return () => {
      if (isHeld) connection.holds--;
      isHeld = false;
    };
  }

  get #isOnce(): boolean {
    return this.entry.config?.isolation === "call";
  }

  get #connection(): Connection {
    return this.#settings.connections.get(this.key, this.use);
  }
}

/** What a call was checked by was read over the connection of the key, not over the call's own; where it leads counts. */
function onlyTarget(check: SessionCheck, connection: Connection): SessionCheck {
  return {
    get session() {
      return connection.sessionNumber;
    },
    get isStale() {
      return check.isStale;
    },
    get target() {
      return check.target;
    },
    again: (target) => check.again(target),
    reread: () => check.reread(),
  };
}
