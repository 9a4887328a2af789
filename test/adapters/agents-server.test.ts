import { RunContext, getAllMcpTools } from "@openai/agents";
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

  it("sends what toolMetaResolver says as _meta of each call, and nothing of the protocol", async () => {
    const server = new ListServer({ tools: named("one") });
    const metas: unknown[] = [];
    server.answers.set("tools/call", ({ _meta }) => {
      metas.push(_meta);
      return { content: [{ type: "text", text: "done" }] };
    });
    const hub = await hubOf({ it: server.entry }, { env: {} }, { toolSearch: false });
    const agents = openAiAgentsServer(hub, {
      meta: ({ tool }) => ({ "example/tool": tool }),
      toolMetaResolver: ({ toolName, runContext }) => ({
        "example/conversation": (runContext.context as { id: string }).id,
        "example/name": toolName,
        "io.modelcontextprotocol/clientInfo": { name: "somebody else" },
        progressToken: "mine",
      }),
    });
    const [tool] = await getAllMcpTools([agents]);
    if (tool?.type !== "function") throw new Error("no tool");
    await tool.invoke(new RunContext({ id: "c1" }), "{}");
    expect(metas).toHaveLength(1);
    expect(metas[0]).toMatchObject({
      "example/tool": "mcp__it__one",
      "example/conversation": "c1",
      "example/name": "mcp__it__one",
    });
    expect(JSON.stringify(metas[0])).not.toMatch(/somebody else|mine/);
  });

  it("gives the model structured content where useStructuredContent says so, but not of an untrusted server", async () => {
    const server = new ListServer({ tools: named("one") });
    server.answers.set("tools/call", () => ({
      content: [{ type: "text", text: "It is three." }],
      structuredContent: { sum: 3 },
    }));
    const servers = {
      it: server.entry,
      stranger: { ...server.entry, untrusted: true, tools: { allow: ["one"] } },
    };
    const hub = await hubOf(servers, { env: {} }, { toolSearch: false });
    const tools = await getAllMcpTools([openAiAgentsServer(hub, { useStructuredContent: true })]);
    const said = await Promise.all(
      tools.map(async (tool) => (tool.type === "function" ? tool.invoke(new RunContext(), "{}") : "")),
    );
    expect(said[0]).toBe('{"sum":3}');
    expect(said[1]).toMatchObject({ text: expect.stringMatching(/untrusted server "stranger"[^]*three/) });
  });

  it("lists and reads the resources of all servers", async () => {
    const one = new ListServer({
      resources: [
        { uri: "a://only", name: "only" },
        { uri: "a://both", name: "both" },
      ],
    });
    const two = new ListServer({ resources: [{ uri: "a://both", name: "both" }] });
    for (const [name, server] of Object.entries({ one, two }))
      server.answers.set("resources/read", ({ uri }) => ({ contents: [{ uri, text: `${name} has it` }] }));
    const hub = await hubOf({ one: one.entry, two: two.entry }, { env: {} });
    const agents = openAiAgentsServer(hub);
    const { resources } = await agents.listResources();
    expect(resources.map(({ uri }) => uri)).toEqual([
      "a://only",
      "a://both#plugboard=one",
      "a://both#plugboard=two",
    ]);
    const read = async (uri: string) => (await agents.readResource(uri)).contents;
    expect(await read("a://only")).toMatchObject([{ text: "one has it" }]);
    expect(await read("a://both#plugboard=two")).toMatchObject([{ text: "two has it" }]);
    await expect(read("a://both")).rejects.toThrow("Several servers have the resource");
    await expect(read("a://none")).rejects.toThrow("No server lists the resource");
    expect((await agents.listResourceTemplates()).resourceTemplates).toEqual([]);
  });

  it("leaves the hub open when the agent closes it", async () => {
    const hub = await hubOf({ it: new ListServer({ tools: named("one") }).entry }, { env: {} });
    const agents = openAiAgentsServer(hub, { name: "mine" });
    await agents.close();
    expect(agents.name).toBe("mine");
    expect(await hub.tools()).toHaveLength(1);
  });
});
