import { addEdit } from "../lib/json-edit.ts";
import type { JsonEdits } from "../lib/json-edit.ts";
import { isRecord } from "../lib/record.ts";
import type { Answer, Exchange } from "./exchange.ts";
import { editedResult, valueOf } from "./result.ts";
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
  const links = linksIn(valueOf(answer));
  if (links.length === 0) return answer;
  const table = await client.endpoint.uris(client);
  const given = client.endpoint.links(client);
  const edits: JsonEdits = new Map();
  for (const { uri, path } of links) {
    given.add(uri, server);
    const shown = shownUri(uri, server, table);
    if (shown !== uri) addEdit(edits, path, JSON.stringify(shown));
  }
  return edits.size === 0 ? answer : editedResult(answer, edits);
}

function mayHaveLinks(answer: Result, method: string): boolean {
  if (method !== "tools/call" && method !== "prompts/get" && method !== "resources/read") return false;
  if (!("bytes" in answer)) return true;
  // The last is for `ui/resourceUri`, the other spelling of an app's page.
  return ['"resource', '"uri"', 'resourceUri"'].some((part) => answer.bytes.includes(part));
}

interface Link {
  uri: string;
  /** Where it stands in the result. */
  path: Path;
}

type Path = readonly (string | number)[];

/** The URIs in the parts of a result. */
function linksIn(result: Record<string, unknown>): Link[] {
  const { content, contents, messages } = result;
  const parts = [
    ...partsAt(content, ["content"]),
    ...entriesAt(messages, ["messages"]).flatMap(({ value, path }) =>
      partsAt(value["content"], [...path, "content"]),
    ),
  ];
  const links = entriesAt(contents, ["contents"]).flatMap(linkAt);
  for (const { value, path } of parts) {
    if (value["type"] === "resource_link") links.push(...linkAt({ value, path }));
    const { resource } = value;
    if (value["type"] === "resource" && isRecord(resource))
      links.push(...linkAt({ value: resource, path: [...path, "resource"] }));
  }
  return [...links, ...appLinks(result)];
}

interface Entry {
  value: Record<string, unknown>;
  path: Path;
}

function entriesAt(list: unknown, path: Path): Entry[] {
  if (!Array.isArray(list)) return [];
  return list.flatMap((value: unknown, index) =>
    isRecord(value) ? [{ value, path: [...path, index] }] : [],
  );
}

/** The content of a message may be one part or a list of them. */
function partsAt(content: unknown, path: Path): Entry[] {
  return isRecord(content) && path.length > 1 ? [{ value: content, path }] : entriesAt(content, path);
}

function linkAt({ value: { uri }, path }: Entry): Link[] {
  return typeof uri === "string" ? [{ uri, path: [...path, "uri"] }] : [];
}

function appLinks({ _meta: meta }: Record<string, unknown>): Link[] {
  if (!isRecord(meta)) return [];
  const { ui, "ui/resourceUri": flat } = meta;
  const uri = isRecord(ui) ? ui["resourceUri"] : undefined;
  return [
    ...(typeof flat === "string" ? [{ uri: flat, path: ["_meta", "ui/resourceUri"] }] : []),
    ...(typeof uri === "string" ? [{ uri, path: ["_meta", "ui", "resourceUri"] }] : []),
  ];
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
