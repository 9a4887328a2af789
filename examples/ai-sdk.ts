/**
 * An agent on the AI SDK with all configured tools. The model here is scripted; take any model of the SDK instead.
 * In a program of your own, import from "plugboard" and "plugboard/ai-sdk". Run: node examples/ai-sdk.ts
 */
import assert from "node:assert/strict";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { stepCountIs, streamText } from "ai";
import { aiSdkMentions, aiSdkTools } from "../src/adapters/ai-sdk.ts";
import { createHub } from "../src/index.ts";
import { fakeStdio } from "../test/fixtures/fake/index.ts";
import { startModel } from "../test/fixtures/model/index.ts";

await using scripted = await startModel([
  { text: ["Let me ", "add."], calls: [{ tool: "mcp__math__add", args: { a: 40, b: 2 } }] },
  ({ results }) => ({ text: ["The sum is ", results.get("call_0_0")?.text ?? "unknown"] }),
]);
const model = createOpenAICompatible({ name: "scripted", baseURL: `${scripted.url}/v1` })("any");

await using hub = await createHub({ servers: { math: fakeStdio({}) } });

const { tools, instructions, setAside } = await aiSdkTools(hub, {
  onProgress: ({ progress, total }, { tool }) => console.log(`${tool}: ${progress} of ${total}`),
});
for (const { id, because } of setAside) console.log(`${id} is not offered: ${because}`);

// A mention becomes an attachment.
const content = await aiSdkMentions(hub, "Add the numbers of @math:fake://readme");
const { textStream, text } = streamText({
  model,
  tools,
  instructions,
  messages: [{ role: "user", content }],
  stopWhen: stepCountIs(10),
});
for await (const piece of textStream) process.stdout.write(piece);
console.log();
assert.match(await text, /The sum is .*42/);
