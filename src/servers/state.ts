import type { ConnectionStateName, DisabledReason } from "../events.ts";
import type { PlugboardError } from "../errors.ts";

/** The state of a connection. Times are milliseconds since the epoch. */
export type ConnectionState =
  | { name: "disabled"; reason: DisabledReason; message: string; hint: string }
  | { name: "ready" }
  /** `error` is why the previous attempt failed; a server that hangs spends most of its time connecting. */
  | { name: "connecting"; since: number; failures: number; detail?: string; error?: PlugboardError }
  /** `failures` is kept until the connection has lasted long enough to count as healthy. */
  | { name: "connected"; since: number; failures: number }
  /** `lists` could not be read, and why; everything else works. `error` is that of the last one. */
  | {
      name: "degraded";
      since: number;
      failures: number;
      lists: Readonly<Record<string, PlugboardError>>;
      error: PlugboardError;
    }
  | { name: "waiting"; retryAt: number; failures: number; error: PlugboardError }
  | { name: "failed"; retryAt: number; failures: number; error: PlugboardError }
  | { name: "needs-auth"; error: PlugboardError }
  | { name: "needs-registration"; error: PlugboardError }
  | { name: "closed" };

export type Signal =
  /** The server is needed, or a retry is due. */
  | { type: "connect"; at: number }
  /** Progress output of the launcher, or why it does not start yet; empty if that is over. */
  | { type: "detail"; detail: string }
  | { type: "connected"; at: number }
  | { type: "failed"; error: PlugboardError; verdict: Verdict }
  /** An established connection has ended. */
  | { type: "lost"; error: PlugboardError; verdict: Verdict }
  | { type: "list-failed"; list: string; error: PlugboardError }
  | { type: "list-refreshed"; list: string }
  /** Resets the connection: on request, or after a change of configuration or credentials. */
  | { type: "disconnect" }
  | { type: "disable"; reason: DisabledReason; message: string; hint: string }
  | { type: "enable" }
  | { type: "close" };

/** What to do after a failure; `backoff.ts` decides it from the error and the number of failures. */
export type Verdict =
  | { next: "waiting" | "failed"; retryAt: number; failures: number }
  | { next: "needs-auth" }
  | { next: "needs-registration" };

/**
 * The state machine of a connection. Returns the same object if the signal does not apply in this state, so late
 * signals from an earlier connection change nothing.
 */
export function transition(state: ConnectionState, signal: Signal): ConnectionState {
  if (state.name === "closed") return state;
  switch (signal.type) {
    case "close":
      return { name: "closed" };
    case "disable": {
      const { reason, message, hint } = signal;
      // A disabled switch must not replace a more specific reason: policy, missing trust or invalid config.
      if (state.name === "disabled" && reason === "off") return state;
      return { name: "disabled", reason, message, hint };
    }
    case "enable":
      return state.name === "disabled" && state.reason === "off" ? { name: "ready" } : state;
    case "disconnect":
      return state.name === "disabled" || state.name === "ready" ? state : { name: "ready" };
    case "connect":
      return canConnect(state)
        ? { name: "connecting", since: signal.at, failures: failuresOf(state), ...causeOf(state) }
        : state;
    case "detail":
      return state.name === "connecting" ? withDetail(state, signal.detail) : state;
    case "connected":
      return state.name === "connecting"
        ? { name: "connected", since: signal.at, failures: state.failures }
        : state;
    case "failed":
      return state.name === "connecting" ? afterFailure(signal) : state;
    case "lost":
      return isUp(state) ? afterFailure(signal) : state;
    case "list-failed":
      return isUp(state) ? withLists(state, { ...listsOf(state), [signal.list]: signal.error }) : state;
    case "list-refreshed": {
      const { [signal.list]: failed, ...others } = listsOf(state);
      return isUp(state) && failed ? withLists(state, others) : state;
    }
  }
}

export function isUp(
  state: ConnectionState,
): state is Extract<ConnectionState, { since: number }> & { name: "connected" | "degraded" } {
  return state.name === "connected" || state.name === "degraded";
}

function listsOf(state: ConnectionState): Readonly<Record<string, PlugboardError>> {
  return state.name === "degraded" ? state.lists : {};
}

function withDetail(state: ConnectionState & { name: "connecting" }, detail: string): ConnectionState {
  const { detail: _, ...rest } = state;
  return detail === "" ? rest : { ...rest, detail };
}

/** A connection that is up, with the lists that failed. */
function withLists(
  { since, failures }: { since: number; failures: number },
  lists: Readonly<Record<string, PlugboardError>>,
): ConnectionState {
  const error = Object.values(lists).at(-1);
  return error ? { name: "degraded", since, failures, lists, error } : { name: "connected", since, failures };
}

/** The number of consecutive failures before a new attempt. */
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

/** The fields of a state that events and reports show. */
export function describeState(state: ConnectionState): {
  to: ConnectionStateName;
  disabledReason?: DisabledReason;
  lists?: string[];
  retryAt?: number;
  detail?: string;
} {
  return {
    to: state.name,
    ...(state.name === "disabled" ? { disabledReason: state.reason } : {}),
    ...(state.name === "degraded" ? { lists: Object.keys(state.lists) } : {}),
    ...("retryAt" in state ? { retryAt: state.retryAt } : {}),
    ...("detail" in state && state.detail !== undefined ? { detail: state.detail } : {}),
  };
}
