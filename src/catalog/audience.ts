import { isRecord } from "../lib/record.ts";
import type { RawEntry } from "./known-list.ts";
import type { ToolEntry } from "./tool-entry.ts";

/** Who is to call a tool: a model, or the user interface of an MCP App. */
export type Audience = "model" | "app";

/** The audiences that a server names in `_meta.ui.visibility`; undefined if it names none, so the tool is for both. */
export function audiencesOf({ _meta: meta }: RawEntry): readonly string[] | undefined {
  const ui = isRecord(meta) ? meta["ui"] : undefined;
  const visibility = isRecord(ui) ? ui["visibility"] : undefined;
  if (typeof visibility === "string") return [visibility];
  return Array.isArray(visibility) ? visibility.filter((one) => typeof one === "string") : undefined;
}

/** Hides a tool that its server does not offer to this audience. */
export function offeredTo(audience: Audience, entry: ToolEntry): ToolEntry {
  const audiences = audiencesOf(entry.raw);
  if (entry.status !== "available" || !audiences || audiences.includes(audience)) return entry;
  const because =
    audience === "app"
      ? "its server does not offer it to apps"
      : "its server offers it only to its app, not to models";
  return { ...entry, status: "hidden", because };
}
