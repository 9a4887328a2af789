import type { IncomingMessage, ServerResponse } from "node:http";
import type { EventStream } from "./event-stream.ts";
import type { Incoming } from "./exchange.ts";
import type { FakeServer } from "./fake-server.ts";
import { HttpOutlet, type HttpHost } from "./http-outlet.ts";
import { type Era, isAnswer, isFields, isModern, requestId, revisions, RpcError } from "./protocol.ts";

/** What the HTTP side remembers; a restart forgets it. */
export interface HttpState extends HttpHost {
  readonly server: FakeServer;
  /** Sessions of Streamable HTTP, each with its GET stream if there is one. */
  readonly sessions: Map<string, EventStream | undefined>;
  /** Streams of HTTP+SSE by session. */
  readonly pushes: Map<string, EventStream>;
  stream(name: string): EventStream | undefined;
  newSession(): string;
  requests: number;
  /** How often everything was forgotten. */
  generation: number;
}

export async function route(
  state: HttpState,
  request: IncomingMessage,
  response: ServerResponse,
  body: string,
): Promise<void> {
  const url = new URL(request.url ?? "/", "http://fake");
  const verb = request.method ?? "GET";
  const http = { verb, path: url.pathname, headers: request.headers };
  const message = verb === "POST" ? parse(body) : undefined;
  const incoming: Incoming = { http, ...(isFields(message) && { message }) };
  const session = header(request, "mcp-session-id");
  const version = header(request, "mcp-protocol-version");
  const modern = version !== undefined && isModern(version);
  const push =
    url.pathname === "/messages" ? state.pushes.get(url.searchParams.get("sessionId") ?? "") : undefined;
  const outlet = new HttpOutlet(state, response, {
    scope: url.searchParams.get("sessionId") ?? session ?? (modern ? `request-${++state.requests}` : "http"),
    primed: state.script.resumable === true && (version ?? "") >= "2025-11-25" && !modern,
    ...(push !== undefined && { push }),
  });

  const place = `${verb} ${url.pathname}`;
  if (place === "POST /mcp") incoming.gate = (era) => checkPost(state, request, incoming, outlet, era);
  if (place === "POST /messages" && push === undefined)
    incoming.gate = () => fail(404, -32001, "Session not found");
  incoming.instead = () => {
    if (place === "GET /mcp") return outlet.adopt(openStandalone(state, request, response));
    if (place === "DELETE /mcp") {
      checkSession(state, request, 405);
      state.sessions.delete(session ?? "");
      return void response.writeHead(200).end();
    }
    if (place === "GET /sse" && revisions(state.script, "legacy").length > 0) {
      return outlet.adopt(openPush(state, response));
    }
    if (place === "POST /mcp" || place === "POST /messages") {
      if (answersModern)
        fail(400, -32600, "Bad Request: JSON-RPC responses cannot be posted to this endpoint");
      return Array.isArray(message)
        ? fail(400, -32600, "Invalid Request: batches are not supported")
        : fail(400, -32700, "Parse error: Invalid JSON");
    }
    const known = ["/mcp", "/sse", "/messages"].includes(url.pathname);
    return known ? fail(405, -32000, "Method not allowed.") : fail(404, -32000, "Not Found");
  };
  const answersModern = isAnswer(message) && revisions(state.script, "legacy").length === 0;
  if (place === "POST /sse" || answersModern) delete incoming.message;

  const id = requestId(incoming.message);
  const { generation } = state;
  // In the modern era a client cancels a request by leaving.
  response.once("close", () => {
    const left = !response.writableFinished && !outlet.dropped && state.generation === generation;
    if (modern && id !== undefined && left) state.server.cancel(outlet.scope, id);
  });
  await state.server.receive(incoming, outlet);
}

function checkPost(
  state: HttpState,
  request: IncomingMessage,
  { message }: Incoming,
  outlet: HttpOutlet,
  era: Era,
): void {
  if (!/^application\/json\b/i.test(header(request, "content-type") ?? "")) {
    fail(415, -32000, "Unsupported Media Type: Content-Type must be application/json");
  }
  if (era === "modern") return;
  const accept = header(request, "accept") ?? "";
  if (!accept.includes("application/json") || !accept.includes("text/event-stream")) {
    fail(406, -32000, "Not Acceptable: Client must accept both application/json and text/event-stream");
  }
  const begins = message?.["method"] === "initialize";
  if (!begins) checkSession(state, request);
  if (state.script.sessions === false) return;
  outlet.head(undefined, {
    "mcp-session-id": begins ? state.newSession() : (header(request, "mcp-session-id") ?? ""),
  });
}

/** Throws what is wrong with the session and version of a legacy request. */
function checkSession(state: HttpState, request: IncomingMessage, withoutSessions?: number): void {
  const speaksLegacy = revisions(state.script, "legacy").length > 0;
  if (withoutSessions !== undefined && (state.script.sessions === false || !speaksLegacy)) {
    fail(withoutSessions, -32000, "Method not allowed.");
  }
  const session = header(request, "mcp-session-id");
  if (state.script.sessions !== false) {
    if (session === undefined) fail(400, -32000, "Bad Request: Mcp-Session-Id header is required");
    if (!state.sessions.has(session ?? "")) fail(404, -32001, "Session not found");
  }
  const version = header(request, "mcp-protocol-version");
  const spoken = revisions(state.script, "legacy");
  if (version !== undefined && !spoken.includes(version)) {
    fail(
      400,
      -32000,
      `Bad Request: Unsupported protocol version: ${version} (supported versions: ${spoken.join(", ")})`,
    );
  }
}

function openStandalone(state: HttpState, request: IncomingMessage, response: ServerResponse): EventStream {
  checkSession(state, request, 405);
  const scope = header(request, "mcp-session-id") ?? "http";
  const headers = { "mcp-session-id": scope };
  const [name = "", after] = (header(request, "last-event-id") ?? "").split(":");
  const resumed = state.stream(name);
  if (resumed !== undefined) {
    resumed.attach(response, headers, { after: Number(after) });
    return resumed;
  }
  if (state.sessions.get(scope)?.attached === true) {
    fail(409, -32000, "Conflict: Only one SSE stream is allowed per session");
  }
  const stream = state.createStream();
  state.sessions.set(scope, stream);
  stream.attach(response, headers);
  pushTo(state, scope, stream, response);
  return stream;
}

function openPush(state: HttpState, response: ServerResponse): EventStream {
  const scope = crypto.randomUUID();
  const stream = state.createStream();
  state.pushes.set(scope, stream);
  stream.attach(response, {});
  void stream.write(stream.encode(`/messages?sessionId=${scope}`, "endpoint"));
  pushTo(state, scope, stream, response);
  response.once("close", () => state.pushes.delete(scope));
  return stream;
}

function pushTo(state: HttpState, scope: string, stream: EventStream, response: ServerResponse): void {
  const entry = {
    scope,
    era: "legacy" as const,
    push: (message: object) => stream.write(stream.encode(JSON.stringify({ jsonrpc: "2.0", ...message }))),
  };
  state.server.streams.add(entry);
  response.once("close", () => state.server.streams.delete(entry));
}

function fail(status: number, code: number, message: string): never {
  throw new RpcError(code, message, { status });
}

function header(request: IncomingMessage, name: string): string | undefined {
  const value = request.headers[name];
  return typeof value === "string" ? value : undefined;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
