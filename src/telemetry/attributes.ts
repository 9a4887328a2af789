import type { Attributes } from "@opentelemetry/api";
import type { ServedRequest, TracedPeer } from "../index.ts";
import { isRecord } from "../lib/record.ts";
import { hidden, looksSecretParameter } from "../lib/secret-words.ts";

/** What a request is about, in few different values: for metrics, and for the name of its span. */
export interface RequestFacts {
  method: string;
  /** The tool or prompt. */
  target: string | undefined;
  attributes: Attributes;
}

const longest = 256;

export function requestFacts({ method: asked, params, peer }: ServedRequest): RequestFacts {
  const method = asked.slice(0, longest);
  const tool = method === "tools/call" ? nameIn(params) : undefined;
  const prompt = promptOf(method, params);
  const attributes = { "mcp.method.name": method, ...peerAttributes(peer) } as Attributes;
  if (tool !== undefined) attributes["gen_ai.tool.name"] = tool;
  if (method === "tools/call") attributes["gen_ai.operation.name"] = "execute_tool";
  if (prompt !== undefined) attributes["gen_ai.prompt.name"] = prompt;
  return { method, target: tool ?? prompt, attributes };
}

/** What tells one request from another: for its span only. */
export function spanAttributes({ id, method, params, peer }: ServedRequest): Attributes {
  const attributes: Attributes = { "jsonrpc.request.id": String(id).slice(0, longest) };
  if (peer.sessionId !== undefined) attributes["mcp.session.id"] = peer.sessionId;
  const { uri } = params;
  if (method.startsWith("resources/") && typeof uri === "string")
    attributes["mcp.resource.uri"] = shownUri(uri);
  return attributes;
}

/** How the other side is reached. */
export function peerAttributes({ transport, version, url }: TracedPeer): Attributes {
  const attributes: Attributes = {};
  if (version !== undefined) attributes["mcp.protocol.version"] = version;
  if (transport === "stdio") attributes["network.transport"] = "pipe";
  if (transport === "http" || transport === "sse") {
    attributes["network.transport"] = "tcp";
    attributes["network.protocol.name"] = "http";
  }
  if (url) {
    attributes["server.address"] = url.hostname.replace(/^\[|\]$/g, "");
    attributes["server.port"] = Number(url.port) || (url.protocol === "http:" ? 80 : 443);
  }
  return attributes;
}

/** A client may ask for anything; what there is not must not become one more series of a metric. */
export function withoutUnknown(attributes: Attributes, code: string | undefined): Attributes {
  if (code !== "-32601" && code !== "-32602") return attributes;
  const { "gen_ai.tool.name": _tool, "gen_ai.prompt.name": _prompt, ...rest } = attributes;
  return code === "-32601" ? { ...rest, "mcp.method.name": "_OTHER" } : rest;
}

function promptOf(method: string, params: ServedRequest["params"]): string | undefined {
  if (method === "prompts/get") return nameIn(params);
  const { ref } = params;
  const isOfPrompt = method === "completion/complete" && isRecord(ref) && ref["type"] === "ref/prompt";
  return isOfPrompt ? nameIn(ref) : undefined;
}

function nameIn({ name }: Readonly<Record<string, unknown>>): string | undefined {
  return typeof name === "string" ? name.slice(0, longest) : undefined;
}

/** A URI without credentials: some resources are links that are signed, or contain a login. */
function shownUri(uri: string): string {
  const url = uri.length <= longestUri ? URL.parse(uri) : undefined;
  const secret = url ? [...url.searchParams.keys()].filter(looksSecretParameter) : [];
  if (url && (url.password !== "" || secret.length > 0)) {
    url.password = "";
    for (const name of secret) url.searchParams.set(name, hidden);
    return url.href;
  }
  return uri.slice(0, longestUri);
}

const longestUri = 1_024;
