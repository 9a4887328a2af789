import type { PlugboardError } from "../errors.ts";
import type { Connection } from "../servers/connection.ts";
import { describeKey } from "../servers/connection-key.ts";
import type { ConnectionKey, Use } from "../servers/connection-key.ts";
import { connectionFingerprint } from "../servers/server-memory.ts";
import type { CatalogSettings } from "./settings.ts";
import { cutWords } from "./pages.ts";
import type { ListsSettings } from "./server-lists.ts";

const defaultTtlMs = 3_600_000;

type Asking = Omit<ListsSettings, "rules" | "onRead" | "onUnread">;

/** Fetches the lists of one connection and stores them between runs. `use` is who the connection is for. */
export function listSource(key: ConnectionKey, use: Use | undefined, settings: CatalogSettings): Asking {
  const { servers, snapshots, now, ask } = settings;
  const { connections } = servers;
  const { server, caller, headers } = key;
  // Accounts and folders may have other lists.
  const fingerprint = connectionFingerprint(servers.entry(server), key);
  const isApart = servers.entry(server).config?.isolation === "caller";
  return {
    server,
    ttlMs: servers.entry(server).config?.cacheTtlMs ?? defaultTtlMs,
    now,
    // Lists are read over a persistent connection, even if every call gets its own.
    capabilities: async (signal) => (await connections.get(key, use).ready(signal)).greeting.capabilities,
    ask: (method, params, signal) => ask(key, method, params, signal),
    wait: async (ms, signal) => connections.peek(key)?.wait(ms, signal),
    session: () => connections.peek(key)?.sessionNumber,
    trouble: () => troubleOf(connections.peek(key)),
    isAnew: (failedSession) => isAnew(connections.peek(key), failedSession),
    load: async () => {
      // Another run does not know who that was.
      if (headers) return {};
      const own = await snapshots.load(fingerprint, caller);
      if (caller === undefined || isApart || Object.keys(own).length > 0) return own;
      // It has a connection of its own only because the server asks questions; what it offers is the same.
      return snapshots.load(fingerprint, undefined);
    },
    save: async (lists) => {
      if (!headers) await snapshots.save(fingerprint, caller, lists);
    },
    onFailed: (kind, error) => connections.peek(key)?.listFailed(kind, error),
    onRecovered: (kind) => connections.peek(key)?.listRefreshed(kind),
    onCut: (kind, cutBy) =>
      settings.emit({
        type: "server-log",
        server,
        ...describeKey(key),
        level: "warning",
        source: "transport",
        message: `"${server}" ${cutWords(kind, cutBy)}.`,
        at: now(),
      }),
  };
}

/** A server that has never connected will probably fail again, so do not wait for it. One that was up may return. */
function troubleOf(connection: Connection | undefined): PlugboardError | undefined {
  if (!connection || connection.startMs !== undefined) return undefined;
  const { state } = connection;
  const isFailing = state.name === "waiting" || state.name === "failed" || state.name === "connecting";
  return isFailing ? state.error : undefined;
}

function isAnew(connection: Connection | undefined, failedSession: number | undefined): boolean {
  switch (connection?.state.name) {
    case "connecting":
    case "waiting":
    case "failed":
      return false;
    case "connected":
    case "degraded":
      return connection.sessionNumber !== failedSession;
    // It was reset, or it reports immediately what is missing.
    default:
      return true;
  }
}
