/**
 * The echo tool as a server of the official SDK over HTTP, without anything in between: what one gets today without a
 * gateway. Run: node sdk-server.ts v1|v2
 */
import { createMcpHandler, Server as NewServer } from "@modelcontextprotocol/server";
import { Server as OldServer } from "@modelcontextprotocol/sdk/server/index.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { CallToolRequestSchema, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

const info = { name: "echo", version: "1" };
const capabilities = { tools: {} };
const inputSchema = {
  type: "object" as const,
  properties: { text: { type: "string" }, size: { type: "integer" } },
};
const tools = [{ name: "echo", inputSchema }];
const texts = new Map<number, string>();

const handle = process.argv[2] === "v1" ? v1() : v2();
const server = createServer((request, response) => void handle(request, response));
process.stdin.on("end", () => process.exit()).resume();
server.listen(0, "127.0.0.1", () => console.log(`port ${(server.address() as AddressInfo).port}`));

function echo(args: Record<string, unknown> = {}) {
  const size = Number(args["size"] ?? 0);
  if (size > 0 && !texts.has(size))
    texts.set(size, "An ordinary line.\n".repeat(size / 18 + 1).slice(0, size));
  return { content: [{ type: "text" as const, text: texts.get(size) ?? String(args["text"]) }] };
}

function v1() {
  const sessions = new Map<string, StreamableHTTPServerTransport>();
  return async (request: IncomingMessage, response: ServerResponse) => {
    const known = sessions.get(String(request.headers["mcp-session-id"]));
    if (known) return known.handleRequest(request, response);
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => void sessions.set(id, transport),
    });
    const own = new OldServer(info, { capabilities });
    own.setRequestHandler(ListToolsRequestSchema, () => ({ tools }));
    own.setRequestHandler(CallToolRequestSchema, ({ params }) => echo(params.arguments));
    await own.connect(transport);
    await transport.handleRequest(request, response);
  };
}

function v2() {
  const { fetch } = createMcpHandler(() => {
    const own = new NewServer(info, { capabilities });
    own.setRequestHandler("tools/list", () => ({ tools }));
    own.setRequestHandler("tools/call", ({ params }) => echo(params.arguments));
    return own;
  });
  return async (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const headers = Object.entries(request.headers).map(
      ([name, value]) => [name, String(value)] as [string, string],
    );
    const body = Buffer.concat(chunks);
    const answer = await fetch(
      new Request(`http://127.0.0.1${request.url}`, {
        method: request.method ?? "POST",
        headers,
        ...(body.length > 0 && { body }),
      }),
    );
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    if (answer.body) for await (const part of answer.body) response.write(part);
    response.end();
  };
}
