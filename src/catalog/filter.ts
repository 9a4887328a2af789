import { PlugboardError } from "../errors.ts";
import { matchesAny } from "../lib/glob.ts";
import type { Use } from "../servers/connection-key.ts";

/** What is visible: some servers, tools, or a bundle. */
export interface Filter {
  servers?: readonly string[] | undefined;
  exclude?: readonly string[] | undefined;
  /** Globs over tool ids and the servers' own names. */
  tools?: readonly string[] | undefined;
  bundle?: string | undefined;
  /** More globs, each list of which must match too: what the views above this one allow. */
  alsoTools?: readonly (readonly string[])[] | undefined;
}

/** What is visible, and on whose behalf it is used. One object for each view. */
export interface Scope {
  readonly filter: Filter;
  readonly use: Use;
}

/** What both allow. Two bundles have no common meaning, so the second one is refused. */
export function narrow(outer: Filter, inner: Filter): Filter {
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
    tools: inner.tools ?? outer.tools,
    alsoTools: [...(outer.alsoTools ?? []), ...(outer.tools && inner.tools ? [outer.tools] : [])],
  };
}

/** Whether the globs of a filter let a tool through. */
export function matchesTools({ tools, alsoTools = [] }: Filter, id: string, name: string): boolean {
  const matches = (globs: readonly string[]) => matchesAny(globs, id) || matchesAny(globs, name);
  return (tools === undefined || matches(tools)) && alsoTools.every(matches);
}
