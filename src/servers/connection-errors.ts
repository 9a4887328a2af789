import { PlugboardError, isPlugboardError } from "../errors.ts";
import type { ErrorSummary } from "../events.ts";
import type { ConnectionState } from "./state.ts";

export function summarise({ code, message, hint, data }: PlugboardError): ErrorSummary {
  return { code, message, hint, ...(data && { data }) };
}

/** True if the connection is gone and the server certainly did not execute the request. */
export function wasNotExecuted(error: unknown): boolean {
  return (
    isPlugboardError(error) &&
    error.executed === "no" &&
    (error.code === "connection-lost" || error.code === "server-exited" || error.code === "not-responding")
  );
}

export function asPlugboardError(error: unknown, server: string): PlugboardError {
  if (isPlugboardError(error)) return error;
  const message = error instanceof Error ? error.message : String(error);
  return new PlugboardError("internal", `Connecting to "${server}" failed: ${message}`, {
    server,
    cause: error,
  });
}

export function unusable(
  server: string,
  state: Extract<ConnectionState, { name: "disabled" | "closed" }>,
): PlugboardError {
  if (state.name === "closed") return gone(server);
  const codes = {
    off: "server-disabled",
    policy: "policy-denied",
    untrusted: "untrusted",
    invalid: "config-invalid",
    "missing-value": "value-missing",
    loop: "config-invalid",
  } as const;
  const { reason, message, hint } = state;
  return new PlugboardError(codes[reason], `Server "${server}" cannot be used: ${message}.`, {
    server,
    hint,
  });
}

export function notYet({ error }: { error: PlugboardError }, waitMs: number): PlugboardError {
  return error.with({
    message: `${error.message} The next attempt is in ${Math.ceil(waitMs / 1000)} s.`,
    data: { ...error.data, retryInMs: waitMs },
    retryAfterMs: waitMs,
    executed: "no",
  });
}

export function gone(server: string): PlugboardError {
  return new PlugboardError("connection-lost", `The connection to "${server}" was closed.`, { server });
}

/** What was begun with one server is not continued with another one under its name. */
export function leadsElsewhere(server: string): PlugboardError {
  const message = `"${server}" now runs or contacts something else than when this was begun.`;
  const data = { reason: "target-changed" } as const;
  return new PlugboardError("usage-invalid", message, { server, executed: "no", data, hint: "Begin again." });
}
