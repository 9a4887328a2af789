/**
 * An agent with LangChain's models and messages. The model here is scripted. Run: node examples/langchain.ts
 */
import assert from "node:assert/strict";
import { HumanMessage, SystemMessage } from "@langchain/core/messages";
import type { BaseMessage } from "@langchain/core/messages";
import { ChatOpenAI } from "@langchain/openai";
import { createHub } from "plugboard";
import { langchainTools } from "plugboard/langchain";
import { fakeStdio, startModel } from "plugboard/testing";

await using scripted = await startModel([
  { calls: [{ tool: "mcp__math__add", args: { a: 40, b: 2 } }] },
  ({ results }) => ({ text: `The sum is ${results.get("call_0_0")?.text}` }),
]);

await using hub = await createHub({ servers: { math: fakeStdio({}) } });
const { tools, answer, instructions } = await langchainTools(hub);
const configuration = { baseURL: `${scripted.url}/v1` };
const model = new ChatOpenAI({ model: "any", apiKey: "any", configuration }).bindTools(tools);

const messages: BaseMessage[] = [new SystemMessage(instructions), new HumanMessage("Add 40 and 2.")];
for (;;) {
  const message = await model.invoke(messages);
  const answers = await answer(message);
  if (answers.length === 0) {
    console.log(message.text);
    assert.match(message.text, /The sum is .*42/);
    break;
  }
  messages.push(message, ...answers);
}
