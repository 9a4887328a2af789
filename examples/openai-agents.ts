/**
 * An agent on the OpenAI Agents SDK that asks a person where the rules want it: the SDK interrupts its run. The model here
 * is scripted. In a program of your own, import from "plugboard" and "plugboard/openai-agents".
 * Run: node examples/openai-agents.ts
 */
import assert from "node:assert/strict";
import { Agent, OpenAIProvider, Runner } from "@openai/agents";
import OpenAI from "openai";
import { openAiAgentsServer, openAiAgentsTools } from "../src/adapters/openai-agents.ts";
import { createHub } from "../src/index.ts";
import { fakeStdio } from "../test/fixtures/fake/index.ts";
import { startModel } from "../test/fixtures/model/index.ts";

const call = { calls: [{ tool: "mcp__math__add", args: { a: 40, b: 2 } }] };
await using scripted = await startModel([call, { text: "It is 42." }, call, { text: "It is 42 again." }]);
const openAIClient = new OpenAI({ baseURL: `${scripted.url}/v1`, apiKey: "any" });
const runner = new Runner({
  modelProvider: new OpenAIProvider({ openAIClient }),
  tracingDisabled: true,
  // Otherwise a tool that is not there ends the run.
  toolNotFoundBehavior: "return_error_to_model",
});

await using hub = await createHub({ servers: { math: { ...fakeStdio({}), approval: "prompt" } } });

const { tools, instructions } = await openAiAgentsTools(hub);
const agent = new Agent({ name: "Adder", model: "any", instructions, tools });
let result = await runner.run(agent, "Add 40 and 2.");
for (const question of result.interruptions) {
  console.log(`May ${question.name} be called with ${question.arguments}? Yes.`);
  result.state.approve(question);
}
assert.equal(result.interruptions.length, 1);
result = await runner.run(agent, result.state);
console.log(result.finalOutput);
assert.equal(result.finalOutput, "It is 42.");

// The same as one MCP server. The SDK asks nobody about its tools, so the view does.
const asked: string[] = [];
const view = hub.view({
  interact: {
    async approve({ toolId }) {
      asked.push(toolId);
      return { decision: "allow" };
    },
  },
});
const other = new Agent({ name: "Other", model: "any", mcpServers: [openAiAgentsServer(view)] });
console.log((await runner.run(other, "Add 40 and 2.")).finalOutput);
assert.deepEqual(asked, ["mcp__math__add"]);
