import { describe, expect, it } from "vitest";
import { openAiAgentsServer } from "../../src/adapters/openai-agents.ts";
import { ListServer, hubOf, named } from "../catalog/list-server.ts";

const described = (name: string) => ({ ...named(name)[0], description: `Does the ${name}` });

describe("M64 a view as an MCPServer of the Agents SDK", () => {
  it("lists what changed in the view in the next turn", async () => {
    const server = new ListServer({ tools: named("one") });
    const hub = await hubOf({ it: server.entry }, { env: {} });
    const agents = openAiAgentsServer(hub);
    await agents.connect();
    const names = async () => (await agents.listTools()).map(({ name }) => name);
    expect(await names()).toEqual(["mcp__it__one"]);
    server.tools = named("one", "two");
    await hub.refresh();
    expect(await names()).toEqual(["mcp__it__one", "mcp__it__two"]);
  });

  it("keeps what the model found when the list changes", async () => {
    const server = new ListServer({ tools: [described("washing"), described("ironing")] });
    const hub = await hubOf({ it: server.entry }, { env: {} }, { toolSearch: true });
    const agents = openAiAgentsServer(hub);
    const names = async () => (await agents.listTools()).map(({ name }) => name);
    expect(await names()).not.toContain("mcp__it__washing");
    await agents.callTool("search_tools", { query: "washing" });
    expect(await names()).toContain("mcp__it__washing");
    server.tools = [...server.tools, described("folding")];
    await hub.refresh();
    expect(await names()).toContain("mcp__it__washing");
  });

  it("leaves the hub open when the agent closes it", async () => {
    const hub = await hubOf({ it: new ListServer({ tools: named("one") }).entry }, { env: {} });
    const agents = openAiAgentsServer(hub, { name: "mine" });
    await agents.close();
    expect(agents.name).toBe("mine");
    expect(await hub.tools()).toHaveLength(1);
  });
});
