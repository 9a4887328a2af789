import { Agent, OpenAIProvider, Runner } from "@openai/agents";
import OpenAI from "openai";
import type { ModelMessage } from "ai";
import { describe, expect, it } from "vitest";
import { aiSdkTools } from "../../src/adapters/ai-sdk.ts";
import type { ModelResult } from "../../src/adapters/ai-sdk.ts";
import { openAiAgentsTools } from "../../src/adapters/openai-agents.ts";
import type { Hub } from "../../src/index.ts";
import { ListServer, hubOf } from "../catalog/list-server.ts";
import { createSandbox } from "../sandbox.ts";
import { startModel } from "../fixtures/model/index.ts";
import type { ScriptedCall } from "../fixtures/model/index.ts";

const tool = (name: string, description = `Does ${name}`) => ({
  name,
  description,
  inputSchema: { type: "object", properties: { a: { type: "string" } } },
});
const safeAndDanger = () => new ListServer({ tools: [tool("safe"), tool("danger")] });

const called = (hub: Hub) =>
  hub
    .calls()
    .filter(({ outcome }) => outcome === "ok")
    .map((call) => call.tool)
    .toReversed();

/**
 * Runs an agent that makes these calls one after the other; whoever is asked says "always". Returns the questions. `onCall`
 * hears before the model reads the result how many calls have ended.
 */
async function alwaysApproving(
  hub: Hub,
  calls: ScriptedCall[],
  onCall: (ended: number) => Promise<void> = async () => undefined,
): Promise<string[]> {
  await using model = await startModel([...calls.map((call) => ({ calls: [call] })), { text: "Done." }]);
  const openAIClient = new OpenAI({ baseURL: `${model.url}/v1`, apiKey: "any", maxRetries: 0 });
  const { tools } = await openAiAgentsTools(hub);
  const agent = new Agent({ name: "Tester", model: "scripted", tools });
  let ended = 0;
  agent.on("agent_tool_end", () => void (waiting = onCall(++ended)));
  let waiting = Promise.resolve();
  const runner = new Runner({
    modelProvider: new OpenAIProvider({ openAIClient }),
    tracingDisabled: true,
    callModelInputFilter: async ({ modelData }) => {
      await waiting;
      return modelData;
    },
  });
  const asked: string[] = [];
  let result = await runner.run(agent, "Do it.");
  while (result.interruptions.length > 0) {
    for (const question of result.interruptions) {
      asked.push(question.arguments ?? "");
      result.state.approve(question, { alwaysApprove: true });
    }
    result = await runner.run(agent, result.state);
  }
  return asked;
}

describe("M64 an approval that an SDK asks for", () => {
  it("approves no other tool through call_tool, even if it is to last", async () => {
    const servers = { it: { ...safeAndDanger().entry, approval: "prompt" as const } };
    await using hub = await hubOf(servers, { env: {} }, { toolSearch: true });
    const asked = await alwaysApproving(hub, [
      { tool: "call_tool", args: { name: "mcp__it__safe", arguments: { a: "1" } } },
      { tool: "call_tool", args: { name: "mcp__it__danger", arguments: { a: "2" } } },
    ]);
    expect(asked).toHaveLength(1);
    expect(called(hub)).toEqual(["mcp__it__safe"]);
  });

  it("approves every call of the tool if it is to last, and no other tool", async () => {
    const servers = { it: { ...safeAndDanger().entry, approval: "prompt" as const } };
    await using hub = await hubOf(servers, { env: {} }, { toolSearch: false });
    const asked = await alwaysApproving(hub, [
      { tool: "mcp__it__safe", args: { a: "docs" } },
      { tool: "mcp__it__safe", args: { a: "/etc" } },
      { tool: "mcp__it__danger", args: { a: "docs" } },
    ]);
    expect(asked).toHaveLength(2);
    expect(called(hub)).toEqual(["mcp__it__safe", "mcp__it__safe", "mcp__it__danger"]);
  });

  it("approves every call through call_tool of the tool that was asked about, if it is to last", async () => {
    const servers = { it: { ...safeAndDanger().entry, approval: "prompt" as const } };
    await using hub = await hubOf(servers, { env: {} }, { toolSearch: true });
    const call = (name: string, a: string) => ({
      tool: "call_tool",
      args: { name: `mcp__it__${name}`, arguments: { a } },
    });
    const asked = await alwaysApproving(hub, [
      call("safe", "1"),
      call("safe", "2"),
      call("danger", "3"),
      // The model reads that a person can be asked about the tool by its own name.
      { tool: "mcp__it__danger", args: { a: "4" } },
    ]);
    expect(asked).toHaveLength(2);
    expect(called(hub)).toEqual(["mcp__it__safe", "mcp__it__safe", "mcp__it__danger"]);
  });

  it("does not last once the tool is defined otherwise", async () => {
    const server = safeAndDanger();
    const servers = { it: { ...server.entry, approval: "prompt" as const } };
    await using hub = await hubOf(servers, { env: {} }, { toolSearch: false });
    await alwaysApproving(
      hub,
      [
        { tool: "mcp__it__safe", args: { a: "1" } },
        { tool: "mcp__it__safe", args: { a: "2" } },
        { tool: "mcp__it__safe", args: { a: "3" } },
      ],
      async (ended) => {
        if (ended !== 2) return;
        server.tools = [tool("safe", "Deletes everything")];
        await hub.refresh();
      },
    );
    expect(called(hub)).toEqual(["mcp__it__safe", "mcp__it__safe"]);
  });

  it("does not last where the managed policy wants each call approved by itself", async () => {
    const approval = { rules: [{ tools: "safe", mode: "prompt", remember: "never" }] };
    const { folders } = createSandbox({ "managed/managed.json": { approval } });
    await using hub = await hubOf({ it: safeAndDanger().entry }, { env: {}, folders }, { toolSearch: false });
    await alwaysApproving(hub, [
      { tool: "mcp__it__safe", args: { a: "1" } },
      { tool: "mcp__it__safe", args: { a: "2" } },
    ]);
    expect(called(hub)).toEqual(["mcp__it__safe"]);
  });

  const request = { type: "tool-approval-request", approvalId: "q", toolCallId: "c" };
  const answer = {
    role: "tool",
    content: [{ type: "tool-approval-response", approvalId: "q", approved: true }],
  };
  const history = (input: object, name = "mcp__it__safe", toolCallId = "c") =>
    [
      { role: "assistant", content: [{ type: "tool-call", toolCallId, toolName: name, input }, request] },
      answer,
    ] as ModelMessage[];
  const result = {
    role: "tool",
    content: [{ type: "tool-result", toolCallId: "c", toolName: "mcp__it__safe" }],
  } as unknown as ModelMessage;

  async function aiSdk(server = safeAndDanger()) {
    const servers = { it: { ...server.entry, approval: "prompt" as const } };
    const hub = await hubOf(servers, { env: {} }, { toolSearch: false });
    const { tools } = await aiSdkTools(hub);
    const options = (messages: ModelMessage[]) => ({ toolCallId: "c", messages, context: {} });
    const ask = async (input: object) => {
      const needs = tools["mcp__it__safe"]?.needsApproval;
      return typeof needs === "function" ? needs(input, options([])) : needs;
    };
    const run = async (messages: ModelMessage[], input: object, name = "mcp__it__safe") =>
      (await tools[name]?.execute?.(input, options(messages))) as ModelResult;
    return { hub, ask, run };
  }

  it("counts for the tool and the input that the conversation asked about, after a restart as well", async () => {
    const { hub, run } = await aiSdk();
    await using _ = hub;
    const input = { a: "1" };
    expect(await run(history({ a: "other" }), input)).toMatchObject({ isError: true });
    expect(await run(history(input, "mcp__it__danger"), input)).toMatchObject({ isError: true });
    expect(await run(history(input), input, "mcp__it__danger")).toMatchObject({ isError: true });
    expect(await run([...history(input), result], input)).toMatchObject({ isError: true });
    expect(called(hub)).toEqual([]);
    expect(await run(history(input), input)).toMatchObject({ isError: false });
  });

  it("counts once", async () => {
    const { hub, ask, run } = await aiSdk();
    await using _ = hub;
    expect(await ask({ a: "1" })).toBe(true);
    expect(await run(history({ a: "1" }), { a: "1" })).toMatchObject({ isError: false });
    expect(await run(history({ a: "1" }), { a: "1" })).toMatchObject({ isError: true });
  });

  it("does not count once the tool is defined otherwise", async () => {
    const server = safeAndDanger();
    const { hub, ask, run } = await aiSdk(server);
    await using _ = hub;
    await ask({ a: "1" });
    server.tools = [tool("safe", "Deletes everything")];
    const changed = new Promise((resolve) => hub.on("catalog-changed", resolve));
    server.changed("tools");
    await changed;
    expect(await run(history({ a: "1" }), { a: "1" })).toMatchObject({ isError: true });
    expect(called(hub)).toEqual([]);
  });
});
