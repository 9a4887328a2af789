import { isPlugboardError } from "../errors.ts";
import type { Settings } from "../config/schema.ts";
import type { ServerConfig } from "../config/server-schema.ts";
import type { ToolEntry } from "../catalog/tool-entry.ts";

const defaultAttempts = 1;

/**
 * Whether a failed call may be sent again. What certainly never reached the server was repeated further down; here it
 * is about calls that may have run, and those are repeated only for tools that say repeating is harmless, from a server
 * that is believed. A timeout is repeated only where config asks for it: the first call may still be running.
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
