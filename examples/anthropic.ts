/**
 * An agent on Anthropic's own client. The model here is scripted. Run: node examples/anthropic.ts
 */
import assert from "node:assert/strict";
import Anthropic from "@anthropic-ai/sdk";
import { createHub } from "plugboard";
import { anthropicTools } from "plugboard/anthropic";
import { fakeStdio, startModel } from "plugboard/testing";

await using scripted = await startModel([
  { calls: [{ tool: "mcp__math__add", args: { a: 40, b: 2 } }] },
  ({ results }) => ({ text: `The sum is ${results.get("call_0_0")?.text}` }),
]);
const client = new Anthropic({ baseURL: scripted.url, apiKey: "any" });

await using hub = await createHub({ servers: { math: fakeStdio({}) } });
const { tools, answer, instructions } = await anthropicTools(hub);

const messages: Anthropic.MessageParam[] = [{ role: "user", content: "Add 40 and 2." }];
for (;;) {
  // Pass the list as it is: it grows when the model finds tools by a search.
  const message = await client.messages.create({
    model: "any",
    max_tokens: 1000,
    system: instructions,
    messages,
    tools,
  });
  const answers = await answer(message);
  if (answers.length === 0) {
    const [said] = message.content;
    const text = said?.type === "text" ? said.text : "";
    console.log(text);
    assert.match(text, /The sum is .*42/);
    break;
  }
  messages.push({ role: "assistant", content: message.content }, { role: "user", content: answers });
}
