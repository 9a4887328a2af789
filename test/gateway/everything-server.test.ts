import { join } from "node:path";
import { expect, it } from "vitest";
import { createHub } from "../../src/index.ts";
import type { ServerConfig } from "../../src/index.ts";

const program = join(import.meta.dirname, "..", "..", "scripts", "conformance", "everything", "main.ts");

const args: Record<string, Record<string, unknown>> = {
  greet: { name: "Ada" },
  test_sampling: { prompt: "Say hello." },
  test_elicitation: { message: "Who are you?" },
  json_schema_2020_12_tool: { email: "ada@example.com" },
};

/** Answers that satisfy every question of the server. */
const content = {
  name: "Ada",
  username: "ada",
  email: "ada@example.com",
  color: "red",
  ok: true,
  confirm: true,
  age: 36,
  score: 1.5,
  status: "active",
  verified: true,
  untitledSingle: "option1",
  titledSingle: "value1",
  legacyEnum: "opt1",
  untitledMulti: ["option1"],
  titledMulti: ["value1"],
};

it("M81 gets the same from a server with everything, whatever its era", async () => {
  const [legacy, modern] = await Promise.all([everythingFrom("legacy"), everythingFrom("modern")]);
  expect(legacy.tools["test_input_required_result_multi_round"]).toEqual({
    content: [{ type: "text", text: `Answers: ${JSON.stringify([content, content])}` }],
  });
  expect(modern).toEqual(legacy);
});

async function everythingFrom(era: "legacy" | "modern") {
  const everything: ServerConfig = { command: process.execPath, args: [program, era] };
  await using hub = await createHub(
    { servers: { everything } },
    {
      interact: {
        elicit: async () => ({ action: "accept", content }),
        sample: async () => ({ role: "assistant", content: { type: "text", text: "hello" }, model: "none" }),
        roots: async () => [{ uri: "file:///tmp" }],
      },
    },
  );
  const tools: Record<string, unknown> = {};
  for (const { id, name } of await hub.tools()) {
    tools[name] = await hub.callTool(id, args[name] ?? {}).then(
      ({ content: parts, isError }) => ({ content: parts, ...(isError === true && { isError }) }),
      (error: Error) => error.message,
    );
  }
  const resources = await hub.resources();
  const prompts = await hub.commands();
  const read = await hub.readResource("everything", "test://template/7/data");
  return {
    tools,
    resources: resources.map(({ raw }) => raw),
    prompts: prompts.map(({ id }) => id),
    read: read["contents"],
  };
}
