import { nearest } from "../lib/suggest.ts";
import type { Meant } from "./meant.ts";
import type { ScopeView } from "./scope-view.ts";
import type { ToolEntry } from "./tool-entry.ts";
import type { ToolIndex } from "./tool-index.ts";

const maxCompared = 100;

/** Suggests the callable tool closest to a query, in the notation of the query. `indexes` are those of the view. */
export function suggestTool(
  query: string,
  meant: readonly Meant[],
  view: ScopeView,
  indexes: readonly (ToolIndex | undefined)[],
): string | undefined {
  const [, server = "", separator = "", name = ""] = /^(?:mcp__)?(.+?)(__|[./])(.+)$/s.exec(query) ?? [];
  const likely = meant.length > 0 ? meant.map((one) => one.server) : [nearest(server, view.names)];
  const theirs = indexes.filter((_, at) => likely.includes(view.names[at]));
  const write = (tool: ToolEntry) =>
    separator === "__" ? tool.id : `${tool.server}${separator}${nameOf(tool)}`;
  return (
    nearestTool(query, pick(name, theirs, view), write) ??
    nearestTool(query, pick(query, indexes, view), nameOf)
  );
}

function nearestTool(
  query: string,
  tools: readonly ToolEntry[],
  write: (tool: ToolEntry) => string,
): string | undefined {
  return nearest(query, tools.map(write));
}

/** The tools whose names have about the same letters as a word. */
function pick(word: string, indexes: readonly (ToolIndex | undefined)[], view: ScopeView): ToolEntry[] {
  const most = Math.ceil(maxCompared / Math.max(1, indexes.length));
  return indexes
    .flatMap((index) => index?.near.like(word, most) ?? [])
    .filter((tool) => view.shown(tool)?.status === "available");
}

function nameOf({ name, renamedTo = name }: ToolEntry): string {
  return renamedTo;
}
