import type { Interact } from "../interact/interact.ts";
import type { Capabilities } from "./rpc/envelope.ts";

/** On whose behalf servers are used. */
export interface Use {
  /** Matters where callers must not share a connection. */
  caller?: string | undefined;
  /** The login, instead of the configured one. Servers that run on this machine have none. */
  account?: string | undefined;
  /** The folder that servers with `isolation: project` work in, instead of the workspace's. */
  project?: string | undefined;
  /** Whoever answers what servers and approvals ask. */
  interact?: Interact | undefined;
  /** What that client can do, where it differs from what `interact` can answer. */
  capabilities?: Capabilities | undefined;
}

/** Which connection a `Use` gets at one server. */
export interface ConnectionKey {
  readonly server: string;
  /** Only where the caller must not share. */
  readonly caller?: string;
  /** Only for servers with `isolation: project`. */
  readonly project?: string;
  /** The login's name; servers that run on this machine have none. */
  readonly account?: string;
  /** All of it as one text: equal keys have equal texts. */
  readonly text: string;
}

export function connectionKey(parts: Omit<ConnectionKey, "text">): ConnectionKey {
  const { server, caller, project, account } = parts;
  return { ...parts, text: JSON.stringify([server, caller, project, account]) };
}

/** Who a connection is for, as events and reports say it. */
export function describeKey({ caller, project, account }: ConnectionKey): {
  caller?: string;
  project?: string;
  account?: string;
} {
  return {
    ...(caller !== undefined && { caller }),
    ...(project !== undefined && { project }),
    ...(account !== undefined && { account }),
  };
}
