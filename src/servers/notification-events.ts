import { logLevels } from "../events.ts";
import type { CatalogChanged, PlugboardEvent } from "../events.ts";
import type { MessageAudience } from "./rpc/message-audience.ts";

/** Converts a server's notification to a Plugboard event; undefined if there is none for it. A log has one caller at most. */
export function toEvent(
  about: { server: string; caller?: string; account?: string },
  method: string,
  params: Record<string, unknown>,
  audience: MessageAudience,
  at: number,
): PlugboardEvent | undefined {
  const kind = /^notifications\/(tools|resources|prompts)\/list_changed$/.exec(method)?.[1];
  if (kind !== undefined)
    return { type: "catalog-changed", ...about, kind: kind as CatalogChanged["kind"], at };
  if (method !== "notifications/message") return undefined;
  const { data } = params;
  const message = (typeof data === "string" ? data : written(data)).slice(0, maxLogLength);
  return {
    type: "server-log",
    ...about,
    ...(audience.for === "caller" && { caller: audience.caller }),
    level: logLevels.find((level) => level === params["level"]) ?? "info",
    source: "notification",
    message,
    at,
  };
}

const maxLogLength = 10_000;

/** A value may be nested too deeply to be written. */
function written(data: unknown): string {
  try {
    return JSON.stringify(data ?? null);
  } catch {
    return "(a value that cannot be shown)";
  }
}
