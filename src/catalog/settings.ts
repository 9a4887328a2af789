import type { Emit } from "../events.ts";
import type { ConnectionKey } from "../servers/connection-key.ts";
import type { JsonRpcAnswer } from "../servers/rpc/messages.ts";
import type { ServerSet } from "../servers/server-set.ts";
import type { Audience } from "./audience.ts";
import type { RawEntry } from "./known-list.ts";
import type { ToolFilter } from "./scope-view.ts";
import type { Snapshots } from "./snapshot.ts";

/** A resource, resource template or prompt as its server listed it. */
export interface ListedEntry {
  server: string;
  raw: RawEntry;
}

/** How long a list may take. */
export interface ListOptions {
  /** `false` returns what is known immediately and starts no server. */
  wait?: boolean | undefined;
  /** Ends the wait. If it is already aborted, no server is started. */
  signal?: AbortSignal | undefined;
}

/** How long a list of tools may take, and for whom it is. */
export interface ToolListOptions extends ListOptions {
  /** `app` lists what the user interface of an MCP App may call, instead of what a model may. */
  for?: Audience | undefined;
}

export interface CatalogSettings {
  servers: ServerSet;
  snapshots: Snapshots;
  emit: Emit;
  now(): number;
  /** Sends a request over the persistent connection for a key. */
  ask(
    key: ConnectionKey,
    method: string,
    params: Record<string, unknown>,
    signal?: AbortSignal,
  ): Promise<JsonRpcAnswer>;
  toolFilter?: ToolFilter | undefined;
  /** Read lists in the background, and report changes once the new list is available. */
  keepFresh?: boolean | undefined;
}
