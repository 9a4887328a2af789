import type { ConnectionStateName, DisabledReason } from "../events.ts";
import type { PlugboardError } from "../errors.ts";

/** The one value that says how a connection is. Times are milliseconds since the epoch. */
export type ConnectionState =
  | { name: "disabled"; reason: DisabledReason; message: string; hint: string }
  | { name: "idle" }
  /** `error` is why the attempt before this one failed: a server that hangs is mostly seen connecting. */
  | { name: "connecting"; since: number; failures: number; detail?: string; error?: PlugboardError }
  /** `failures` lie behind it until it has lasted long enough to be called healthy. */
  | { name: "connected"; since: number; failures: number }
  | { name: "degraded"; since: number; failures: number; error: PlugboardError }
  | { name: "waiting"; retryAt: number; failures: number; error: PlugboardError }
  | { name: "failed"; retryAt: number; failures: number; error: PlugboardError }
  | { name: "needs-auth"; error: PlugboardError }
  | { name: "needs-registration"; error: PlugboardError }
  | { name: "closed" };

export type Signal =
  /** Somebody wants to use the server, or a retry is due. */
  | { type: "connect"; at: number }
  /** What the launcher says while we wait. */
  | { type: "detail"; detail: string }
  | { type: "connected"; at: number }
  | { type: "failed"; error: PlugboardError; verdict: Verdict }
  /** A connection that worked has ended. */
  | { type: "lost"; error: PlugboardError; verdict: Verdict }
  | { type: "list-failed"; error: PlugboardError }
  | { type: "list-refreshed" }
  /** Back to the start: by request, after a change of configuration or credentials. */
  | { type: "disconnect" }
  | { type: "disable"; reason: DisabledReason; message: string; hint: string }
  | { type: "enable" }
  | { type: "close" };

/** What follows from a failure; decided by `backoff.ts` from the error and how often it happened. */
export type Verdict =
  | { next: "waiting" | "failed"; retryAt: number; failures: number }
  | { next: "needs-auth" }
  | { next: "needs-registration" };

/**
 * The whole life of a connection. Returns the same object when a signal means nothing in a state: late news about a
 * connection that is no longer the current one must not change anything.
 */
export function transition(state: ConnectionState, signal: Signal): ConnectionState {
  if (state.name === "closed") return state;
  switch (signal.type) {
    case "close":
      return { name: "closed" };
    case "disable": {
      const { reason, message, hint } = signal;
      // A switch says less than a policy, a missing trust or a mistake, so it must not take their place.
      if (state.name === "disabled" && reason === "config") return state;
      return { name: "disabled", reason, message, hint };
    }
    case "enable":
      return state.name === "disabled" && state.reason === "config" ? { name: "idle" } : state;
    case "disconnect":
      return state.name === "disabled" || state.name === "idle" ? state : { name: "idle" };
    case "connect":
      return canConnect(state)
        ? { name: "connecting", since: signal.at, failures: failuresOf(state), ...causeOf(state) }
        : state;
    case "detail":
      return state.name === "connecting" ? { ...state, detail: signal.detail } : state;
    case "connected":
      return state.name === "connecting"
        ? { name: "connected", since: signal.at, failures: state.failures }
        : state;
    case "failed":
      return state.name === "connecting" ? afterFailure(signal) : state;
    case "lost":
      return isUp(state) ? afterFailure(signal) : state;
    case "list-failed":
      return isUp(state)
        ? { name: "degraded", since: state.since, failures: state.failures, error: signal.error }
        : state;
    case "list-refreshed":
      return state.name === "degraded"
        ? { name: "connected", since: state.since, failures: state.failures }
        : state;
  }
}

export function isUp(
  state: ConnectionState,
): state is Extract<ConnectionState, { since: number }> & { name: "connected" | "degraded" } {
  return state.name === "connected" || state.name === "degraded";
}

/** The failures in a row that a new attempt has behind it. */
export function failuresOf(state: ConnectionState): number {
  return "failures" in state ? state.failures : 0;
}

function causeOf(state: ConnectionState): { error?: PlugboardError } {
  return "error" in state && state.error ? { error: state.error } : {};
}

function canConnect({ name }: ConnectionState): boolean {
  return name !== "disabled" && name !== "connecting" && name !== "connected" && name !== "degraded";
}

function afterFailure({ error, verdict }: { error: PlugboardError; verdict: Verdict }): ConnectionState {
  if (verdict.next === "needs-auth" || verdict.next === "needs-registration")
    return { name: verdict.next, error };
  return { name: verdict.next, retryAt: verdict.retryAt, failures: verdict.failures, error };
}

/** Everything the outside is told when a state changes. */
export function describeState(state: ConnectionState): {
  to: ConnectionStateName;
  disabledReason?: DisabledReason;
  retryAt?: number;
  detail?: string;
} {
  return {
    to: state.name,
    ...(state.name === "disabled" ? { disabledReason: state.reason } : {}),
    ...("retryAt" in state ? { retryAt: state.retryAt } : {}),
    ...("detail" in state && state.detail !== undefined ? { detail: state.detail } : {}),
  };
}
