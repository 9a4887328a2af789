/**
 * The program that the conformance suite starts for each scenario: it does through the hub what a scenario wants to
 * see, whatever revision the other side speaks. The suite appends its server's URL and says in the environment which
 * scenario it is.
 */
import { leftOut } from "./exceptions.ts";

const { MCP_CONFORMANCE_SCENARIO: scenario = "", MCP_CONFORMANCE_CONTEXT: context = "{}" } = process.env;
const url = process.argv.at(-1) ?? "";

if (!leftOut.test(scenario)) {
  await run();
  console.log("finished");
}

async function run(): Promise<void> {
  const { createHub } = await import("../../src/index.ts");
  await using hub = await createHub(
    { servers: { peer: { url } } },
    {
      interact: {
        elicit: async () => ({ action: "accept", content: {} }),
        sample: async () => ({ role: "assistant", content: { type: "text", text: "yes" }, model: "none" }),
        roots: async () => [],
      },
    },
  );
  const tools = await hub.tools();
  const call = (tool: string, args: Record<string, unknown> = {}) => hub.callTool(`peer.${tool}`, args);
  switch (scenario) {
    case "tools_call":
      await call("add_numbers", { a: 5, b: 3 });
      break;
    case "elicitation-sep1034-client-defaults":
      await call("test_client_elicitation_defaults");
      break;
    case "sse-retry":
      await call("test_reconnection");
      break;
    case "sep-2322-client-request-state":
      for (const tool of tools) await call(tool.name);
      break;
    case "http-standard-headers":
      for (const tool of tools) await call(tool.name);
      for (const { raw } of await hub.resources()) await hub.readResource("peer", String(raw["uri"]));
      for (const { id } of await hub.commands()) await hub.getPrompt(id);
      break;
    case "http-invalid-tool-headers":
      for (const tool of tools) await call(tool.name, sampleArguments(tool.inputSchema));
      break;
    case "http-custom-headers":
      for (const { name, arguments: args } of toolCalls()) await call(name, args);
      break;
    case "json-schema-2020-12-preservation": {
      const subject = tools.find(({ name }) => name === "json_schema_2020_12_tool");
      await call("json_schema_echo", { schema: subject?.inputSchema });
      break;
    }
    default:
    // Connecting and listing is what the others look at.
  }
}

function toolCalls(): { name: string; arguments: Record<string, unknown> }[] {
  const { toolCalls: calls = [] } = JSON.parse(context) as { toolCalls?: ReturnType<typeof toolCalls> };
  return calls;
}

/** Something of the right type for each parameter. */
function sampleArguments({ properties = {} }: Record<string, unknown>): Record<string, unknown> {
  const samples: Record<string, unknown> = { string: "text", number: 1, integer: 1, boolean: true };
  const types = Object.entries(properties as Record<string, { type?: string }>);
  return Object.fromEntries(types.map(([name, { type = "string" }]) => [name, samples[type] ?? null]));
}
