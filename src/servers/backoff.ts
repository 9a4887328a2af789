import type { ErrorCode, PlugboardError } from "../errors.ts";
import type { Verdict } from "./state.ts";

export interface BackoffSettings {
  firstMs: number;
  longestMs: number;
  /** After this many failures in a row the breaker opens: no attempts by itself, and calls fail fast. */
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

/** Failures that waiting does not mend; the next try is left to a person or a later call. */
const hopeless: ReadonlySet<ErrorCode> = new Set([
  "spawn-failed",
  "config-invalid",
  "value-missing",
  "policy-denied",
  "version-unsupported",
  "unexpected-response",
  "auth-failed",
]);

export interface Failure {
  error: PlugboardError;
  /** Failures in a row before this one. */
  failures: number;
  at: number;
  /** For a lost connection: how long it had lasted, and whether it had answered anything. */
  lastedMs?: number;
  wasUseful?: boolean;
}

/** When to try again. Pure: the clock and the dice are passed in. */
export function decide(
  { error, failures, at, lastedMs, wasUseful }: Failure,
  settings: BackoffSettings,
  random: number,
): Verdict {
  if (error.code === "auth-required") return { next: "needs-auth" };
  if (error.code === "registration-required") return { next: "needs-registration" };
  // A server that forgets sessions is up; how often it does is its own affair.
  const isForgetful = error.reason === "session-lost";
  const wasHealthy = lastedMs !== undefined && (lastedMs >= settings.healthyMs || isForgetful);
  // A remote end that was of use and broke off is met again within a second; a program that dies is not.
  const wasBriefDrop = wasUseful && error.code === "connection-lost";
  const count = wasHealthy ? 1 : wasBriefDrop ? Math.min(2, failures + 1) : failures + 1;
  if (hopeless.has(error.code)) return { next: "failed", retryAt: at + settings.firstMs, failures: count };
  if (count >= settings.breakAfter)
    return { next: "failed", retryAt: at + settings.breakMs, failures: count };
  return {
    next: "waiting",
    retryAt: at + delay(count, lastedMs !== undefined, settings, random, error),
    failures: count,
  };
}

/** A connection that worked and broke is tried again at once; then ever more slowly, and never all at the same moment. */
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
