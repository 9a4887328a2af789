import { PlugboardError } from "../errors.ts";
import { nearest } from "../lib/suggest.ts";
import type { ToolEntry } from "./tool-entry.ts";

/** The tool that a person or a model means: its id, `server.tool`, `server/tool`, or a name that only one server has. */
export function matchTool(query: string, tools: readonly ToolEntry[]): ToolEntry | undefined {
  const exact = tools.find(({ id }) => id === query);
  if (exact) return exact;
  const short = tools.find(({ server, name, renamedTo = name }) =>
    [`${server}.`, `${server}/`].some((start) => query === start + name || query === start + renamedTo),
  );
  if (short) return short;
  const named = tools.filter(({ name, renamedTo }) => name === query || renamedTo === query);
  return named.length === 1 ? named[0] : undefined;
}

/** Says so, and what may have been meant. */
export function unknownTool(query: string, known: readonly ToolEntry[]): PlugboardError {
  const offered = known.filter(({ standing }) => standing === "offered");
  const twins = offered.filter(({ name }) => name === query);
  if (twins.length > 1) {
    const ids = twins.map(({ id }) => id);
    return new PlugboardError("tool-unknown", `Several servers have a tool "${query}".`, {
      tool: query,
      data: { near: ids },
      hint: `Say which: ${ids.slice(0, 5).join(" or ")}.`,
    });
  }
  const near = nearest(
    query,
    offered.flatMap(({ id, name, server }) => [id, name, `${server}.${name}`]),
  );
  return new PlugboardError("tool-unknown", `There is no tool "${query}".`, {
    tool: query,
    ...(near && { data: { near: [near] }, hint: `Did you mean ${near}?` }),
  });
}
