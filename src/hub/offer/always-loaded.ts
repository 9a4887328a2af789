import type { ToolEntry } from "../../catalog/tool-entry.ts";
import type { ServerConfig } from "../../config/server-schema.ts";
import { matchesAny } from "../../lib/glob.ts";

/** True if the configuration wants a tool to be shown whole in any case. */
export function isAlwaysLoaded({ name }: ToolEntry, config: ServerConfig | undefined): boolean {
  const rule = config?.alwaysLoad;
  return typeof rule === "object" ? matchesAny(rule, name) : rule === true;
}
