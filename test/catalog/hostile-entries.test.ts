import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";
import { createHub } from "../../src/index.ts";
import type { Hub, HubOptions, PlugboardEvent } from "../../src/index.ts";
import { createSandbox } from "../sandbox.ts";
import { failure } from "../servers/hub-fixture.ts";

const program = fileURLToPath(new URL("../fixtures/programs/deep.mjs", import.meta.url));
/** Becomes 20,000 lists in each other. */
const deep = "$deep";
const tool = (name: string, more: object = {}) => ({ name, inputSchema: { type: "object" }, ...more });

function deepServer(script: Record<string, object[]>) {
  return {
    command: process.execPath,
    args: [program, JSON.stringify(script)],
    env: { TOKEN: "long-enough-1234" },
  };
}

async function open(script: Record<string, object[]>, options: HubOptions = {}): Promise<Hub> {
  const hub = await createHub({ servers: { it: deepServer(script), other: deepServer({}) } }, options);
  onTestFinished(() => hub.close());
  return hub;
}

const tools = [
  tool("good"),
  tool("in-meta", { _meta: { deep } }),
  tool("in-annotations", { annotations: { deep } }),
  tool("in-schema", { inputSchema: { type: "object", default: deep } }),
  tool("in-output", { outputSchema: { type: "object", deep } }),
  tool("in-icons", { icons: deep }),
];

describe("M51 an entry that is nested 20,000 levels deep", () => {
  it("is a tool set aside with the reason; the other tools, and all of it as JSON, are fine", async () => {
    const hub = await open({ "tools/list": [{ result: { tools } }] });
    const all = await hub.allTools();
    expect(all.filter(({ server }) => server === "it").map(({ name, status }) => [name, status])).toEqual([
      ["good", "available"],
      ["in-annotations", "set-aside"],
      ["in-icons", "set-aside"],
      ["in-meta", "set-aside"],
      ["in-output", "set-aside"],
      ["in-schema", "set-aside"],
    ]);
    const because = all.find(({ name }) => name === "in-meta")?.because;
    expect(because).toBe("its `_meta` is nested deeper than 128 levels");
    expect(JSON.stringify(all)).toContain("in-meta");
    expect(await hub.callTool("mcp__it__good", {})).toMatchObject({ content: [{ text: "done" }] });
  });

  it("does not keep the list from being remembered for the next run", async () => {
    const box = createSandbox();
    box.write("home/.config/plugboard/config.json", {
      mcpServers: { it: deepServer({ "tools/list": [{ result: { tools } }] }) },
    });
    expect((await box.cli(["tools", "--all", "--json"])).json).toMatchObject({ tools: { length: 6 } });
    const { out, err } = await box.cli(["tools", "--all"]);
    expect(out).toContain("nested deeper than 128 levels");
    expect(err).toContain("List saved just now");
  });

  it("is a prompt, resource or template left out with a warning", async () => {
    const hub = await open({
      "prompts/list": [{ result: { prompts: [{ name: "good" }, { name: "bad", _meta: { deep } }] } }],
      "resources/list": [
        {
          result: {
            resources: [
              { name: "good", uri: "x:a" },
              { uri: "x:b", deep },
            ],
          },
        },
      ],
      "resources/templates/list": [
        {
          result: {
            resourceTemplates: [
              { name: "good", uriTemplate: "x:{a}" },
              { name: "bad", deep },
            ],
          },
        },
      ],
    });
    const warnings: string[] = [];
    hub.on("server-log", ({ message }) => warnings.push(message));
    expect((await hub.prompts()).map(({ raw }) => raw["name"])).toEqual(["good"]);
    expect((await hub.commands()).map(({ name }) => name)).toEqual(["good"]);
    expect((await hub.resources()).map(({ raw }) => raw["name"])).toEqual(["good"]);
    expect((await hub.resourceTemplates()).map(({ raw }) => raw["name"])).toEqual(["good"]);
    const reason = (field: string) => `is set aside: its \`${field}\` is nested deeper than 128 levels`;
    expect(warnings).toEqual([
      `"bad" in the list of prompts ${reason("_meta")}`,
      `"x:b" in the list of resources ${reason("deep")}`,
      `"bad" in the list of resources ${reason("deep")}`,
    ]);
  });
});

describe("M43 a message that is nested 20,000 levels deep", () => {
  const failing: [string, (hub: Hub) => Promise<unknown>][] = [
    ["a tool's result", (hub) => hub.callTool("mcp__it__good", {})],
    ["a prompt", (hub) => hub.getPrompt("mcp__it__good", {})],
    ["a resource", (hub) => hub.readResource("it", "x:a")],
    ["any other answer", (hub) => hub.request("resources/read", { uri: "x:a" }, { server: "it" })],
  ];
  it.each(failing)("fails only that request: %s", async (_, ask) => {
    const hub = await open({
      "prompts/list": [{ result: { prompts: [{ name: "good" }] } }],
      "tools/call": [{ result: { content: [], structuredContent: { deep } } }],
      "prompts/get": [
        { result: { messages: [{ role: "user", content: { type: "text", text: "", deep } }] } },
      ],
      "resources/read": [{ result: { contents: [{ uri: "x:a", text: "", _meta: { deep } }] } }],
    });
    expect(await failure(ask(hub))).toMatchObject({
      code: "protocol-error",
      server: "it",
      message: expect.stringContaining("nested deeper than 500 levels") as string,
    });
    expect(hub.status()).toMatchObject([{ state: "connected" }, {}]);
  });

  it("is an error that keeps its words", async () => {
    const hub = await open({ "tools/call": [{ error: { code: -32_000, message: "sorry", data: deep } }] });
    const error = await failure(hub.callTool("mcp__it__good", {}));
    expect(error).toMatchObject({ code: "server-error", data: { rpcCode: -32_000 } });
    expect(error.message).toContain("sorry");
    expect(JSON.stringify(error.data)).toContain("nested deeper than 500 levels");
  });

  it("is a notification of which the deep part is left out", async () => {
    const params = { level: "error", data: deep };
    const hub = await open({
      "tools/call": [{ method: "notifications/message", params }, { result: { content: [] } }],
    });
    const logged: PlugboardEvent[] = [];
    hub.on("server-log", (event) => logged.push(event));
    await hub.callTool("mcp__it__good", {});
    expect(logged).toMatchObject([{ level: "error", message: "(nested deeper than 500 levels)" }]);
  });

  it("is a question that nobody is asked", async () => {
    const params = { message: "Your name?", requestedSchema: deep };
    const asked: unknown[] = [];
    const elicit = async (question: unknown) => {
      asked.push(question);
      return { action: "decline" as const };
    };
    const hub = await open(
      { "tools/call": [{ id: 1, method: "elicitation/create", params }] },
      { interact: { elicit } },
    );
    const answered = new Promise<string>((resolve) => {
      hub.on("server-log", ({ message }) => resolve(message));
    });
    const given = new AbortController();
    const call = failure(hub.callTool("mcp__it__good", {}, { signal: given.signal }));
    expect(await answered).toContain("Nested deeper than 500 levels");
    given.abort();
    await call;
    expect(asked).toEqual([]);
  });

  it("is a greeting that fails that server alone", async () => {
    const hub = await open({
      initialize: [{ result: { protocolVersion: "2025-06-18", capabilities: { deep } } }],
    });
    expect(await failure(hub.connect("it"))).toMatchObject({ code: "protocol-error", server: "it" });
    expect(await hub.callTool("mcp__other__good", {})).toMatchObject({ content: [{ text: "done" }] });
  });
});

describe("M51 names that every object has", () => {
  const names = ["constructor", "__proto__", "toString", "hasOwnProperty", "valueOf"];

  it("are names of tools and arguments like any other, with every kind of rule", async () => {
    const listed = names.map((name) => {
      const properties = JSON.parse(`{ "${name}": { "type": "string" } }`) as object;
      return tool(name, { inputSchema: { type: "object", properties } });
    });
    const server = deepServer({ "tools/list": [{ result: { tools: listed } }] });
    const rules = {
      tools: { rename: { other: "x" }, annotations: { "t*": { readOnlyHint: true } }, deny: ["nothing"] },
      approval: { tools: { "x*": "deny" as const } },
    };
    await using hub = await createHub({ servers: { it: { ...server, ...rules } } });
    expect((await hub.tools()).map(({ name }) => name).sort()).toEqual([...names].sort());
    for (const { id, name } of await hub.tools())
      expect(await hub.callTool(id, { [name]: "x" }), name).toMatchObject({ content: [{ text: "done" }] });
  });

  it("are names of prompts and their arguments like any other", async () => {
    const prompts = names.map((name) => ({ name, arguments: [{ name }] }));
    const hub = await open({
      "prompts/list": [{ result: { prompts } }],
      "prompts/get": [{ result: { messages: [] } }],
    });
    expect((await hub.commands()).map(({ name }) => name)).toEqual(names);
    for (const { id, name } of await hub.commands())
      expect(await hub.getPrompt(id, { [name]: "x" })).toEqual({ messages: [] });
  });
});
