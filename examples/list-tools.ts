/**
 * Lists the tools of two servers, a separate program and one in this process, and calls one of each.
 * Run: node examples/list-tools.ts
 */
import assert from "node:assert/strict";
import { McpServer } from "@modelcontextprotocol/server";
import { z } from "zod";
import { createHub } from "plugboard";
import { fakeStdio } from "plugboard/testing";

const greeter = new McpServer({ name: "greeter", version: "1.0.0" });
greeter.registerTool("greet", { inputSchema: z.object({ name: z.string() }) }, async ({ name }) => ({
  content: [{ type: "text", text: `Hello, ${name}!` }],
}));

await using hub = await createHub({ servers: { calculator: fakeStdio(), greeter: { server: greeter } } });

const tools = await hub.tools();
const names = tools.map(({ server, name }) => `${server}: ${name}`);
console.log(names.join("\n"));
assert(names.includes("calculator: add"));
assert(names.includes("greeter: greet"));

const { structuredContent } = await hub.callTool("mcp__calculator__add", { a: 19, b: 23 });
assert.deepEqual(structuredContent, { sum: 42 });

const greeting = await hub.callTool("greeter.greet", { name: "Ada" });
assert.deepEqual(greeting.content, [{ type: "text", text: "Hello, Ada!" }]);

for (const { name, state, era, protocolVersion } of hub.status()) {
  console.log(`${name} is ${state} (${era}, ${protocolVersion})`);
  assert.equal(state, "connected");
}
