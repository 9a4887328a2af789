import type { AuthProvider } from "@modelcontextprotocol/client";
import type { Credentials } from "../auth/credentials.ts";
import type { ToolEntry } from "../catalog/tool-entry.ts";
import type { SecretSource } from "../config/expand.ts";
import type { Interact } from "../interact/interact.ts";
import type { Environment } from "../lib/folders.ts";
import type { Capabilities } from "../servers/rpc/envelope.ts";
import type { Progress } from "../servers/rpc/lane.ts";
import type { Store } from "../store/store.ts";

/** Everything from outside enters here. */
export interface HubOptions {
  env?: Environment;
  /** Where `${secret:NAME}` is looked up; the variable NAME when absent. */
  secrets?: SecretSource;
  /** Where logins are kept; in memory when absent. */
  credentials?: Credentials;
  /** Credentials of the host program's own, by the id that a server's `auth` names. */
  authProviders?: Readonly<Record<string, AuthProvider>>;
  /** Durable state; in memory when absent. The hub does not close it. */
  store?: Store;
  /** Where running servers are recorded, so that a later start can end what a killed one left behind. */
  stateFolder?: string;
  /** Start all servers at once and keep them up, instead of when they are needed. */
  eager?: boolean;
  /** Whoever answers what servers and approvals ask. */
  interact?: Interact;
  /** What else we tell servers that we can do, for instance extensions. */
  capabilities?: Capabilities;
  /** Hides tools for which it returns false. */
  toolFilter?: (tool: ToolEntry) => boolean;
  clock?: () => number;
  random?: () => number;
}

export interface RequestOptions {
  server: string;
  /** Who asks; matters for servers with `isolation: caller`. */
  caller?: string | undefined;
  /** As which account, instead of the configured one. */
  profile?: string | undefined;
  signal?: AbortSignal | undefined;
  onProgress?: ((progress: Progress) => void) | undefined;
  /** How long the server may be silent. */
  timeoutMs?: number | undefined;
  maxTimeoutMs?: number | undefined;
  /** The capabilities of whoever asks, where they differ from the hub's. */
  capabilities?: Capabilities | undefined;
}
