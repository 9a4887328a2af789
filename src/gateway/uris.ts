import type { View } from "../index.ts";
import { isRecord } from "../lib/record.ts";
import { matchesTemplate } from "./uri-template.ts";

/** Which servers have which URIs, as far as this caller's lists say. */
export interface UriTable {
  owners: ReadonlyMap<string, readonly string[]>;
  templates: readonly { server: string; template: string }[];
}

export async function readUris(view: View): Promise<UriTable> {
  const [resources, templates, tools, appTools] = await Promise.all([
    view.resources({ wait: false }),
    view.resourceTemplates({ wait: false }),
    view.tools({ wait: false }),
    view.tools({ wait: false, for: "app" }),
  ]);
  const owners = new Map<string, Set<string>>();
  const add = (uri: unknown, server: string) => {
    if (typeof uri !== "string") return;
    const servers = owners.get(uri) ?? new Set();
    owners.set(uri, servers.add(server));
  };
  for (const { server, raw } of resources) add(raw["uri"], server);
  // The page of an app need not be listed: its tools name it.
  for (const { server, raw } of [...tools, ...appTools]) for (const uri of appUris(raw)) add(uri, server);
  for (const { server, raw } of templates) add(raw["uriTemplate"], server);
  return {
    owners: new Map([...owners].map(([uri, servers]) => [uri, [...servers]])),
    templates: templates.map(({ server, raw }) => ({ server, template: String(raw["uriTemplate"]) })),
  };
}

/** The pages that a tool or result names in `_meta`, in both spellings. */
export function appUris({ _meta: meta }: Record<string, unknown>): string[] {
  if (!isRecord(meta)) return [];
  const ui = isRecord(meta["ui"]) ? meta["ui"]["resourceUri"] : undefined;
  return [ui, meta["ui/resourceUri"]].filter((uri) => typeof uri === "string");
}

const mark = "#plugboard=";

/** The URI as clients see it: as the server wrote it, unless several servers have the same one. */
export function shownUri(uri: string, server: string, { owners }: UriTable): string {
  return (owners.get(uri)?.length ?? 0) > 1 ? `${uri}${mark}${encodeURIComponent(server)}` : uri;
}

/** Takes the server's name off a URI that clients got from `shownUri`. */
export function readShownUri(shown: string): { uri: string; server?: string } {
  const at = shown.lastIndexOf(mark);
  if (at === -1) return { uri: shown };
  try {
    return { uri: shown.slice(0, at), server: decodeURIComponent(shown.slice(at + mark.length)) };
  } catch {
    return { uri: shown };
  }
}

/** The servers that a URI may belong to: those that list it, else those with a template for it. */
export function candidates(uri: string, { owners, templates }: UriTable): readonly string[] {
  const listed = owners.get(uri);
  if (listed) return listed;
  const matching = templates.filter(({ template }) => matchesTemplate(template, uri));
  return [...new Set(matching.map(({ server }) => server))];
}
