import type { Attributes } from "@opentelemetry/api";
import type { ServedRequest, TracedPeer } from "../index.ts";
import { isRecord } from "../lib/record.ts";
import { hidden, looksSecretParameter } from "../lib/secret-words.ts";

const longest = 256;

/** The tool or prompt that a request is about. */
export function targetOf({ method, params }: ServedRequest): string | undefined {
  return method === "tools/call" ? nameIn(params) : promptOf(method, params);
}

/**
 * What a request is about, in few different values: for metrics, and a part of what its span says. In the order of their
 * names, by which the SDK would sort them for every measurement.
 */
export function metricAttributes({ method, peer }: ServedRequest, target: string | undefined): Attributes {
  const isCall = method === "tools/call";
  const attributes: Attributes = {};
  if (isCall) attributes["gen_ai.operation.name"] = "execute_tool";
  if (target !== undefined) attributes[isCall ? "gen_ai.tool.name" : "gen_ai.prompt.name"] = target;
  attributes["mcp.method.name"] = method.slice(0, longest);
  return addPeer(attributes, peer);
}

/** What tells one request from another: for its span only. */
export function spanAttributes({ id, method, params, peer }: ServedRequest): Attributes {
  const attributes: Attributes = { "jsonrpc.request.id": String(id).slice(0, longest) };
  if (peer.sessionId !== undefined) attributes["mcp.session.id"] = peer.sessionId;
  if (method.startsWith("resources/") && typeof params["uri"] === "string")
    attributes["mcp.resource.uri"] = shownUri(params["uri"]);
  return attributes;
}

/** How the other side is reached. */
export function peerAttributes(peer: TracedPeer): Attributes {
  return addPeer({}, peer);
}

function addPeer(attributes: Attributes, { transport, version, url }: TracedPeer): Attributes {
  const isHttp = transport === "http" || transport === "sse";
  if (version !== undefined) attributes["mcp.protocol.version"] = version;
  if (isHttp) attributes["network.protocol.name"] = "http";
  if (transport !== "memory") attributes["network.transport"] = isHttp ? "tcp" : "pipe";
  if (url) {
    const { hostname, port, protocol } = url;
    attributes["server.address"] = hostname.startsWith("[") ? hostname.slice(1, -1) : hostname;
    attributes["server.port"] = Number(port) || (protocol === "http:" ? 80 : 443);
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
