import { GoogleGenAI } from "@google/genai";
import { generateText, stepCountIs, tool as aiTool } from "ai";
import { createAnthropic } from "@ai-sdk/anthropic";
import { tool as agentsTool } from "@openai/agents";
import { describe, expect, expectTypeOf, it } from "vitest";
import { z } from "zod";
import { aiSdkTools } from "../../src/adapters/ai-sdk.ts";
import { anthropicTools } from "../../src/adapters/anthropic.ts";
import { googleTools } from "../../src/adapters/google.ts";
import { openAiAgentsTools } from "../../src/adapters/openai-agents.ts";
import { openAiChatTools, openAiResponsesTools } from "../../src/adapters/openai.ts";
import { ListServer, hubOf } from "../catalog/list-server.ts";
import { startModel } from "../fixtures/model/index.ts";
import { openScene } from "./scene.ts";

const parameters = { type: "object", properties: { of: { type: "string" } } };
const run = ({ of }: Record<string, unknown>) => {
  if (of === "never") throw new Error("no clock");
  return { time: of };
};
const asked = [
  { name: "time", args: { of: "day" } },
  { name: "mcp__it__add", args: { a: 1, b: 2 } },
  { name: "time", args: { of: "never" } },
];

describe("the program's own tools beside those of a view", () => {
  it("are offered and answered with Anthropic", async () => {
    await using hub = await openScene();
    const tool = { name: "time", input_schema: parameters as { type: "object" } };
    const { tools, answer } = await anthropicTools(hub, { own: [{ tool, run }] });
    expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(["mcp__it__add", "time"]));
    const content = asked.map(({ name, args }, at) => ({ type: "tool_use", id: `${at}`, name, input: args }));
    expect(await answer({ content: content as never })).toMatchObject([
      { content: '{"time":"day"}' },
      { content: '{"sum":3}' },
      { content: "no clock.", is_error: true },
    ]);
    expect(await tools.find(({ name }) => name === "time")?.run({ of: "day" })).toBe('{"time":"day"}');
  });

  it("are offered and answered with OpenAI", async () => {
    await using hub = await openScene();
    const chatTool = { type: "function" as const, function: { name: "time", parameters } };
    const chat = await openAiChatTools(hub, { own: [{ tool: chatTool, run }] });
    expect(chat.tools).toContainEqual(chatTool);
    const tool_calls = asked.map(({ name, args }, at) => ({
      type: "function" as const,
      id: `${at}`,
      function: { name, arguments: JSON.stringify(args) },
    }));
    expect(await chat.answer({ tool_calls })).toMatchObject([
      { content: '{"time":"day"}' },
      { content: '{"sum":3}' },
      { content: "Error: no clock." },
    ]);
    const tool = { type: "function" as const, name: "time", parameters, strict: false };
    const responses = await openAiResponsesTools(hub, { own: [{ tool, run }] });
    expect(responses.tools).toContainEqual(tool);
    const call = { name: "time", arguments: '{"of":"day"}', call_id: "1" };
    expect(await responses.call(call)).toMatchObject({ output: '{"time":"day"}' });
  });

  it("are offered and called by Google's SDK itself, with ours, in its automatic function calling", async () => {
    await using hub = await openScene();
    await using model = await startModel([
      { calls: asked.slice(0, 2).map(({ name, args }) => ({ tool: name, args })) },
      { text: "Done." },
    ]);
    const tool = { name: "time", parametersJsonSchema: parameters };
    const { callable } = await googleTools(hub, { own: [{ tool, run }] });
    const { models } = new GoogleGenAI({ apiKey: "any", httpOptions: { baseUrl: model.url } });
    const config = { tools: [callable()] };
    const response = await models.generateContent({ model: "scripted", contents: "Do it.", config });
    expect(response.text).toBe("Done.");
    const results = [...(model.received[1]?.results.values() ?? [])].map(({ text }) => text);
    expect(results).toEqual([expect.stringContaining("day"), expect.stringContaining("sum")]);
  });

  it("stay beside tools that the model finds, with the SDKs that run tools", async () => {
    const server = new ListServer({
      tools: [{ name: "washing", description: "Does the washing", inputSchema: { type: "object" } }],
    });
    const hub = await hubOf({ it: server.entry }, { env: {} }, { toolSearch: true });
    const mine = aiTool({ inputSchema: z.object({}), execute: async () => "mine" });
    const { tools } = await aiSdkTools(hub, { own: { mine } });
    expect(tools.mine).toBe(mine);
    await using model = await startModel([
      { calls: [{ tool: "mine" }, { tool: "search_tools", args: { query: "washing" } }] },
      ({ tools: offered }) => ({ text: offered.map(({ name }) => name).join(" ") }),
    ]);
    const languageModel = createAnthropic({ baseURL: `${model.url}/v1`, apiKey: "any" })("scripted");
    const { text } = await generateText({
      model: languageModel,
      tools,
      prompt: "Go.",
      stopWhen: stepCountIs(3),
    });
    expect(text).toMatch(/mine.*mcp__it__washing/);
    const agents = agentsTool({ name: "mine", description: "", parameters: z.object({}), execute: () => "" });
    const offered = await openAiAgentsTools(hub, { own: [agents] });
    expect(offered.tools).toContain(agents);
  });

  it("cannot have the name of another tool", async () => {
    await using hub = await openScene();
    const input_schema = parameters as { type: "object" };
    for (const name of ["mcp__it__add", "read_result"])
      await expect(
        anthropicTools(hub, { own: [{ tool: { name, input_schema }, run }] }),
      ).rejects.toMatchObject({ code: "usage-invalid" });
  });
});

describe("outputs of tools with the AI SDK", () => {
  it("are typed and checked by the program's schemas, and described by the server's", async () => {
    const outputSchema = { type: "object", properties: { sum: { type: "number" } } };
    const server = new ListServer({
      tools: [{ name: "add", inputSchema: { type: "object" }, outputSchema }],
    });
    let structuredContent: Record<string, unknown> = { sum: 3 };
    server.answers.set("tools/call", () => ({ content: [], structuredContent }));
    const hub = await hubOf({ it: server.entry }, { env: {} }, { toolSearch: false });
    const outputs = { mcp__it__add: z.object({ sum: z.number(), of: z.string().default("all") }) };
    const { tools } = await aiSdkTools(hub, { outputs });
    const { execute } = tools.mcp__it__add;
    const call = async () => {
      const made = await execute?.({}, { toolCallId: "c", messages: [], context: {} });
      if (!made || !("parts" in made)) throw new Error("no output");
      return made;
    };
    const made = await call();
    expectTypeOf(made.structuredContent).toEqualTypeOf<{ sum: number; of: string } | undefined>();
    expect(made.structuredContent).toEqual({ sum: 3, of: "all" });
    structuredContent = { sum: 3, of: 7 };
    expect(await call()).toMatchObject({ isError: true });
    const all = await aiSdkTools(hub);
    const described = all.tools["mcp__it__add"]?.outputSchema as { jsonSchema: unknown };
    expect(described.jsonSchema).toMatchObject({ properties: { structuredContent: outputSchema } });
  });
});
