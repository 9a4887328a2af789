/**
 * Measures calls per second over HTTP with 32 in flight: undici alone, the SDK, and our transport with parsed results
 * and with results as bytes. The server is trivial and runs in its own process.
 * Run: node bench/http.ts
 */
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { fork } from "node:child_process";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Pool } from "undici";
import { HttpTransport } from "../src/servers/transports/http/transport.ts";
import { Rpc } from "../src/servers/rpc/rpc.ts";

const inFlight = 32;
const roundMs = 700;
const rounds = 3;

if (process.argv[2] === "server") serve();
else await measure();

function serve(): void {
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk: Buffer) => (body += chunk.toString()));
    request.on("end", () => {
      const message =
        body === "" ? {} : (JSON.parse(body) as { id?: unknown; method?: string; params?: unknown });
      if (message.id === undefined)
        return void response.writeHead(request.method === "POST" ? 202 : 405).end();
      const result =
        message.method === "initialize"
          ? {
              protocolVersion: "2025-11-25",
              capabilities: { tools: {} },
              serverInfo: { name: "echo", version: "1" },
            }
          : { content: [{ type: "text", text: "hello" }] };
      const answer = JSON.stringify({ jsonrpc: "2.0", id: message.id, result });
      response.writeHead(200, {
        "content-type": "application/json",
        "content-length": Buffer.byteLength(answer),
      });
      response.end(answer);
    });
  });
  server.listen(0, "127.0.0.1", () => process.send?.((server.address() as AddressInfo).port));
  process.on("disconnect", () => process.exit());
}

async function measure(): Promise<void> {
  const child = fork(import.meta.filename, ["server"]);
  const port = await new Promise<number>((resolve) => child.once("message", resolve));
  const url = new URL(`http://127.0.0.1:${port}/mcp`);
  const params = { name: "echo", arguments: { text: "hello" } };

  const pool = new Pool(url.origin);
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params });
  const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
  const sdk = new Client({ name: "bench", version: "1" });
  await sdk.connect(new StreamableHTTPClientTransport(url));
  const transport = new HttpTransport({ server: "echo", url });
  const { requests } = await start(transport);
  const options = { timeoutMs: 60_000, maxTimeoutMs: 600_000 };

  const contenders: Record<string, () => Promise<unknown>> = {
    "undici alone": async () =>
      (await pool.request({ path: "/mcp", method: "POST", headers, body })).body.json(),
    "the SDK": () => sdk.callTool(params),
    "our transport": () => requests.request("tools/call", params, options),
    "our transport, bytes": () => requests.request("tools/call", params, { ...options, raw: true }),
  };
  const best: Record<string, number> = {};
  for (let round = 0; round < rounds; round++) {
    for (const [name, call] of Object.entries(contenders))
      best[name] = Math.max(best[name] ?? 0, await rate(call));
  }
  const bare = best["the SDK"] ?? 1;
  for (const [name, perSecond] of Object.entries(best)) {
    console.log(
      `${name.padEnd(22)} ${perSecond.toFixed(0).padStart(7)} calls/s  ${(perSecond / bare).toFixed(1)} x SDK`,
    );
  }
  await Promise.all([sdk.close(), transport.close(), pool.destroy()]);
  child.disconnect();
}

async function start(transport: HttpTransport): Promise<Rpc> {
  const rpc = new Rpc({ server: "echo", transport, otherwise: {}, onClosed() {} });
  await rpc.start();
  const clientInfo = { name: "bench", version: "1" };
  const hello = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo };
  await rpc.requests.request("initialize", hello, { timeoutMs: 10_000, maxTimeoutMs: 10_000 });
  transport.setVersion("2025-11-25");
  await rpc.notify("notifications/initialized");
  return rpc;
}

async function rate(call: () => Promise<unknown>): Promise<number> {
  const from = performance.now();
  const until = from + roundMs;
  let calls = 0;
  const work = async () => {
    while (performance.now() < until) {
      await call();
      calls++;
    }
  };
  await Promise.all(Array.from({ length: inFlight }, work));
  return (calls * 1000) / (performance.now() - from);
}
