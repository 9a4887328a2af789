import type { Credentials } from "../auth/credentials.ts";
import type { SuppliedProvider } from "../auth/supplied.ts";
import type { ToolEntry } from "../catalog/tool-entry.ts";
import type { SecretSource } from "../config/expand.ts";
import type { Interact } from "../interact/interact.ts";
import type { Environment } from "../lib/folders.ts";
import type { Capabilities } from "../servers/rpc/envelope.ts";
import type { RequestOptions as RpcOptions } from "../servers/rpc/requests.ts";
import type { Store } from "../store/store.ts";

export interface HubOptions {
  env?: Environment;
  /** The source for `${secret:NAME}`. Default: the environment variable NAME. */
  secrets?: SecretSource;
  /** Where logins are stored. Default: in memory. */
  credentials?: Credentials;
  /** Credentials from the host program, by the id in a server's `auth`. */
  authProviders?: Readonly<Record<string, SuppliedProvider>>;
  /** Persistent state. Default: in memory. The hub does not close it. */
  store?: Store;
  /** Where running servers are recorded, so that a later start can end the processes of a hub that was killed. */
  stateFolder?: string;
  /** `false` starts no servers, and no `required` server can make creating the hub fail. */
  start?: boolean;
  /** Start all servers immediately and keep them running, instead of starting them on demand. */
  eager?: boolean;
  /** The account to use instead of the configured ones. Does not affect servers without logins. */
  profile?: string | undefined;
  /** Answers questions from servers and approval requests. */
  interact?: Interact;
  /** Additional client capabilities to declare to servers, for instance extensions. */
  capabilities?: Capabilities;
  /** How long unused connections of a single caller, project or account stay open. Default: 10 minutes. */
  idleMs?: number;
  /** The maximum number of such connections; above it the oldest idle one is closed. Default: 256. */
  maxConnections?: number;
  /**
   * Read lists in the background when a server connects, reports a change, or a list expires; `catalog-changed` is then
   * emitted when the new list is available. Useful for serving. By default lists are read on request.
   */
  keepFresh?: boolean;
  /** Hides tools for which it returns false. Called once for each tool of a view, and again after a reload. */
  toolFilter?: (tool: ToolEntry) => boolean;
  clock?: () => number;
  random?: () => number;
}

export interface RequestOptions extends Pick<
  RpcOptions,
  "signal" | "onProgress" | "onQuestion" | "onNotification"
> {
  server: string;
  /** The account to use instead of the configured one. */
  profile?: string | undefined;
  /** How long to wait for the next message about the request. */
  timeoutMs?: number | undefined;
  maxTimeoutMs?: number | undefined;
  /** The caller's capabilities, if they differ from the view's. */
  capabilities?: Capabilities | undefined;
}
