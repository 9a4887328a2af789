import { PlugboardError, isPlugboardError } from "../errors.ts";
import type { Meant } from "./meant.ts";
import { toolId } from "./names.ts";
import type { Naming } from "./names.ts";
import type { ScopeView } from "./scope-view.ts";
import type { ToolEntry } from "./tool-entry.ts";
import type { ToolIndex } from "./tool-index.ts";
import { suggestTool } from "./suggest-tool.ts";

/** The catalog to search. */
export interface ToolsPlace {
  /** The current view: the configuration may change while servers are asked. */
  readonly view: ScopeView;
  readonly naming: Naming;
  /** The known tools of a server, however old. */
  known(server: string): Promise<ToolIndex | undefined>;
  /** A fresh enough list; undefined if nothing is known and the server fails. */
  read(server: string): Promise<ToolIndex | undefined>;
  /** A list that the server has confirmed; throws the server's error if it fails. */
  confirmed(server: string): Promise<ToolIndex>;
}

/**
 * Finds a tool at one of the servers in the query. A known list is enough to find it, but a tool is only reported as
 * missing if the server has confirmed its list.
 */
export async function findMeant(
  query: string,
  meant: readonly Meant[],
  place: ToolsPlace,
  mayAsk: boolean,
): Promise<ToolEntry> {
  for (const one of meant) {
    const found = look(query, one, await place.known(one.server), place);
    if (found) return found;
  }
  let failure: PlugboardError | undefined;
  for (const one of mayAsk ? meant : []) {
    try {
      const found = look(query, one, await place.confirmed(one.server), place);
      if (found) return found;
    } catch (error) {
      if (!isPlugboardError(error) || isPlugboardError(error, "call-cancelled")) throw error;
      failure = error;
    }
  }
  throw failure ?? (await unknownTool(query, meant, place));
}

/** Finds a tool by a bare name that only one server has. This needs all lists, so servers may be asked. */
export async function findByName(query: string, place: ToolsPlace, mayAsk: boolean): Promise<ToolEntry> {
  const indexes = await Promise.all(
    place.view.names.map((server) => (mayAsk ? place.read(server) : place.known(server))),
  );
  const named = toolsNamed(query, indexes, place);
  const available = named.filter(({ status }) => status === "available");
  const [only] = available.length === 1 ? available : named.length === 1 ? named : [];
  const silent = place.view.names.filter((_, at) => indexes[at] === undefined);
  if (only && silent.length > 0) throw uncertain("tool", query, only.id, silent);
  if (only) return only;
  throw await unknownTool(query, [], place);
}

/** A name that one server has may be another's, too: it is not guessed while the lists of others are unknown. */
export function uncertain(
  what: "tool" | "prompt",
  query: string,
  id: string,
  silent: readonly string[],
): PlugboardError {
  const some = silent.slice(0, 5).map((server) => `"${server}"`);
  const others = silent.length > 5 ? ` and ${silent.length - 5} more servers` : "";
  const message = `It is not certain which ${what} "${query}" means: the ${what}s of ${some.join(", ")}${others} are not known.`;
  return new PlugboardError("tool-unknown", message, {
    ...(what === "tool" && { tool: query }),
    data: { near: [id], unknown: silent.slice(0, 50) },
    hint: `Say which: ${id}.`,
  });
}

function look(
  query: string,
  { server, name }: Meant,
  index: ToolIndex | undefined,
  { view, naming }: ToolsPlace,
): ToolEntry | undefined {
  if (!index) return undefined;
  const entry =
    name === undefined
      ? index.byId.get(query)
      : (index.byId.get(toolId(server, name, naming)) ?? index.byName.get(name));
  return entry && view.shown(entry);
}

function toolsNamed(
  name: string,
  indexes: readonly (ToolIndex | undefined)[],
  { view }: ToolsPlace,
): ToolEntry[] {
  return indexes.flatMap((index) => {
    const entry = index?.byName.get(name);
    return (entry && view.shown(entry)) ?? [];
  });
}

const longestName = 200;

/** The error for an unknown or ambiguous name, with a suggestion. */
export async function unknownTool(
  query: string,
  meant: readonly Meant[],
  place: ToolsPlace,
): Promise<PlugboardError> {
  const { view } = place;
  // Models make names up, of any length.
  const tool = query.length > longestName ? `${query.slice(0, longestName)}…` : query;
  const indexes = await Promise.all(view.names.map((server) => place.known(server)));
  const twins = toolsNamed(query, indexes, place).filter(({ status }) => status === "available");
  if (twins.length > 1) {
    const ids = twins.map(({ id }) => id);
    return new PlugboardError("tool-unknown", `Several servers have a tool "${tool}".`, {
      tool,
      data: { near: ids },
      hint: `Say which: ${ids.slice(0, 5).join(" or ")}.`,
    });
  }
  const near = suggestTool(query, meant, view, indexes);
  return new PlugboardError("tool-unknown", `There is no tool "${tool}".`, {
    tool,
    ...(near !== undefined && { data: { near: [near] }, hint: `Did you mean ${near}?` }),
  });
}
