import {
  Client as ModernClient,
  StreamableHTTPClientTransport as ModernTransport,
} from "@modelcontextprotocol/client";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { describe, expect, it } from "vitest";
import { call, openWaiting, sum, token, waitingQuestion } from "./waiting.ts";

const requestInit = { headers: { authorization: `Bearer ${token}` } };
const about = { name: "test", version: "1" };

describe("M61 SDK clients whose calls wait for approval", () => {
  it("SDK 2 shows the form, and gets the result once a person has answered elsewhere", async () => {
    await using it = await openWaiting();
    const gateway = await it.start();
    const url = new URL(`http://127.0.0.1:${gateway.port}/mcp`);
    const client = new ModernClient(about, {
      versionNegotiation: { mode: "auto" },
      capabilities: { elicitation: { form: {} } },
    });
    const shown: string[] = [];
    client.setRequestHandler("elicitation/create", async ({ params }) => {
      shown.push(params.message);
      const { id } = await waitingQuestion(gateway.hub);
      await gateway.hub.approvals.answer(id, { decision: "allow" });
      return { action: "accept" as const, content: {} };
    });
    await client.connect(new ModernTransport(url, { requestInit }));
    expect(await client.callTool(call)).toMatchObject(sum);
    expect(shown.join()).toContain("waits for approval");
    expect(it.sent()).toHaveLength(1);
    await client.close();
  });

  it("SDK 1 sees progress, which extends its time limit", async () => {
    await using it = await openWaiting();
    const gateway = await it.start();
    const url = new URL(`http://127.0.0.1:${gateway.port}/mcp`);
    const client = new Client(about);
    await client.connect(new StreamableHTTPClientTransport(url, { requestInit }));
    const messages: (string | undefined)[] = [];
    const sent = client.callTool(call, undefined, {
      resetTimeoutOnProgress: true,
      onprogress: ({ message }) => void messages.push(message),
    });
    const { id } = await waitingQuestion(gateway.hub);
    await expect.poll(() => messages.join()).toContain("waits for approval");
    await gateway.hub.approvals.answer(id, { decision: "allow" });
    expect(await sent).toMatchObject(sum);
    await client.close();
  });
});
