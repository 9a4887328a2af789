import { PlugboardError } from "../../index.ts";
import type { ListedEntry, ResourceContents, View } from "../../index.ts";

/** A resource, or a template of resources, as its server listed it. */
type Listed = Record<string, unknown>;

/** Resources of all servers by URIs alone, for SDKs that know one server. A URI that several servers have names its server. */
export class AgentResources {
  readonly #view: View;

  constructor(view: View) {
    this.#view = view;
  }

  async resources(): Promise<Listed[]> {
    return shown(await this.#view.resources(), "uri");
  }

  async templates(): Promise<Listed[]> {
    return shown(await this.#view.resourceTemplates(), "uriTemplate");
  }

  /** Reads a resource by a URI of these lists, or one that is made from a template. */
  async read(given: string): Promise<ResourceContents> {
    const { uri, server } = readMark(given);
    if (server !== undefined) return this.#view.readResource(server, uri);
    const owners = await this.#ownersOf(uri);
    const [owner] = owners;
    if (owner !== undefined && owners.length === 1) return this.#view.readResource(owner, uri);
    const shownUri = JSON.stringify(uri.slice(0, 200));
    const message =
      owner === undefined
        ? `No server lists the resource ${shownUri}.`
        : `Several servers have the resource ${shownUri}.`;
    const marked = owners.slice(0, 5).map((name) => withMark(uri, name));
    throw new PlugboardError("usage-invalid", message, {
      advice:
        owner === undefined ? "Take one from the list of resources." : `Say which: ${marked.join(" or ")}.`,
    });
  }

  async #ownersOf(uri: string): Promise<string[]> {
    const listed = await this.#view.resources();
    const exact = listed.filter(({ raw }) => raw["uri"] === uri);
    if (exact.length > 0) return serversOf(exact);
    const templates = await this.#view.resourceTemplates();
    return serversOf(templates.filter(({ raw }) => beginsLike(raw["uriTemplate"], uri)));
  }
}

function shown(entries: readonly ListedEntry[], field: "uri" | "uriTemplate"): Listed[] {
  const counts = new Map<unknown, number>();
  for (const { raw } of entries) counts.set(raw[field], (counts.get(raw[field]) ?? 0) + 1);
  return entries.map(({ server, raw }) => {
    const uri = raw[field];
    const isShared = typeof uri === "string" && (counts.get(uri) ?? 0) > 1;
    return isShared ? { ...raw, [field]: withMark(uri, server) } : { ...raw };
  });
}

function serversOf(entries: readonly ListedEntry[]): string[] {
  return [...new Set(entries.map(({ server }) => server))];
}

/** A template says for certain only how its URIs begin. */
function beginsLike(template: unknown, uri: string): boolean {
  const [beginning = ""] = typeof template === "string" ? template.split("{", 1) : [];
  return beginning !== "" && uri.startsWith(beginning);
}

/** The gateway writes it the same way. */
const mark = "#plugboard=";

function withMark(uri: string, server: string): string {
  return `${uri}${mark}${encodeURIComponent(server)}`;
}

function readMark(given: string): { uri: string; server?: string } {
  const at = given.lastIndexOf(mark);
  if (at === -1) return { uri: given };
  try {
    return { uri: given.slice(0, at), server: decodeURIComponent(given.slice(at + mark.length)) };
  } catch {
    return { uri: given };
  }
}
