/**
 * Offers all servers of a hub as one MCP server over HTTP, and calls a tool through it.
 * Run: node examples/gateway.ts
 */
import assert from "node:assert/strict";
import { createHub } from "plugboard";
import { createGateway, servingOptions } from "plugboard/gateway";
import { fakeStdio, startFakeHttp } from "plugboard/testing";

const remote = await startFakeHttp();
const servers = { local: fakeStdio(), remote: { url: remote.url } };
const hub = await createHub({ servers }, servingOptions);

// Who may use it is up to you: here each caller has a key of their own.
const callers = new Map([["Bearer key-of-ada", "ada"]]);
const authenticate = ({ headers }: { headers: Headers }) => callers.get(headers.get("authorization") ?? "");
const gateway = createGateway(hub, { authenticate });
const { url } = await gateway.listen({ port: 0 });

// A client of the newest revision needs no session; those of earlier ones work at the same URL.
async function request(method: string, params: object, key: string) {
  const revision = "2026-07-28";
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": revision,
    "io.modelcontextprotocol/clientInfo": { name: "example", version: "1.0.0" },
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  const name = "name" in params ? { "mcp-name": String(params.name) } : {};
  return fetch(url, {
    method: "POST",
    headers: {
      authorization: `Bearer ${key}`,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": revision,
      "mcp-method": method,
      ...name,
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: { ...params, _meta } }),
  });
}

const call = { name: "remote__add", arguments: { a: 19, b: 23 } };
const response = await request("tools/call", call, "key-of-ada");
const { result } = (await response.json()) as { result: { structuredContent: unknown } };
console.log(result.structuredContent);
assert.deepEqual(result.structuredContent, { sum: 42 });
assert.equal((await request("tools/call", call, "no-key")).status, 401);

await gateway.close();
await hub.close();
await remote.close();
