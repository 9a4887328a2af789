import { isRecord } from "../lib/record.ts";
import { nearest } from "../lib/suggest.ts";
import type { ToolEntry } from "../index.ts";
import { viewOf } from "./exchange.ts";
import type { Answer, Client } from "./exchange.ts";
import { invalidParams } from "./failure.ts";
import type { Failure } from "./failure.ts";
import { editedResult, valueOf } from "./result.ts";
import { appUris, shownUri } from "./uris.ts";
import type { UriTable } from "./uris.ts";

/** The extension of MCP Apps. */
export const uiExtension = "io.modelcontextprotocol/ui";

/** True if the client shows apps: it keeps tools that only an app may call from its model. */
export function showsApps({ capabilities }: Pick<Client, "capabilities">): boolean {
  const { extensions } = capabilities;
  return isRecord(extensions) && isRecord(extensions[uiExtension]);
}

/**
 * The tool that an app calls by its server's own name. It is found among the servers whose pages this caller has read,
 * because a page knows nothing of our names. Throws if several of them have it.
 */
export async function appTool(
  name: string,
  client: Client,
): Promise<{ id: string; server: string; for: "app"; requiresTask?: boolean } | undefined> {
  const { endpoint } = client;
  if (!showsApps(client)) return undefined;
  const pages = endpoint.links(client);
  const tools = await viewOf(client).tools({ wait: false, for: "app" });
  const named = tools.filter((tool) => tool.name === name);
  const found = named.filter(({ server }) => pages.hasPage(server));
  const [first, second] = found;
  if (first && !second) return { id: first.id, server: first.server, for: "app" };
  if (named.length === 0) return undefined;
  const near = named.map((tool) => endpoint.names.ofTool(tool));
  throw invalidParams(`It is not certain which tool ${JSON.stringify(name)} means: ${near.join(" or ")}.`, {
    near,
  });
}

/** The tool that an app calls by its server's own name, if it is set aside and no other one could be meant. */
export async function withheldFromApp(name: string, client: Client): Promise<ToolEntry | undefined> {
  if (!showsApps(client)) return undefined;
  const pages = client.endpoint.links(client);
  const all = await viewOf(client).allTools({ wait: false, for: "app" });
  const named = all.filter((tool) => tool.name === name && tool.status !== "available");
  const ofPages = named.filter(({ server }) => pages.hasPage(server));
  const [first, second] = ofPages.length > 0 ? ofPages : named;
  return second === undefined ? first : undefined;
}

/**
 * A result with the page of its tool's app. A client finds it in the tool's definition, which it does not have if the tool
 * was called through another one.
 */
export function withApp(answer: Answer, { raw, server }: ToolEntry, table: UriTable): Answer {
  const [uri] = appUris(raw);
  if (uri === undefined || "error" in answer) return answer;
  const { _meta: meta, resultType = "complete" } = valueOf(answer);
  if (resultType !== "complete" || (isRecord(meta) && isRecord(meta["ui"]))) return answer;
  const ui = JSON.stringify({ resourceUri: shownUri(uri, server, table) });
  return editedResult(answer, new Map([["_meta", isRecord(meta) ? new Map([["ui", ui]]) : `{"ui":${ui}}`]]));
}

export async function unknownTool(name: string, client: Client): Promise<Failure> {
  const near = nearest(name, await client.endpoint.toolNames(client));
  const message = `There is no tool ${JSON.stringify(name.slice(0, 200))}.`;
  return near === undefined
    ? invalidParams(message)
    : invalidParams(`${message} Did you mean ${near}?`, { near: [near] });
}
