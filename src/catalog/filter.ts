import { PlugboardError } from "../errors.ts";
import { matchesAny } from "../lib/glob.ts";
import type { Audience } from "./audience.ts";
import type { Use } from "../servers/connection-key.ts";

/** Restricts a view to some servers, tools, or a bundle. */
export interface Filter {
  servers?: readonly string[] | undefined;
  exclude?: readonly string[] | undefined;
  /** Globs for tool ids and for the servers' own tool names. */
  tools?: readonly string[] | undefined;
  bundle?: string | undefined;
  /** Who calls: a model (the default), or the user interface of an MCP App, which some tools are only for. */
  for?: Audience | undefined;
  /** The globs of the parent views; each list must match too. */
  alsoTools?: readonly (readonly string[])[] | undefined;
}

/** What is visible, and who uses it. One object per view. */
export interface Scope {
  readonly filter: Filter;
  readonly use: Use;
}

/**
 * Combines two filters; only what both allow stays visible. Throws for two bundles or two audiences, which cannot be
 * combined.
 */
export function narrow(outer: Filter, inner: Filter): Filter {
  if (outer.for !== undefined && inner.for !== undefined && outer.for !== inner.for)
    throw new PlugboardError("usage-invalid", `This view is already for the ${outer.for}.`);
  if (outer.bundle !== undefined && inner.bundle !== undefined && outer.bundle !== inner.bundle) {
    throw new PlugboardError(
      "usage-invalid",
      `This view is already narrowed to the bundle "${outer.bundle}".`,
    );
  }
  const servers =
    outer.servers && inner.servers
      ? inner.servers.filter((one) => outer.servers?.includes(one))
      : (inner.servers ?? outer.servers);
  return {
    ...(servers && { servers }),
    exclude: [...(outer.exclude ?? []), ...(inner.exclude ?? [])],
    bundle: outer.bundle ?? inner.bundle,
    for: outer.for ?? inner.for,
    tools: inner.tools ?? outer.tools,
    alsoTools: [...(outer.alsoTools ?? []), ...(outer.tools && inner.tools ? [outer.tools] : [])],
  };
}

/** True if a tool matches the globs of a filter. */
export function matchesTools({ tools, alsoTools = [] }: Filter, id: string, name: string): boolean {
  const matches = (globs: readonly string[]) => matchesAny(globs, id) || matchesAny(globs, name);
  return (tools === undefined || matches(tools)) && alsoTools.every(matches);
}
