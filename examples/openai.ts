/**
 * An agent on OpenAI's own client, with Responses. Chat Completions work the same with `openAiChatTools`. The model here
 * is scripted. In a program of your own, import from "plugboard" and "plugboard/openai". Run: node examples/openai.ts
 */
import assert from "node:assert/strict";
import OpenAI from "openai";
import { openAiResponsesTools } from "../src/adapters/openai.ts";
import { createHub } from "../src/index.ts";
import { fakeStdio } from "../test/fixtures/fake/index.ts";
import { startModel } from "../test/fixtures/model/index.ts";

await using scripted = await startModel([
  { calls: [{ tool: "mcp__math__add", args: { a: 40, b: 2 } }, { tool: "mcp__math__fail" }] },
  ({ results }) => ({ text: `The sum is ${results.get("call_0_0")?.text}` }),
]);
const client = new OpenAI({ baseURL: `${scripted.url}/v1`, apiKey: "any" });

await using hub = await createHub({ servers: { math: fakeStdio({}) } });
const { tools, answer, instructions } = await openAiResponsesTools(hub);

const input: OpenAI.Responses.ResponseInputItem[] = [{ role: "user", content: "Add 40 and 2." }];
for (;;) {
  // Pass the list as it is: it grows when the model finds tools by a search.
  const response = await client.responses.create({ model: "any", input, tools, instructions });
  const answers = await answer(response);
  if (answers.length === 0) {
    console.log(response.output_text);
    assert.match(response.output_text, /The sum is .*42/);
    break;
  }
  input.push(...(response.output as OpenAI.Responses.ResponseInputItem[]), ...answers);
}

// The other call failed, and the model was told.
const failed = scripted.received[1]?.results.get("call_0_1");
assert.equal(failed?.text, "Error: failed on purpose");
