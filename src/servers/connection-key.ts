import type { Interact } from "../interact/interact.ts";
import type { OwnHeaders } from "./own-headers.ts";
import type { Capabilities } from "./rpc/envelope.ts";

/** Who uses the servers. */
export interface Use {
  /** Only relevant where callers must not share a connection. */
  caller?: string | undefined;
  /** The login to use instead of the configured one. Local servers have none. */
  account?: string | undefined;
  /** The folder for servers with `isolation: project`, instead of the workspace's. */
  project?: string | undefined;
  /** Headers for single servers, which then have a connection for this use. */
  headers?: ReadonlyMap<string, OwnHeaders> | undefined;
  /** Answers questions from servers and approval requests. */
  interact?: Interact | undefined;
  /** The capabilities of the client, if they differ from what `interact` can answer. */
  capabilities?: Capabilities | undefined;
}

/** Identifies the connection that a `Use` gets to one server. */
export interface ConnectionKey {
  readonly server: string;
  /** Only where the caller must not share. */
  readonly caller?: string;
  /** Only for servers with `isolation: project`. */
  readonly project?: string;
  /** The name of the login; local servers have none. */
  readonly account?: string;
  /** What every request of this connection is sent with. */
  readonly headers?: OwnHeaders;
  /** The whole key as one string: equal keys have equal strings. */
  readonly text: string;
}

export function connectionKey(parts: Omit<ConnectionKey, "text">): ConnectionKey {
  const { server, caller, project, account, headers } = parts;
  return { ...parts, text: JSON.stringify([server, caller, project, account, headers?.mark]) };
}

/** Who a connection is for, in the form that events and reports use. */
export function describeKey({ caller, project, account, headers }: ConnectionKey): {
  caller?: string;
  project?: string;
  account?: string;
  headers?: string;
} {
  return {
    ...(caller !== undefined && { caller }),
    ...(project !== undefined && { project }),
    ...(account !== undefined && { account }),
    ...(headers && { headers: headers.mark }),
  };
}
