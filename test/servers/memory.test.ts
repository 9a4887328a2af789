import { McpServer } from "@modelcontextprotocol/server";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { MemoryTransport } from "../../src/servers/transports/memory.ts";
import { deaf, openRpc, result } from "./rpc-fixture.ts";

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

async function connect(server = addingServer()) {
  const opened = await openRpc(new MemoryTransport({ name: "adder", server }), { era: "legacy" });
  return { server, ...opened };
}

describe("M20 a server in the same process", () => {
  it("answers", async () => {
    const { request, call } = await connect();
    const { tools } = await result(request("tools/list"));
    expect((tools as { name: string }[]).map(({ name }) => name)).toEqual(["add", "wait"]);
    expect(await call("add", { a: 2, b: 3 })).toMatchObject({
      result: { content: [{ type: "text", text: "5" }] },
    });
  });

  it("cancels calls, and ends pending ones when either side closes", async () => {
    const { transport, server, call } = await connect();
    const controller = new AbortController();
    const cancelled = call("wait", {}, { signal: controller.signal });
    controller.abort();
    await expect(cancelled).rejects.toMatchObject({ code: "call-cancelled" });
    const waiting = call("wait").catch((error: unknown) => error);
    await server.close();
    expect(await waiting).toMatchObject({ code: "connection-lost", server: "adder" });
    expect(() => transport.send({ jsonrpc: "2.0", method: "x", params: {} }, "{}")).toThrow(
      expect.objectContaining({ code: "connection-lost", executed: "no" }) as Error,
    );
  });

  it("fails the call whose result is not JSON, and hears of a notification that is not", async () => {
    const server = addingServer();
    const structuredContent = { count: 1n };
    server.registerTool("big", {}, async () => ({ content: [], structuredContent }));
    server.registerTool("tell", {}, async ({ mcpReq }) => {
      const params = { level: "error", data: structuredContent } as const;
      await mcpReq.notify({ method: "notifications/message", params });
      return { content: [] };
    });
    const { call } = await connect(server);
    const error = { code: -32_603, message: expect.stringContaining("not JSON") as string };
    expect(await call("big", {})).toMatchObject({ error });
    expect(await call("tell", {})).toMatchObject({ result: { isError: true } });
    expect(await call("add", { a: 2, b: 3 })).toMatchObject({ result: { content: [{ text: "5" }] } });
  });

  it("can be connected again after it was closed", async () => {
    const { server, transport } = await connect();
    await transport.close();
    const { request } = await connect(server);
    expect((await result(request("tools/list")))["tools"]).toHaveLength(2);
  });

  it("fails to start if the server cannot be connected", async () => {
    const server = { connect: () => Promise.reject(new Error("no")) };
    const transport = new MemoryTransport({ name: "broken", server });
    await expect(transport.start(deaf)).rejects.toThrow("no");
  });
});
