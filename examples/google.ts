/**
 * An agent on Gemini with Google's own client. The model here is scripted. Run: node examples/google.ts
 */
import assert from "node:assert/strict";
import { GoogleGenAI } from "@google/genai";
import type { Content } from "@google/genai";
import { createHub } from "plugboard";
import { googleTools } from "plugboard/google";
import { fakeStdio, startModel } from "plugboard/testing";

await using scripted = await startModel([
  { calls: [{ tool: "mcp__math__add", args: { a: 40, b: 2 } }] },
  ({ results }) => ({ text: `The sum is ${results.get("call_0_0")?.text}` }),
]);
const { models } = new GoogleGenAI({ apiKey: "any", httpOptions: { baseUrl: scripted.url } });

await using hub = await createHub({ servers: { math: fakeStdio({}) } });
const { tool, answer, instructions } = await googleTools(hub);

const contents: Content[] = [{ role: "user", parts: [{ text: "Add 40 and 2." }] }];
for (;;) {
  const config = { tools: [tool], systemInstruction: instructions };
  const response = await models.generateContent({ model: "any", contents, config });
  const answers = await answer(response);
  if (answers.length === 0) {
    console.log(response.text);
    assert.match(response.text ?? "", /The sum is .*42/);
    break;
  }
  const said = response.candidates?.[0]?.content;
  contents.push(...(said ? [said] : []), { role: "user", parts: answers });
}

// The same with the SDK's automatic function calling, and a tool of the program itself beside those of the hub.
scripted.say({ calls: [{ tool: "time", args: { zone: "UTC" } }] }, ({ results }) => ({
  text: `It is ${results.values().next().value?.text}`,
}));
const time = {
  name: "time",
  parametersJsonSchema: { type: "object", properties: { zone: { type: "string" } } },
};
const { callable } = await googleTools(hub, {
  own: [{ tool: time, run: ({ zone }) => `noon in ${String(zone)}` }],
});
const automatic = await models.generateContent({
  model: "any",
  contents: "What time is it?",
  config: { tools: [callable()] },
});
console.log(automatic.text);
assert.match(automatic.text ?? "", /noon in UTC/);
