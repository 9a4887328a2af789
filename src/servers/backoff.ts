import type { ErrorCode, PlugboardError } from "../errors.ts";
import type { ConnectionState, Verdict } from "./state.ts";

export interface BackoffSettings {
  firstMs: number;
  longestMs: number;
  /** After this many failures in a row the breaker opens: no automatic attempts, and calls fail fast. */
  breakAfter: number;
  /** How long the breaker stays open before a call may try again. */
  breakMs: number;
  /** A connection that lasted this long was healthy: its end counts as the first failure. */
  healthyMs: number;
}

export const defaultBackoff: BackoffSettings = {
  firstMs: 500,
  longestMs: 30_000,
  breakAfter: 6,
  breakMs: 60_000,
  healthyMs: 10_000,
};

/** Failures that waiting does not fix: a person, or a later call, causes the next attempt. */
const hopeless: ReadonlySet<ErrorCode> = new Set([
  "spawn-failed",
  "config-invalid",
  "value-missing",
  "policy-denied",
  "untrusted",
  "auth-failed",
]);
/** Failures that only another version of the server fixes. */
const lasting: ReadonlySet<ErrorCode> = new Set(["version-unsupported", "unexpected-response"]);

/**
 * When a connection that is kept up by itself is tried again; undefined for never. What does not pass by waiting is
 * tried slowly, because the server may be replaced.
 */
export function nextAttempt(
  state: ConnectionState,
  at: number,
  { breakMs }: BackoffSettings,
): number | undefined {
  switch (state.name) {
    case "waiting":
      return state.retryAt;
    case "failed":
      return hopeless.has(state.error.code) ? undefined : Math.max(state.retryAt, at + breakMs);
    case "needs-auth":
    case "needs-registration":
      return at + breakMs;
    default:
      return undefined;
  }
}

export interface Failure {
  error: PlugboardError;
  /** Failures in a row before this one. */
  failures: number;
  at: number;
  /** For a lost connection: how long it had lasted, and whether it had answered anything. */
  lastedMs?: number;
  wasUseful?: boolean;
}

/** Decides when to try again. Pure: the clock and the random number are passed in. */
export function decide(
  { error, failures, at, lastedMs, wasUseful }: Failure,
  settings: BackoffSettings,
  random: number,
): Verdict {
  if (error.code === "auth-required") return { next: "needs-auth" };
  if (error.code === "registration-required") return { next: "needs-registration" };
  // A server that forgets sessions is still up, so this does not count as a failure, however often it happens.
  const isForgetful = error.reason === "session-lost" || error.reason === "era-changed";
  const wasHealthy = lastedMs !== undefined && (lastedMs >= settings.healthyMs || isForgetful);
  // Reconnect to a remote server within a second if the connection was useful; not to a program that exited.
  const wasBriefDrop = wasUseful && error.code === "connection-lost";
  const count = wasHealthy ? 1 : wasBriefDrop ? Math.min(2, failures + 1) : failures + 1;
  if (hopeless.has(error.code) || (lasting.has(error.code) && !isOutage(error)))
    return { next: "failed", retryAt: at + settings.firstMs, failures: count };
  if (count >= settings.breakAfter)
    return { next: "failed", retryAt: at + settings.breakMs, failures: count };
  return {
    next: "waiting",
    retryAt: at + delay(count, lastedMs !== undefined, settings, random, error),
    failures: count,
  };
}

/** A web server in trouble answers with a page and a 5xx. */
function isOutage({ data }: PlugboardError): boolean {
  return data?.status !== undefined && data.status >= 500;
}

/** Retries at once after a connection that worked, then at growing intervals, with jitter. */
function delay(
  count: number,
  wasUp: boolean,
  { firstMs, longestMs }: BackoffSettings,
  random: number,
  error: PlugboardError,
): number {
  const { retryAfterMs = 0 } = error;
  if (retryAfterMs > 0) return Math.min(retryAfterMs, longestMs * 2);
  if (wasUp && count === 1) return 0;
  const ceiling = Math.min(longestMs, firstMs * 2 ** (count - 1));
  return Math.round(ceiling * (0.5 + random / 2));
}
