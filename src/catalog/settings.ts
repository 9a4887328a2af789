import type { Emit } from "../events.ts";
import type { ConnectionKey } from "../servers/connection-key.ts";
import type { JsonRpcAnswer } from "../servers/rpc/messages.ts";
import type { ServerSet } from "../servers/server-set.ts";
import type { RawEntry } from "./known-list.ts";
import type { ToolFilter } from "./scope-view.ts";
import type { Snapshots } from "./snapshot.ts";

export interface ListedEntry {
  server: string;
  raw: RawEntry;
}

export interface ListOptions {
  /** `false` answers at once with what is known, and starts nothing. */
  wait?: boolean | undefined;
  /** Ends the wait; an aborted one starts nothing. */
  signal?: AbortSignal | undefined;
}

export interface CatalogSettings {
  servers: ServerSet;
  snapshots: Snapshots;
  emit: Emit;
  now(): number;
  /** Asks over the lasting connection of a key. */
  ask(
    key: ConnectionKey,
    method: string,
    params: Record<string, unknown>,
    signal?: AbortSignal,
  ): Promise<JsonRpcAnswer>;
  toolFilter?: ToolFilter | undefined;
  /** Read lists before anybody asks, and tell of changes when the new list is there. */
  keepFresh?: boolean | undefined;
}
