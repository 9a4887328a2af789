import { isRecord } from "../lib/record.ts";
import type { Answer, Exchange } from "./exchange.ts";
import { valueOf } from "./result.ts";
import type { Result } from "./result.ts";
import { appUris, shownUri } from "./uris.ts";
import type { UriTable } from "./uris.ts";

/**
 * Remembers which URIs a server gave this caller, so that links work, and marks those that several servers have. Results
 * without links pass as they came.
 */
export function withLinks(
  answer: Answer,
  server: string,
  { client, method }: Pick<Exchange, "client" | "method">,
): Answer | Promise<Answer> {
  const hasNone =
    "error" in answer || client.endpoint.onlyServer() !== undefined || !mayHaveLinks(answer, method);
  return hasNone ? answer : rememberLinks(answer, server, client);
}

async function rememberLinks(answer: Result, server: string, client: Exchange["client"]): Promise<Answer> {
  const value = valueOf(answer);
  const links = linksIn(value);
  if (links.length === 0) return answer;
  const table = await client.endpoint.uris(client);
  const given = client.endpoint.links(client);
  let isChanged = false;
  for (const { uri, set } of links) {
    given.add(uri, server);
    const shown = shownUri(uri, server, table);
    if (shown === uri) continue;
    set(shown);
    isChanged = true;
  }
  return isChanged ? { result: value } : answer;
}

function mayHaveLinks(answer: Result, method: string): boolean {
  if (method !== "tools/call" && method !== "prompts/get" && method !== "resources/read") return false;
  if (!("bytes" in answer)) return true;
  // The last is for `ui/resourceUri`, the other spelling of an app's page.
  return ['"resource', '"uri"', 'resourceUri"'].some((part) => answer.bytes.includes(part));
}

interface Link {
  uri: string;
  set(uri: string): void;
}

/** The URIs in the parts of a result, each with how to change it. */
function linksIn(result: Record<string, unknown>): Link[] {
  const { content, contents, messages } = result;
  const parts = [
    ...(Array.isArray(content) ? content : []),
    ...(Array.isArray(messages)
      ? messages.flatMap((one) => (isRecord(one) ? [one["content"]].flat() : []))
      : []),
  ].filter(isRecord);
  const links = [...(Array.isArray(contents) ? contents : [])].filter(isRecord).flatMap(linkOf);
  for (const part of parts) {
    if (part["type"] === "resource_link") links.push(...linkOf(part));
    if (part["type"] === "resource" && isRecord(part["resource"])) links.push(...linkOf(part["resource"]));
  }
  return [...links, ...appLinks(result)];
}

function linkOf(holder: Record<string, unknown>): Link[] {
  const { uri } = holder;
  return typeof uri === "string" ? [{ uri, set: (shown) => Object.assign(holder, { uri: shown }) }] : [];
}

function appLinks(holder: Record<string, unknown>): Link[] {
  return [...new Set(appUris(holder))].map((uri) => ({
    uri,
    set: (shown) => Object.assign(holder, { _meta: withAppUri(holder["_meta"], uri, shown) }),
  }));
}

/** A tool or result whose app's page has another URI here. */
export function withShownApp(
  raw: Record<string, unknown>,
  server: string,
  table: UriTable,
): Record<string, unknown> {
  let meta = raw["_meta"];
  for (const uri of appUris(raw)) {
    const shown = shownUri(uri, server, table);
    if (shown !== uri) meta = withAppUri(meta, uri, shown);
  }
  return meta === raw["_meta"] ? raw : { ...raw, _meta: meta };
}

function withAppUri(meta: unknown, uri: string, shown: string): unknown {
  if (!isRecord(meta)) return meta;
  const { ui } = meta;
  return {
    ...meta,
    ...(meta["ui/resourceUri"] === uri && { "ui/resourceUri": shown }),
    ...(isRecord(ui) && ui["resourceUri"] === uri && { ui: { ...ui, resourceUri: shown } }),
  };
}
