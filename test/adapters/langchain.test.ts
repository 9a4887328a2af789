import { HumanMessage, SystemMessage } from "@langchain/core/messages";
import type { AIMessageChunk, BaseMessage } from "@langchain/core/messages";
import { ChatOpenAI } from "@langchain/openai";
import { expect, it } from "vitest";
import { langchainMentions, langchainPrompt, langchainTools } from "../../src/adapters/langchain.ts";
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
