import type { Credentials } from "../auth/credentials.ts";
import type { SuppliedProvider } from "../auth/supplied.ts";
import type { ToolEntry } from "../catalog/tool-entry.ts";
import type { SecretSource } from "../config/expand.ts";
import type { Interact } from "../interact/interact.ts";
import type { Environment } from "../lib/folders.ts";
import type { Capabilities } from "../servers/rpc/envelope.ts";
import type { RequestOptions as RpcOptions } from "../servers/rpc/requests.ts";
import type { Store } from "../store/store.ts";

/** Everything from outside enters here. */
export interface HubOptions {
  env?: Environment;
  /** Where `${secret:NAME}` is looked up; the variable NAME when absent. */
  secrets?: SecretSource;
  /** Where logins are kept; in memory when absent. */
  credentials?: Credentials;
  /** Credentials of the host program's own, by the id that a server's `auth` names. */
  authProviders?: Readonly<Record<string, SuppliedProvider>>;
  /** Durable state; in memory when absent. The hub does not close it. */
  store?: Store;
  /** Where running servers are recorded, so that a later start can end what a killed one left behind. */
  stateFolder?: string;
  /** `false` starts nothing by itself and lets no `required` server fail the whole. */
  start?: boolean;
  /** Start all servers at once and keep them up, instead of when they are needed. */
  eager?: boolean;
  /** The account that servers are used with, instead of the configured ones. Those without logins are used as they are. */
  profile?: string | undefined;
  /** Whoever answers what servers and approvals ask. */
  interact?: Interact;
  /** What else we tell servers that we can do, for instance extensions. */
  capabilities?: Capabilities;
  /** After how long without use the connections of single callers, projects and accounts end. Default 10 minutes. */
  idleMs?: number;
  /** How many of those there may be before the oldest idle one is ended. Default 256. */
  maxConnections?: number;
  /**
   * Read lists in the background when servers connect, say that they changed, and when they expire, as serving needs it:
   * `catalog-changed` then comes when the new list is there. Otherwise lists are read when somebody asks for them.
   */
  keepFresh?: boolean;
  /** Hides tools for which it returns false. Asked once about each tool of a view, and again after a reload. */
  toolFilter?: (tool: ToolEntry) => boolean;
  clock?: () => number;
  random?: () => number;
}

export interface RequestOptions extends Pick<
  RpcOptions,
  "signal" | "onProgress" | "onQuestion" | "onNotification"
> {
  server: string;
  /** As which account, instead of the configured one. */
  profile?: string | undefined;
  /** How long the server may be silent. */
  timeoutMs?: number | undefined;
  maxTimeoutMs?: number | undefined;
  /** The capabilities of whoever asks, where they differ from the view's. */
  capabilities?: Capabilities | undefined;
}
