import { Client } from "@modelcontextprotocol/client";
import { McpServer } from "@modelcontextprotocol/server";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { MemoryTransport } from "../../src/servers/transports/memory.ts";

const patient = { timeoutMs: 30_000, maxTimeoutMs: 30_000 };

function addingServer() {
  const server = new McpServer({ name: "adder", version: "1" });
  const inputSchema = z.object({ a: z.number(), b: z.number() });
  server.registerTool("add", { inputSchema }, async ({ a, b }) => ({
    content: [{ type: "text", text: String(a + b) }],
  }));
  server.registerTool("wait", {}, async (context) => {
    await new Promise<void>((resolve) => context.mcpReq.signal.addEventListener("abort", () => resolve()));
    return { content: [] };
  });
  return server;
}

async function connect() {
  const server = addingServer();
  const transport = new MemoryTransport({ name: "adder", server });
  const client = new Client({ name: "t", version: "1" });
  await client.connect(transport);
  return { server, transport, client };
}

const call = (name: string, args = {}) => ["tools/call", { name, arguments: args }] as const;

describe("M20 a server in the same process", () => {
  it("answers the SDK's client and the lane", async () => {
    const { transport, client } = await connect();
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(["add", "wait"]);
    const answer = await transport.lane.request(...call("add", { a: 2, b: 3 }), patient);
    expect(answer).toMatchObject({ result: { content: [{ type: "text", text: "5" }] } });
    await client.close();
  });

  it("cancels calls, and ends those in flight when either side closes", async () => {
    const { transport, server } = await connect();
    const controller = new AbortController();
    const cancelled = transport.lane.request(...call("wait"), { ...patient, signal: controller.signal });
    controller.abort();
    await expect(cancelled).rejects.toMatchObject({ code: "call-cancelled" });
    const waiting = transport.lane.request(...call("wait"), patient).catch((error: unknown) => error);
    await server.close();
    expect(await waiting).toMatchObject({ code: "connection-lost", server: "adder" });
    await expect(transport.send({ jsonrpc: "2.0", method: "x" })).rejects.toMatchObject({
      code: "connection-lost",
    });
    await transport.close();
  });

  it("can be connected again after it was closed", async () => {
    const { server, client } = await connect();
    await client.close();
    const again = new MemoryTransport({ name: "adder", server });
    const second = new Client({ name: "t", version: "1" });
    await second.connect(again);
    expect((await second.listTools()).tools).toHaveLength(2);
    await second.close();
  });

  it("fails its start when the server cannot be connected", async () => {
    const server = { connect: () => Promise.reject(new Error("no")) };
    const transport = new MemoryTransport({ name: "broken", server });
    await expect(new Client({ name: "t", version: "1" }).connect(transport)).rejects.toThrow("no");
  });
});
