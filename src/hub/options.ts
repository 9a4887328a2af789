import type { Credentials } from "../auth/credentials.ts";
import type { SuppliedProvider } from "../auth/supplied.ts";
import type { ToolEntry } from "../catalog/tool-entry.ts";
import type { SecretSource } from "../config/expand.ts";
import type { TrustedContents } from "../config/trust/fingerprint.ts";
import type { Interact } from "../interact/interact.ts";
import type { LogLevel } from "../events.ts";
import { managedFolder } from "../lib/folders.ts";
import type { Environment, Folders } from "../lib/folders.ts";
import type { Telemetry } from "../lib/telemetry.ts";
import type { Capabilities } from "../servers/rpc/envelope.ts";
import type { RequestOptions as RpcOptions } from "../servers/rpc/requests.ts";
import type { TraceEntry } from "../servers/trace.ts";
import type { BrokerPlace } from "../servers/warm/broker-client.ts";
import type { Store } from "../store/store.ts";

/** The broker that holds servers between commands. */
export type WarmPlace = Omit<BrokerPlace, "env">;

/** What a hub gets from the program that creates it. Everything is optional. */
export interface HubOptions {
  env?: Environment;
  /** The source for `${secret:NAME}`. Default: the environment variable NAME. */
  secrets?: SecretSource;
  /** What the user trusts in projects, asked before each start. Default: what they trusted when the configuration was loaded. */
  trust?: TrustedContents;
  /** Where logins are stored. Default: in memory. */
  credentials?: Credentials;
  /** Credentials from the host program, by the id in a server's `auth`. */
  authProviders?: Readonly<Record<string, SuppliedProvider>>;
  /** Persistent state. Default: in memory. The hub does not close it. */
  store?: Store;
  /** Where answers are kept that allow a tool always. Default: `store`. The hub does not close it. */
  approvals?: () => Promise<Store>;
  /**
   * The key of the hashes that bind kept answers to a server's secrets: at least 16 bytes that are not in that store.
   * Default: none, so answers about a server with secrets hold for this hub only.
   */
  approvalsKey?: (() => Promise<Uint8Array>) | undefined;
  /** Give out handles of results only if they work after the hub is closed too: not if `store` is in memory. */
  lastingHandles?: boolean;
  /** Where running servers are recorded, so that a later start can end the processes of a hub that was killed. */
  stateFolder?: string;
  /** Where servers with `keepWarm` stay when the hub closes: `workspace.warm.place(…)`. Default: none stays. */
  warm?: WarmPlace;
  /**
   * Which configurations led to this hub. Its servers get it in PLUGBOARD_CHAIN, so that a Plugboard among them notices
   * when it would start itself.
   */
  chain?: string;
  /**
   * A configuration is refused if rules of the user are missing in it, because one of their files cannot be read, or a
   * rule has a mistake. `ignore` uses the rest: for a hub that only looks.
   */
  lostRules?: "refuse" | "ignore";
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
  /**
   * The path of a lock file that pins what servers offer, instead of those beside the configuration. New and changed
   * tools are set aside. It is read again by `reload`.
   */
  lock?: string;
  /** What events say beyond what happened. `arguments`: what calls are given, cut and without secrets. Default: nothing. */
  events?: { arguments?: boolean | undefined } | undefined;
  /** Hears of every request to a server: `await openTelemetry()` of `plugboard/telemetry`. Default: nobody does. */
  telemetry?: Telemetry | undefined;
  /**
   * Observes every message to and from servers, without what is secret. For people who look for a mistake: each message
   * is copied, so it costs time.
   */
  onTrace?: ((entry: TraceEntry) => void) | undefined;
  /** False keeps what servers offer out of the store, for servers that are used only once. Default: true. */
  rememberLists?: boolean | undefined;
  /** For tests, and for programs that keep state in other folders. A literal obeys the policy in `managed`. */
  folders?: Pick<Folders, "managed"> | undefined;
  clock?: () => number;
  random?: () => number;
}

/** The machine's policy holds for servers that are written in code too. */
export function managedFolderOf({ folders }: HubOptions): string {
  return folders?.managed ?? managedFolder();
}

/** How a raw request is sent. */
export interface RequestOptions extends Pick<
  RpcOptions,
  "signal" | "onProgress" | "onQuestion" | "onNotification" | "exclusive"
> {
  server: string;
  /** The account to use instead of the configured one. */
  profile?: string | undefined;
  /** How long to wait for the next message about the request. */
  timeoutMs?: number | undefined;
  maxTimeoutMs?: number | undefined;
  /** Return a result as its bytes, without parsing it. */
  raw?: boolean | undefined;
  /** The `from` of the answer that this goes on with: fails if anything else would get it. */
  boundTo?: string | undefined;
  /** Let `onQuestion` give what the server requires first, and send the request again. See `ForwardOptions.fulfil`. */
  fulfil?: boolean | undefined;
  /** The caller's capabilities, if they differ from the view's. */
  capabilities?: Capabilities | undefined;
  /** Which log messages a modern server sends during the request, to `onNotification`. */
  logLevel?: LogLevel | undefined;
  /** HTTP headers for this request only. See `ForwardOptions`. */
  headers?: Readonly<Record<string, string>> | undefined;
}
