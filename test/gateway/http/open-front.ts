import { request as httpRequest } from "node:http";
import type { Agent, IncomingMessage } from "node:http";
import { Endpoint } from "../../../src/gateway/endpoint.ts";
import type { Answer, Dispatcher, Exchange } from "../../../src/gateway/exchange.ts";
import { HttpFront } from "../../../src/gateway/http/front.ts";
import type { HttpOptions } from "../../../src/gateway/http/front.ts";
import { defaultLimits } from "../../../src/gateway/http/limits.ts";
import { createListener } from "../../../src/gateway/http/listener.ts";
import { listen } from "../../../src/gateway/http/server.ts";
import { Ledger, holdLimits } from "../../../src/gateway/ledger.ts";
import { LogLevels } from "../../../src/gateway/log-levels.ts";
import { Seal } from "../../../src/gateway/seal.ts";
import { openHub } from "../../servers/hub-fixture.ts";

export type Fields = Record<string, unknown>;

export const token = "a-token-for-tests";
const revision = "2026-07-28";

/** Everything between a socket and the dispatcher, with a dispatcher of the test's own behind it. */
export async function openFront(answer: Dispatcher["answer"] = echo, options: HttpOptions = {}) {
  const hub = await openHub({});
  const heard: string[] = [];
  const dispatcher: Dispatcher = { answer, hear: (_client, method) => void heard.push(method) };
  const ledger = new Ledger(holdLimits({ ...defaultLimits, ...options.limits }));
  const endpoint = new Endpoint({ hub, bundle: undefined, names: undefined, capabilities: {}, ledger });
  const other = new Endpoint({ hub, bundle: undefined, names: undefined, capabilities: {}, ledger });
  const endpoints = new Map<string | undefined, Endpoint>([
    [undefined, endpoint],
    ["other", other],
  ]);
  const front = new HttpFront({
    token,
    ...options,
    dispatcher,
    logLevels: new LogLevels(async () => {}),
    seal: new Seal(),
    ledger,
    endpoint: (bundle) => endpoints.get(bundle),
  });
  const { limits, connections } = front;
  const listener = createListener(front.handle, limits, connections);
  const server = await listen(listener, {}, limits, options, connections);
  const close = async (drainMs = 0) => {
    server.stop();
    await front.close(drainMs);
    await server.close();
  };
  return {
    front,
    ledger,
    heard,
    endpoint,
    port: server.port,
    close,
    async [Symbol.asyncDispose]() {
      await close();
      endpoint.close();
      await hub.close();
    },
  };
}

/** Answers every request with its own parameters. */
export async function echo({ method, params }: Exchange): Promise<Answer> {
  if (method === "unknown") return { error: { code: -32_601, message: "Method not found: unknown" } };
  return { result: { method, params: params.value } };
}

export interface Reply {
  status: number;
  headers: IncomingMessage["headers"];
  text: string;
  json: Fields & { error?: { code: number; message: string; data?: unknown }; result?: Fields };
}

export interface Sending {
  method?: string;
  path?: string;
  headers?: Record<string, string | undefined>;
  body?: string | Buffer;
  /** Without one, each request has a connection of its own. */
  agent?: Agent;
}

export const usual = {
  authorization: `Bearer ${token}`,
  "content-type": "application/json",
  accept: "application/json, text/event-stream",
};

/** Sends a request and waits for its header. The answer's body is not read yet. */
export function send(
  port: number,
  { method = "POST", path = "/mcp", headers = {}, body, agent }: Sending,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const all = Object.entries({ ...usual, ...headers }).filter(([, value]) => value !== undefined);
    const options = {
      port,
      method,
      path,
      agent: agent ?? false,
      headers: Object.fromEntries(all) as Record<string, string>,
    };
    const request = httpRequest(options, resolve);
    request.on("error", reject);
    request.end(body);
  });
}

export async function readReply(response: IncomingMessage): Promise<Reply> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString("utf8");
  const isJson = response.headers["content-type"]?.startsWith("application/json") === true && text !== "";
  const json = isJson ? (JSON.parse(text) as Fields) : {};
  return { status: response.statusCode ?? 0, headers: response.headers, text, json };
}

export async function post(port: number, sending: Sending): Promise<Reply> {
  return readReply(await send(port, sending));
}

/** A modern request with everything that belongs to one; `headers` may take something away. */
export function modern(
  method: string,
  params: Fields = {},
  headers: Record<string, string | undefined> = {},
): Sending {
  const meta = {
    "io.modelcontextprotocol/protocolVersion": revision,
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  const name = params["name"] ?? params["uri"];
  return {
    headers: {
      "mcp-protocol-version": revision,
      "mcp-method": method,
      ...(typeof name === "string" && { "mcp-name": name }),
      ...headers,
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: { _meta: meta, ...params } }),
  };
}

export function legacy(session: string | undefined, message: Fields | Fields[], headers = {}): Sending {
  const whole = Array.isArray(message)
    ? message.map((one) => ({ jsonrpc: "2.0", ...one }))
    : { jsonrpc: "2.0", ...message };
  return { headers: { "mcp-session-id": session, ...headers }, body: JSON.stringify(whole) };
}

export async function initialize(
  port: number,
  protocolVersion = "2025-11-25",
  headers = {},
  agent?: Agent,
): Promise<string> {
  const params = { protocolVersion, capabilities: {}, clientInfo: { name: "test", version: "1" } };
  const sending = legacy(undefined, { id: 0, method: "initialize", params }, headers);
  const reply = await post(port, { ...sending, ...(agent && { agent }) });
  return String(reply.headers["mcp-session-id"]);
}

export interface SseEvent {
  id?: string;
  data: string;
  retry?: string;
}

/** Reads events as they come, comments left out. */
export async function* events(response: IncomingMessage): AsyncGenerator<SseEvent> {
  let rest = "";
  for await (const chunk of response) {
    rest += String(chunk);
    const blocks = rest.split("\n\n");
    rest = blocks.pop() ?? "";
    for (const block of blocks) {
      const fields = block.split("\n").filter((line) => !line.startsWith(":"));
      if (fields.length === 0) continue;
      const event: SseEvent = { data: valuesOf(fields, "data").join("\n") };
      const [id] = valuesOf(fields, "id");
      const [retry] = valuesOf(fields, "retry");
      yield { ...event, ...(id !== undefined && { id }), ...(retry !== undefined && { retry }) };
    }
  }
}

function valuesOf(lines: readonly string[], field: string): string[] {
  return lines.filter((line) => line.startsWith(`${field}: `)).map((line) => line.slice(field.length + 2));
}

/** Waits for something that shows nowhere else; the test's own time limit ends it. */
export async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await new Promise((resolve) => setTimeout(resolve, 2));
}
