import { describe, expect, it } from "vitest";
import { argumentMistakes } from "../../src/config.ts";
import { ParsedParams } from "../../src/host.ts";
import type { ApproveQuestion, ServerConfig } from "../../src/index.ts";
import { startFakeHttp } from "../fixtures/fake/index.ts";
import { failure, openHub, openLogged } from "../servers/hub-fixture.ts";
import { ListServer, hubOf } from "./list-server.ts";

const search = {
  name: "search",
  description: "Whatever the server says.",
  inputSchema: {
    type: "object",
    properties: { query: { type: "string" }, project: { type: "string" }, limit: { type: "integer" } },
    required: ["query", "project"],
    additionalProperties: false,
  },
};
const ping = { name: "ping", inputSchema: { type: "object", properties: {} } };

function ruled(tools: ServerConfig["tools"], listed: object[] = [search, ping]) {
  const server = new ListServer({ tools: listed as Record<string, unknown>[] });
  const sent: unknown[] = [];
  server.answers.set("tools/call", ({ arguments: args }) => {
    sent.push(args);
    return { content: [] };
  });
  return { server, sent, entry: { ...server.entry, tools } };
}

describe("M42 rules for descriptions and arguments", () => {
  it("show a description instead of the server's", async () => {
    const { entry } = ruled({ describe: { search: "Searches our issues." } });
    const hub = await hubOf({ it: entry });
    expect(await hub.findTool("it.search")).toMatchObject({
      description: "Searches our issues.",
      raw: { description: "Whatever the server says." },
    });
  });

  it("fill in what a call does not give, before it is checked and approved", async () => {
    const { entry, sent } = ruled({ defaults: { "*": { project: "web", limit: 5 } } });
    const shown: unknown[] = [];
    const interact = {
      approve: async ({ arguments: args }: ApproveQuestion) => {
        shown.push(args);
        return { decision: "allow" as const };
      },
    };
    const hub = await hubOf({ it: { ...entry, approval: "prompt" } }, { interact });
    expect((await hub.findTool("it.search")).inputSchema).toMatchObject({
      properties: { project: { type: "string", default: "web" } },
      required: ["query"],
    });
    await hub.callTool("it.search", { query: "a" });
    await hub.callTool("it.search", { query: "b", project: "api", limit: undefined });
    await hub.forwardCall("it.search", { arguments: { query: "c" } });
    await hub.callTool("it.ping");
    const filled = [
      { query: "a", project: "web", limit: 5 },
      { query: "b", project: "api", limit: 5 },
      { query: "c", project: "web", limit: 5 },
      {},
    ];
    expect(sent).toEqual(filled);
    expect(shown).toEqual(filled);
  });

  it("hide an argument from the model, and refuse it from one that knows it", async () => {
    const { entry, sent } = ruled({
      defaults: { search: { project: "web" } },
      hideArguments: { "s*": ["project"] },
    });
    const hub = await hubOf({ it: entry });
    const { inputSchema } = await hub.findTool("it.search");
    expect(inputSchema).toEqual({
      type: "object",
      properties: { query: { type: "string" }, limit: { type: "integer" } },
      required: ["query"],
      additionalProperties: false,
    });
    await hub.callTool("it.search", { query: "a" });
    const args = { query: "b", project: "secret" };
    for (const call of [hub.callTool("it.search", args), hub.forwardCall("it.search", { arguments: args })])
      expect(await failure(call)).toMatchObject({
        code: "arguments-invalid",
        data: { mistakes: [{ path: "project" }] },
      });
    expect(sent).toEqual([{ query: "a", project: "web" }]);
  });

  it("hide an argument also in alternatives and conditions", async () => {
    const inputSchema = {
      type: "object",
      properties: { a: { type: "string" }, b: { type: "string" }, key: { type: "string" } },
      anyOf: [{ required: ["a", "key"] }, { properties: { key: { const: "x" }, b: {} }, required: ["b"] }],
      dependentRequired: { a: ["key"], key: ["a"] },
    };
    const { entry } = ruled({ hideArguments: { t: ["key"] } }, [{ name: "t", inputSchema }]);
    const hub = await hubOf({ it: entry });
    const tool = await hub.findTool("it.t");
    expect(JSON.stringify(tool.inputSchema)).not.toContain("key");
    expect(tool.inputSchema).toMatchObject({ anyOf: [{ required: ["a"] }, { required: ["b"] }] });
  });

  it("set a tool aside rather than hide half of an argument", async () => {
    const referring = {
      name: "refers",
      inputSchema: { $ref: "#/$defs/all", $defs: { all: { type: "object", properties: { key: {} } } } },
    };
    const { entry, sent } = ruled({ hideArguments: { search: ["project"], refers: ["key"] } }, [
      search,
      referring,
    ]);
    const hub = await hubOf({ it: entry });
    expect(await hub.tools()).toEqual([]);
    expect((await hub.allTools()).map(({ because }) => because)).toEqual([
      "the configuration hides arguments, and its schema does not say in one place which it has",
      'the configuration hides its required argument "project" and gives no default for it',
    ]);
    expect(await failure(hub.callTool("it.search", { query: "a" }))).toMatchObject({ code: "tool-hidden" });
    expect(sent).toEqual([]);
  });

  it("hold wherever the schema names an argument, and where it names none", async () => {
    const key = { type: "string" };
    const listed = Object.entries({
      all: { properties: { a: {} }, allOf: [{ properties: { key } }] },
      either: { anyOf: [{ properties: { key }, required: ["key"] }, { properties: { a: {} } }] },
      unless: { properties: { a: {} }, if: { required: ["a"] }, else: { properties: { key } } },
      old: { properties: { a: {}, key }, dependencies: { a: ["key"] } },
      open: { properties: { a: {} } },
      pattern: { properties: { a: {} }, patternProperties: { "^k": key } },
      refers: { properties: { a: {} }, $ref: "#/$defs/b", $defs: { b: { properties: { key } } } },
    }).map(([name, schema]) => ({ name, inputSchema: { type: "object", ...schema } }));
    const rules = { defaults: { "*": { key: "k" } }, hideArguments: { "*": ["key"] } };
    const { entry, sent } = ruled(rules, listed);
    const hub = await hubOf({ it: entry });
    const tools = await hub.tools();
    expect(tools.map(({ name }) => name)).toEqual(["all", "either", "old", "open", "pattern", "unless"]);
    for (const { id, inputSchema } of tools) {
      expect(JSON.stringify(inputSchema)).not.toContain('"key"');
      expect(await failure(hub.callTool(id, { key: "mine" }))).toMatchObject({ code: "arguments-invalid" });
      await hub.callTool(id, {});
    }
    const filled = { key: "k" };
    expect(sent).toEqual([filled, filled, filled, {}, {}, filled]);
    expect(argumentMistakes(hub.config, tools.slice(0, 1))).toEqual([]);
  });

  it("hold for arguments that a model wrote as one text, or as null", async () => {
    const optional = { ...search, inputSchema: { ...search.inputSchema, required: ["query"] } };
    const { entry, sent } = ruled(
      { hideArguments: { search: ["project"] }, defaults: { search: { limit: 5 } } },
      [optional],
    );
    const hub = await hubOf({ it: entry });
    const written = (args: object) => JSON.stringify(args) as unknown as Record<string, unknown>;
    const hidden = hub.callTool("it.search", written({ query: "a", project: "mine" }));
    expect(await failure(hidden)).toMatchObject({ code: "arguments-invalid" });
    await hub.callTool("it.search", written({ query: "b" }));
    await hub.callTool("it.search", { query: "c", limit: null });
    expect(sent).toEqual([
      { query: "b", limit: 5 },
      { query: "c", limit: 5 },
    ]);
    const none = null as unknown as Record<string, unknown>;
    expect(await failure(hub.callTool("it.search", none))).toMatchObject({ code: "arguments-invalid" });
  });

  it("do not tell a model what a hidden argument is", async () => {
    const { entry } = ruled({
      hideArguments: { search: ["limit"] },
      defaults: { search: { limit: "hidden value" } },
    });
    const hub = await hubOf({ it: entry });
    const errors = [
      await failure(hub.callTool("it.search", { query: "a", project: "b" })),
      await failure(hub.callTool("it.search", { query: "a" })),
    ];
    expect(errors).toMatchObject([{ code: "config-invalid" }, { code: "arguments-invalid" }]);
    expect(JSON.stringify(errors)).not.toMatch(/limit|hidden value/);
  });

  it("hold when they come into force while somebody is asked about a call", async () => {
    const { server, entry, sent } = ruled({});
    const tools = { hideArguments: { search: ["limit"] }, defaults: { search: { project: "web" } } };
    const approve = async () => {
      await hub.reload({ servers: { it: { ...server.entry, tools } }, approval: "prompt" });
      return { decision: "allow" as const };
    };
    const hub = await hubOf({ it: entry }, { interact: { approve } }, { approval: "prompt" });
    const args = { query: "a", project: "mine", limit: 1 };
    expect(await failure(hub.callTool("it.search", args))).toMatchObject({ code: "arguments-invalid" });
    expect(sent).toEqual([]);
  });

  it("follow a reload with the next call, and change the digest", async () => {
    const { server, sent, entry } = ruled({});
    const hub = await hubOf({ it: entry });
    await hub.tools();
    const digests = [await hub.digest()];
    const rules: ServerConfig["tools"][] = [
      { describe: { search: "Mine." } },
      { defaults: { search: { project: "web" } } },
      { defaults: { search: { project: "api" } }, hideArguments: { search: ["project"] } },
    ];
    for (const tools of rules) {
      await hub.reload({ servers: { it: { ...server.entry, tools } } });
      await hub.tools();
      digests.push(await hub.digest());
    }
    expect(new Set(digests).size).toBe(4);
    await hub.callTool("mcp__it__search", { query: "a" });
    expect(sent).toEqual([{ query: "a", project: "api" }]);
  });

  it("keep exact numbers of a forwarded call, beside what is filled in", async () => {
    const inputSchema = { type: "object", properties: { id: { type: "integer" }, project: {} } };
    await using server = await openLogged({ tools: [{ name: "t", inputSchema }] });
    await using hub = await openHub({
      it: { ...server.entry, tools: { defaults: { t: { project: "web" } } } },
    });
    await hub.forwardCall(
      "it.t",
      ParsedParams.parse(Buffer.from('{"arguments":{"id":12345678901234567890}}')),
    );
    const sent = server.lines().find((line) => line.includes("tools/call"));
    expect(sent).toContain('"arguments":{"id":12345678901234567890,"project":"web"}');
  });

  it("are sent as headers, too, where a server wants that", async () => {
    const inputSchema = {
      type: "object",
      properties: { region: { type: "string", "x-mcp-header": "Region" } },
      required: ["region"],
    };
    const http = await startFakeHttp({ versions: "modern", tools: [{ name: "t", inputSchema }] });
    const tools = { defaults: { t: { region: "eu" } }, hideArguments: { t: ["region"] } };
    await using hub = await openHub({ it: { url: http.url, tools } });
    await hub.callTool("it.t");
    const call = http.received.find(({ body }) => JSON.stringify(body ?? "").includes("tools/call"));
    expect(call?.headers["mcp-param-region"]).toBe("eu");
    await http.close();
  });

  it("are diagnosed when a tool has no such argument, or a default does not fit", async () => {
    const { entry } = ruled({
      defaults: { search: { limit: "many", projcet: "web" }, "*": { query: "x" } },
      hideArguments: { search: ["projet", "project"] },
    });
    const hub = await hubOf({ it: entry });
    const mistakes = argumentMistakes(hub.config, await hub.allTools());
    expect(mistakes.map(({ path, message, suggestion }) => [path, message, suggestion])).toEqual([
      [
        "mcpServers.it.tools.defaults.search.limit",
        expect.stringContaining("the default does not fit search"),
        "write a value that the tool accepts",
      ],
      [
        "mcpServers.it.tools.defaults.search.projcet",
        'the tool search has no argument "projcet"',
        'did you mean "project"?',
      ],
      [
        "mcpServers.it.tools.hideArguments.search[0]",
        'the tool search has no argument "projet"',
        'did you mean "project"?',
      ],
      [
        "mcpServers.it.tools.hideArguments.search[1]",
        'search requires the hidden argument "project", so it is not offered',
        "add a default for it in `tools.defaults`",
      ],
    ]);
  });
});
