import type { CatalogChanged, PlugboardEvent, ServerLog } from "../events.ts";

/** Converts a server's notification to a Plugboard event; undefined if there is none for it. */
export function toEvent(
  about: { server: string; caller?: string; account?: string },
  method: string,
  params: Record<string, unknown>,
  at: number,
): PlugboardEvent | undefined {
  const kind = /^notifications\/(tools|resources|prompts)\/list_changed$/.exec(method)?.[1];
  if (kind !== undefined)
    return { type: "catalog-changed", ...about, kind: kind as CatalogChanged["kind"], at };
  if (method !== "notifications/message") return undefined;
  const { data } = params;
  const message = (typeof data === "string" ? data : JSON.stringify(data ?? null)).slice(0, maxLogLength);
  return {
    type: "server-log",
    ...about,
    level: levels[String(params["level"])] ?? "info",
    source: "notification",
    message,
    at,
  };
}

const maxLogLength = 10_000;

const levels: Record<string, ServerLog["level"]> = {
  debug: "debug",
  info: "info",
  notice: "info",
  warning: "warning",
  error: "error",
  critical: "error",
  alert: "error",
  emergency: "error",
};
