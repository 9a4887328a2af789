import { isPlugboardError } from "../errors.ts";
import type { Settings } from "../config/schema.ts";
import type { ServerConfig } from "../config/server-schema.ts";
import type { ToolEntry } from "../catalog/tool-entry.ts";

const defaultAttempts = 1;

/**
 * True if a failed call may be sent again. The connection already retried calls that never reached the server; this is
 * about calls that may have run. They are repeated only for read-only or idempotent tools of a server that is not
 * `untrusted`, and after a timeout only if configured, because the first call may still be running.
 */
export function mayRepeat(
  error: unknown,
  { annotations }: ToolEntry,
  attempt: number,
  config: ServerConfig,
  settings: Settings,
): boolean {
  const { attempts = defaultAttempts, timeouts = false } = config.retry ?? settings.retry ?? {};
  if (!isPlugboardError(error) || attempt >= attempts) return false;
  const isHarmless = annotations["readOnlyHint"] === true || annotations["idempotentHint"] === true;
  if (!isHarmless) return false;
  if (error.code === "call-timeout") return timeouts;
  return (
    error.code === "connection-lost" || error.code === "server-exited" || error.code === "not-responding"
  );
}
