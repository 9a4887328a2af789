import type { Attributes } from "@opentelemetry/api";
import type { ServedRequest, TracedPeer } from "../host.ts";
import { isRecord } from "../lib/record.ts";
import type { Failed } from "./outcome.ts";
import { shownUri } from "./safe-uri.ts";

const longest = 256;
/** Of a longer text, not all of a credential in it may be seen: the rest of it is not looked at. */
const longestRead = 8_192;

/** The tool or prompt that a request is about, without credentials of its server. */
export function targetOf(request: ServedRequest): string | undefined {
  const name = namedBy(request);
  return name && redacted(name, request.peer).slice(0, longest);
}

/** True if a credential had to be taken out of it. */
export function hidesTarget(request: ServedRequest): boolean {
  const name = namedBy(request);
  return name !== undefined && redacted(name, request.peer) !== name;
}

function namedBy({ method, params }: ServedRequest): string | undefined {
  return method === "tools/call" ? nameIn(params) : promptOf(method, params);
}

function redacted(text: string, peer: TracedPeer): string {
  return peer.redact?.(text) ?? text;
}

/** The URI that a request is about. */
export function uriOf({ method, params: { uri } }: ServedRequest): string | undefined {
  return method.startsWith("resources/") && typeof uri === "string" ? uri : undefined;
}

/** What is shown of it; only who knows the server's credentials can tell. */
export function uriAttribute(uri: string, { redact }: TracedPeer): Attributes | undefined {
  return redact && { "mcp.resource.uri": shownUri(uri, redact) };
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
  attributes["mcp.method.name"] = methods.has(method) ? method : "_OTHER";
  return addPeer(attributes, peer);
}

/** Clients and extensions can have others, which must not become series of a metric. */
const methods: ReadonlySet<string> = new Set(
  [
    [
      "initialize",
      "ping",
      "server/discover",
      "completion/complete",
      "logging/setLevel",
      "subscriptions/listen",
    ],
    ["tools/list", "tools/call", "prompts/list", "prompts/get", "resources/list", "resources/read"],
    ["resources/templates/list", "resources/subscribe", "resources/unsubscribe"],
    ["tasks/get", "tasks/result", "tasks/list", "tasks/cancel", "tasks/update"],
    ["roots/list", "elicitation/create", "sampling/createMessage"],
  ].flat(),
);

/** The name of a request's method, however it is called. */
export function methodOf({ method }: ServedRequest): string {
  return method.slice(0, longest);
}

/** What tells one request from another: for its span only, beside `metricAttributes`. */
export function spanAttributes({ id, method, peer }: ServedRequest): Attributes {
  const attributes: Attributes = { "jsonrpc.request.id": String(id).slice(0, longest) };
  if (!methods.has(method)) attributes["mcp.method.name"] = method.slice(0, longest);
  if (peer.sessionId !== undefined) attributes["mcp.session.id"] = redacted(peer.sessionId, peer);
  return attributes;
}

/** How the other side is reached. */
export function peerAttributes(peer: TracedPeer): Attributes {
  return addPeer({}, peer);
}

function addPeer(attributes: Attributes, peer: TracedPeer): Attributes {
  const { transport, version, url } = peer;
  const isHttp = transport === "http" || transport === "sse";
  if (version !== undefined) attributes["mcp.protocol.version"] = redacted(version, peer);
  if (isHttp) attributes["network.protocol.name"] = "http";
  if (transport !== "memory") attributes["network.transport"] = isHttp ? "tcp" : "pipe";
  if (url) {
    const { hostname, port, protocol } = url;
    const address = hostname.startsWith("[") ? hostname.slice(1, -1) : hostname;
    attributes["server.address"] = redacted(address, peer);
    attributes["server.port"] = Number(port) || (protocol === "http:" ? 80 : 443);
  }
  return attributes;
}

/** The attributes of a failed request for metrics: what a client or a server made up becomes no series. */
export function failedAttributes(attributes: Attributes, { type, code }: Failed): Attributes {
  if (code === undefined) return { ...attributes, "error.type": type };
  const known = knownCodes.has(code) ? code : "_OTHER";
  return {
    ...withoutUnknown(attributes, code),
    "error.type": known,
    "rpc.response.status_code": known,
  };
}

/** Of JSON-RPC, MCP and its SDKs. */
const knownCodes: ReadonlySet<string> = new Set(
  [
    -32_700, -32_600, -32_601, -32_602, -32_603, -32_000, -32_001, -32_002, -32_003, -32_004, -32_020,
    -32_021, -32_022, -32_042, -32_800,
  ].map(String),
);

/** A client may ask for anything; what there is not must not become one more series of a metric. */
function withoutUnknown(attributes: Attributes, code: string | undefined): Attributes {
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
  return typeof name === "string" ? name.slice(0, longestRead) : undefined;
}
