import { HumanMessage, SystemMessage } from "@langchain/core/messages";
import type { AIMessageChunk, BaseMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { ChatOpenAI } from "@langchain/openai";
import { expect, it } from "vitest";
import {
  langchainMentions,
  langchainMessages,
  langchainPrompt,
  langchainTools,
} from "../../src/adapters/langchain.ts";
import { startModel } from "../fixtures/model/index.ts";
import { adapterContract } from "./contract.ts";
import type { AgentTask } from "./contract.ts";
import { openScene } from "./scene.ts";

const modelAt = (url: string) =>
  new ChatOpenAI({
    model: "scripted",
    apiKey: "any",
    maxRetries: 0,
    configuration: { baseURL: `${url}/v1` },
  });

async function run({ view, url, stream, options, signal }: AgentTask): Promise<string> {
  const { tools, answer, instructions } = await langchainTools(view, options);
  const model = modelAt(url).bindTools(tools);
  const messages: BaseMessage[] = [new SystemMessage(instructions), new HumanMessage("Do it.")];
  const config = signal ? { signal } : {};
  for (;;) {
    let said: AIMessageChunk | undefined;
    if (stream)
      for await (const chunk of await model.stream(messages, config))
        said = said ? said.concat(chunk) : chunk;
    else said = await model.invoke(messages, config);
    if (!said) throw new Error("no answer");
    const answers = await answer(said, { signal });
    if (answers.length === 0) return said.text;
    signal?.throwIfAborted();
    messages.push(said, ...answers);
  }
}

adapterContract({
  name: "langchain",
  canGrow: false,
  asksItself: false,
  hasMedia: true,
  modes: ["whole", "stream"],
  run,
  setAside: async (view) => (await langchainTools(view)).setAside.map(({ id }) => id),
  async say({ view, url, prompt, args, text }) {
    const messages = await langchainPrompt(view, prompt, args);
    const content = await langchainMentions(view, text);
    await modelAt(url).invoke([...messages, new HumanMessage({ content: content as never })]);
  },
});

const drawing = [{ calls: [{ tool: "mcp__it__picture" }] }, { text: "Nice." }];

it("M64 plugboard/langchain gives OpenAI images in a message of the user, as tool messages cannot have them", async () => {
  await using hub = await openScene();
  await using model = await startModel(drawing);
  await run({ view: hub, url: model.url, stream: false, options: {} });
  const { body } = await model.request(1);
  const { messages } = body as { messages: { role: string; content: unknown }[] };
  expect(messages.map(({ role }) => role)).toEqual(["system", "user", "assistant", "tool", "user"]);
  expect(messages[3]?.content).toMatch(/A pixel\n\[image image\/png: see below\]/);
  expect(JSON.stringify(messages[4]?.content)).toContain("image_url");
});

it("M64 plugboard/langchain lets an agent's middleware do the same, and leaves images where a provider takes them", async () => {
  await using hub = await openScene();
  const call = { type: "tool_call" as const, id: "c1", name: "mcp__it__picture", args: {} };
  const picture = async (provider?: "anthropic") => {
    const { tools } = await langchainTools(hub, { provider });
    const tool = tools.find(({ name }) => name === "mcp__it__picture");
    return (await tool?.invoke(call)) as BaseMessage;
  };
  const made = await picture();
  expect(JSON.stringify(made.content)).not.toContain("base64");
  const sent = await langchainMessages([new HumanMessage("Draw."), made, made, new HumanMessage("Well?")]);
  expect(sent.map(({ type }) => type)).toEqual(["human", "tool", "tool", "human", "human"]);
  expect(JSON.stringify(sent[3]?.content).match(/image\/png/g)).toHaveLength(2);
  expect(JSON.stringify((await picture("anthropic")).content)).toContain("image/png");
});

it("M64 plugboard/langchain answers calls of the program's own tools beside ours", async () => {
  await using hub = await openScene();
  const schema = { type: "object", properties: { of: { type: "string" } } };
  const mine = tool(async ({ of }: { of: string }) => `the time of ${of}`, { name: "time", schema } as never);
  const broken = tool(async () => Promise.reject(new Error("no clock")), { name: "clock", schema } as never);
  const own = [mine, broken] as never[];
  const { tools, answer } = await langchainTools(hub, { own });
  expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(["mcp__it__add", "time"]));
  const answers = await answer({
    tool_calls: [
      { name: "time", args: { of: "day" }, id: "1" },
      { name: "mcp__it__add", args: { a: 1, b: 2 }, id: "2" },
      { name: "clock", args: {}, id: "3" },
    ],
  });
  expect(answers).toMatchObject([
    { content: "the time of day", tool_call_id: "1" },
    { content: '{"sum":3}', tool_call_id: "2" },
    { content: expect.stringContaining("no clock"), tool_call_id: "3", status: "error" },
  ]);
});

it("M64 plugboard/langchain answers a call that an agent makes by itself", async () => {
  await using hub = await openScene();
  const { tools } = await langchainTools(hub);
  const add = tools.find(({ name }) => name === "mcp__it__add");
  const message: unknown = await add?.invoke({
    type: "tool_call",
    id: "c1",
    name: "x",
    args: { a: 1, b: 2 },
  });
  expect(message).toMatchObject({ content: '{"sum":3}', tool_call_id: "c1", status: "success" });
  const failed: unknown = await add?.invoke({ type: "tool_call", id: "c2", name: "x", args: { a: "many" } });
  expect(failed).toMatchObject({ tool_call_id: "c2", status: "error" });
});
