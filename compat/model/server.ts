import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { anthropic } from "./anthropic.ts";
import { chat } from "./chat.ts";
import type { Dialect, Reply } from "./dialect.ts";
import { gemini } from "./gemini.ts";
import { responses } from "./responses.ts";
import type { ModelScript } from "./script.ts";

export interface ScriptedModel extends AsyncDisposable {
  url: string;
}

const dialects = [anthropic, responses, chat, gemini] as Dialect[];
const maxBodyBytes = 32 * 1024 * 1024;

/** A model on loopback that speaks every provider's format and follows one script. Any key is accepted. */
export async function startModel(script: ModelScript): Promise<ScriptedModel> {
  const server = createServer((request, response) => {
    answer(request, response, script).catch((error: unknown) => {
      script.record.unknown.push(`${request.method} ${request.url}: ${String(error)}`);
      if (!response.headersSent) response.writeHead(400);
      response.end();
    });
  });
  server.listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function answer(request: IncomingMessage, response: ServerResponse, script: ModelScript) {
  const path = (request.url ?? "/").replace(/\?.*$/, "");
  const text = await bodyOf(request);
  const dialect = dialects.find((candidate) => candidate.path.test(path));
  if (!dialect || request.method !== "POST") {
    const known = besides(request.method ?? "", path);
    if (!known) script.record.unknown.push(`${request.method} ${path}`);
    response.writeHead(known ? 200 : 404, { "content-type": "application/json" });
    response.end(JSON.stringify(known ?? { error: { message: "not scripted", type: "not_found_error" } }));
    return;
  }
  const body = JSON.parse(text) as unknown;
  send(response, dialect.write(script.next(dialect.read(body, text)), body, path));
}

/** What clients ask of a provider besides the conversation. */
function besides(method: string, path: string): unknown {
  if (method === "HEAD") return {};
  if (path.endsWith("/models")) return { object: "list", data: [{ id: "scripted", object: "model" }] };
  if (path.endsWith("/count_tokens")) return { input_tokens: 10 };
  if (path.endsWith(":countTokens")) return { totalTokens: 10 };
  return undefined;
}

function send(response: ServerResponse, reply: Reply) {
  if ("json" in reply) {
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify(reply.json));
    return;
  }
  response.writeHead(200, { "content-type": "text/event-stream" });
  for (const event of reply.events) {
    if (reply.named) response.write(`event: ${String(event["type"])}\n`);
    response.write(`data: ${JSON.stringify(event)}\n\n`);
  }
  response.end(reply.done ? "data: [DONE]\n\n" : "");
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxBodyBytes) throw new Error("body too large");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}
