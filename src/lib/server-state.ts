import type { ConnectionStateName, DisabledReason } from "../events.ts";

/** What a server is now. A server that cannot be used is called by the reason. */
export type ServerStateName = Exclude<ConnectionStateName, "disabled"> | DisabledReason;

/** Every state by its one name, which `hub.status()`, `list`, `status` and `explain` share, and what it means. */
export const serverStates: Record<ServerStateName, string> = {
  ready: "can be used, and is not connected now",
  connecting: "is being started or contacted",
  connected: "is connected",
  degraded: "is connected, but did not answer one of its lists",
  waiting: "failed, and is tried again by itself",
  failed: "failed, and is tried again when it is needed",
  "needs-auth": "needs a login",
  "needs-registration": "needs an OAuth client that is registered by hand",
  closed: "was closed together with its hub",
  off: "is switched off",
  untrusted: "comes from a project, and you have not trusted its content",
  invalid: "has a mistake in its configuration",
  "missing-value": "refers to a variable or secret that is not set",
  policy: "is refused by the administrator's policy",
  loop: "leads back to this Plugboard",
};

type Judged = { kind: "ready" } | { kind: "disabled"; reason: DisabledReason };
type Reported = { state: ConnectionStateName; disabledReason?: DisabledReason };

/** The state of a configured entry, from its `status`, or of a server of a hub, from its report. */
export function serverState(of: Judged | Reported): ServerStateName {
  if ("kind" in of) return of.kind === "ready" ? "ready" : of.reason;
  return of.state === "disabled" ? (of.disabledReason ?? "off") : of.state;
}
