import { PendingWork } from "../lib/pending-work.ts";
import type { Connection } from "./connection.ts";
import type { ConnectionKey, Use } from "./connection-key.ts";

interface Member {
  key: ConnectionKey;
  connection: Connection;
  /** Known when it was made: by the time it ends, the server may be configured otherwise. */
  isOwn: boolean;
}

export interface ConnectionsSettings {
  /** `use` is whoever it is made for; `isOnce` if nobody else will use it. */
  create(key: ConnectionKey, use: Use | undefined, isOnce?: boolean): Connection;
  /** Whether the key is the server's own connection, which stays when nobody uses it. */
  isOwn(key: ConnectionKey): boolean;
  /** After how long without use the server's program is stopped; undefined for never. */
  idleStopMs(key: ConnectionKey): number | undefined;
  /** After how long without use a connection of one caller, project or account is ended. */
  idleMs: number;
  /** How many of those there may be before the oldest idle one is ended. */
  maxConnections: number;
  /** A connection has been ended for want of use. */
  onEnded(key: ConnectionKey): void;
  now(): number;
}

/** What a timer can wait; a longer wait is taken up again. */
const longestDelayMs = 2 ** 31 - 1;

/** The one map from key to connection. Connections that nobody uses end by themselves. */
export class Connections {
  readonly #settings: ConnectionsSettings;
  /** By the text of their key. */
  readonly #byKey = new Map<string, Member>();
  /** Connections of single calls, and everything that is on its way out. */
  readonly #passing = new Map<Connection, ConnectionKey>();
  readonly #leaving = new PendingWork();
  #extra = 0;
  #timer: NodeJS.Timeout | undefined;
  #timerDueAt = Infinity;

  constructor(settings: ConnectionsSettings) {
    this.#settings = settings;
  }

  get(key: ConnectionKey, use?: Use): Connection {
    const known = this.#byKey.get(key.text);
    if (known) {
      // Whoever uses it now is asked what it asks by itself.
      if (use) known.connection.use = use;
      return known.connection;
    }
    const connection = this.#settings.create(key, use);
    connection.use = use;
    const isOwn = this.#settings.isOwn(key);
    this.#byKey.set(key.text, { key, connection, isOwn });
    if (!isOwn && ++this.#extra > this.#settings.maxConnections) this.#endOldest(key);
    this.#watch(key, connection);
    return connection;
  }

  /** What is there already; looking creates nothing. */
  peek(key: ConnectionKey): Connection | undefined {
    return this.#byKey.get(key.text)?.connection;
  }

  /** A connection for one piece of work. The answer does not wait until the server has left. */
  async once<T>(
    key: ConnectionKey,
    use: Use | undefined,
    work: (connection: Connection) => Promise<T>,
  ): Promise<T> {
    const connection = this.#settings.create(key, use, true);
    connection.use = use;
    this.#passing.set(connection, key);
    try {
      return await work(connection);
    } finally {
      this.#leaving.add(connection.close().finally(() => this.#passing.delete(connection)));
    }
  }

  /** Every connection, or those of one server, single calls included. */
  of(server?: string): [ConnectionKey, Connection][] {
    const lasting = [...this.#byKey.values()].map(({ key, connection }): [ConnectionKey, Connection] => [
      key,
      connection,
    ]);
    const passing = [...this.#passing].map(([one, key]): [ConnectionKey, Connection] => [key, one]);
    return [...lasting, ...passing].filter(([key]) => server === undefined || key.server === server);
  }

  /** Ends what there is to a server, for good. */
  async remove(server: string): Promise<void> {
    const ending = this.of(server).map(([key, connection]) => {
      this.#forget(key);
      return connection.close();
    });
    await Promise.all(ending);
  }

  /** Resolves when nothing is left. */
  async close(): Promise<void> {
    clearTimeout(this.#timer);
    const servers = new Set(this.of().map(([{ server }]) => server));
    await Promise.all([...servers].map((server) => this.remove(server)));
    await this.#leaving.ended();
  }

  #forget(key: ConnectionKey): void {
    const member = this.#byKey.get(key.text);
    if (member && this.#byKey.delete(key.text) && !member.isOwn) this.#extra--;
  }

  /** How long a connection may be unused; undefined when that does not matter. */
  #limitMs(key: ConnectionKey): number | undefined {
    const { isOwn, idleMs, idleStopMs } = this.#settings;
    const stopMs = idleStopMs(key);
    return isOwn(key) ? stopMs : Math.min(idleMs, stopMs ?? Infinity);
  }

  #watch(key: ConnectionKey, connection: Connection): void {
    const limitMs = this.#limitMs(key);
    if (limitMs === undefined || limitMs === Infinity) return;
    this.#wakeAt(Math.max(connection.usedAt, this.#settings.now()) + limitMs);
  }

  #wakeAt(dueAt: number): void {
    if (this.#timer !== undefined && this.#timerDueAt <= dueAt) return;
    clearTimeout(this.#timer);
    this.#timerDueAt = dueAt;
    const delay = Math.max(1, dueAt - this.#settings.now());
    this.#timer = setTimeout(() => this.#sweep(), Math.min(delay, longestDelayMs));
    this.#timer.unref();
  }

  #sweep(): void {
    this.#timer = undefined;
    this.#timerDueAt = Infinity;
    const now = this.#settings.now();
    for (const { key, connection } of this.#byKey.values()) {
      const limitMs = this.#limitMs(key);
      if (limitMs === undefined || limitMs === Infinity) continue;
      const dueAt = (connection.isBusy ? now : connection.usedAt) + limitMs;
      if (dueAt > now) this.#wakeAt(dueAt);
      else if (this.#settings.isOwn(key)) {
        if (connection.session) this.#leaving.add(connection.disconnect());
        this.#wakeAt(now + limitMs);
      } else this.#end(key, connection);
    }
  }

  #end(key: ConnectionKey, connection: Connection): void {
    this.#forget(key);
    this.#passing.set(connection, key);
    this.#leaving.add(connection.close().finally(() => this.#passing.delete(connection)));
    this.#settings.onEnded(key);
  }

  /** Beyond the cap the one that was unused for the longest time goes; those in use stay. */
  #endOldest(newest: ConnectionKey): void {
    const { isOwn } = this.#settings;
    let oldest: Member | undefined;
    for (const member of this.#byKey.values()) {
      const { key, connection } = member;
      if (key === newest || isOwn(key) || connection.isBusy) continue;
      if (!oldest || connection.usedAt < oldest.connection.usedAt) oldest = member;
    }
    if (oldest) this.#end(oldest.key, oldest.connection);
  }
}
