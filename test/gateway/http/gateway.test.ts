import {
  Client as ModernSdkClient,
  StreamableHTTPClientTransport as ModernTransport,
} from "@modelcontextprotocol/client";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ElicitRequestSchema, InitializeResultSchema } from "@modelcontextprotocol/sdk/types.js";
import { describe, expect, it } from "vitest";
import { createGateway } from "../../../src/gateway/index.ts";
import type { GatewayOptions } from "../../../src/gateway/index.ts";
import { fakeStdio } from "../../fixtures/fake/index.ts";
import type { Script } from "../../fixtures/fake/index.ts";
import { openHub } from "../../servers/hub-fixture.ts";
import { modern, post, token } from "./open-front.ts";

async function open(script: Script, options: GatewayOptions = { token }) {
  const hub = await openHub({ one: fakeStdio(script) });
  await hub.tools();
  const gateway = createGateway(hub, options);
  const { url, port } = await gateway.listen();
  const close = async () => {
    await gateway.close({ drainMs: 0 });
    await hub.close();
  };
  return { gateway, url: new URL(url), port, [Symbol.asyncDispose]: close };
}

const requestInit = { headers: { authorization: `Bearer ${token}` } };
const echoed = (text: string) => ({ content: [{ type: "text", text: JSON.stringify({ text }) }] });

describe.each(["legacy", "modern"] as const)("M80 SDK clients before a %s server, over HTTP", (versions) => {
  it("SDK 1: lists, calls, sees progress, is asked, and ends its session", async () => {
    await using served = await open({ versions });
    const client = new Client({ name: "test", version: "1" }, { capabilities: { elicitation: {} } });
    client.setRequestHandler(ElicitRequestSchema, () => ({ action: "accept", content: { name: "Ada" } }));
    const transport = new StreamableHTTPClientTransport(served.url, { requestInit });
    await client.connect(transport);
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain("one__echo");
    const call = { name: "one__echo", arguments: { text: "hi" } };
    expect(await client.callTool(call)).toMatchObject(echoed("hi"));
    const steps: number[] = [];
    await client.callTool({ name: "one__progress", arguments: { steps: 3 } }, undefined, {
      onprogress: ({ progress }) => void steps.push(progress),
    });
    expect(steps.length).toBeGreaterThan(0);
    const asked = await client.callTool({ name: "one__elicit", arguments: {} });
    expect(JSON.stringify(asked)).toContain("Ada");
    const params = {
      protocolVersion: "2025-11-25",
      capabilities: {},
      clientInfo: { name: "x", version: "1" },
    };
    const again = client.request({ method: "initialize", params }, InitializeResultSchema);
    await expect(again).rejects.toThrow("This session is initialized already.");
    await transport.terminateSession();
    await client.close();
  });

  it("SDK 2: discovers, lists and calls", async () => {
    await using served = await open({ versions });
    const client = new ModernSdkClient(
      { name: "test", version: "1" },
      { versionNegotiation: { mode: "auto" } },
    );
    await client.connect(new ModernTransport(served.url, { requestInit }));
    expect(client.getNegotiatedProtocolVersion()).toBe("2026-07-28");
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain("one__echo");
    const call = { name: "one__echo", arguments: { text: "hi" } };
    expect(await client.callTool(call)).toMatchObject(echoed("hi"));
    await client.close();
  });
});

describe("M80 parameters that a tool wants in headers", () => {
  const properties = {
    region: { type: "string", "x-mcp-header": "Region" },
    count: { type: "integer", "x-mcp-header": "Count" },
    deep: { type: "object", properties: { on: { type: "boolean", "x-mcp-header": "On" } } },
  };
  const tools = [{ name: "sql", inputSchema: { type: "object", properties } }];
  const args = { region: "us-west1", count: 42, deep: { on: true } };
  const right = { "mcp-param-region": "us-west1", "mcp-param-count": "42", "mcp-param-on": "true" };
  const cases: [string, object, Record<string, string | undefined>, number][] = [
    ["as they are", args, right, 200],
    ["encoded", args, { ...right, "mcp-param-region": "=?base64?dXMtd2VzdDE=?=" }, 200],
    ["another spelling of the number", args, { ...right, "mcp-param-count": "42.0" }, 200],
    ["another number", args, { ...right, "mcp-param-count": "43" }, 400],
    ["missing", args, { ...right, "mcp-param-region": undefined }, 400],
    ["another value", args, { ...right, "mcp-param-on": "false" }, 400],
    ["broken", args, { ...right, "mcp-param-region": "=?base64?dXMtd2VzdDE?=" }, 400],
    [
      "of a parameter that is not there",
      { count: 42 },
      { "mcp-param-count": "42", "mcp-param-on": "true" },
      400,
    ],
    ["none, because nothing is there", {}, {}, 200],
    ["of nobody", { count: 42 }, { "mcp-param-count": "42", "mcp-param-other": "x" }, 200],
  ];

  it("have to say the same as the arguments", async () => {
    await using served = await open({ versions: "modern", tools });
    for (const [name, sent, headers, status] of cases) {
      const params = { name: "one__sql", arguments: sent };
      const reply = await post(served.port, modern("tools/call", params, headers));
      const code = status === 400 ? -32_020 : undefined;
      expect([name, reply.status, reply.json.error?.code]).toEqual([name, status, code]);
    }
  });
});

describe("M80 the gateway in a program of one's own", () => {
  it("serves web-standard requests", async () => {
    await using served = await open({ versions: "modern" });
    const { headers, body } = modern("tools/call", { name: "one__echo", arguments: { text: "web" } });
    const request = new Request("http://localhost/mcp", {
      method: "POST",
      headers: {
        ...(headers as Record<string, string>),
        ...requestInit.headers,
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
      },
      body: String(body),
    });
    const response = await served.gateway.fetch(request);
    expect(await response.json()).toMatchObject({ id: 1, result: echoed("web") });
  });

  it("asks its authenticate who calls, and lets nobody else in", async () => {
    const authenticate = ({ headers }: { headers: Headers }) => headers.get("x-user") ?? undefined;
    await using served = await open({ versions: "modern" }, { authenticate });
    expect((await post(served.port, modern("tools/list"))).status).toBe(401);
    expect((await post(served.port, modern("tools/list", {}, { "x-user": "ada" }))).status).toBe(200);
  });

  it("lets nobody in without any way to authenticate", async () => {
    await using served = await open({ versions: "modern" }, {});
    expect((await post(served.port, modern("tools/list"))).status).toBe(401);
  });

  it("does not listen for strangers without authentication", async () => {
    await using served = await open({ versions: "modern" }, { auth: "none" });
    expect((await post(served.port, modern("tools/list", {}, { authorization: undefined }))).status).toBe(
      200,
    );
    await expect(served.gateway.listen({ host: "0.0.0.0" })).rejects.toMatchObject({
      code: "usage-invalid",
      message: expect.stringContaining("0.0.0.0"),
    });
  });

  it("says that a port is taken", async () => {
    await using served = await open({ versions: "modern" });
    await expect(served.gateway.listen({ port: served.port })).rejects.toMatchObject({
      message: `Port ${served.port} is in use.`,
    });
  });
});
