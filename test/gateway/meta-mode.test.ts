import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import { estimateTokens } from "../../src/calls/output/token-estimate.ts";
import { createGateway } from "../../src/gateway/index.ts";
import type { HubOptions } from "../../src/index.ts";
import { createMemoryStore } from "../../src/store/memory/store.ts";
import { fakeStdio } from "../fixtures/fake/index.ts";
import { inProcessFake, openHub } from "../servers/hub-fixture.ts";
import type { Servers } from "../servers/hub-fixture.ts";
import type { ClientOptions, Era, Fields, TestClient } from "./clients/client.ts";
import { HttpWire } from "./clients/http-wire.ts";
import { openClient } from "./clients/open-client.ts";
import { StdioWire } from "./clients/stdio-wire.ts";
import { throughCallTool } from "./through-call-tool.ts";

const three = ["search_tools", "describe_tools", "call_tool"];
const inputSchema = { type: "object", properties: { path: { type: "string" } }, required: ["path"] };
const words = "copies one kind of thing to another place and says what became of it ".repeat(4);

/** So many tools of about a hundred tokens each. */
const manyTools = (count: number) =>
  Array.from({ length: count }, (_, at) => ({
    name: `copy_thing_${at}`,
    description: `Number ${at} ${words}`,
    inputSchema,
    annotations: { readOnlyHint: true },
  }));

type Transport = "http" | "stdio";

/** A gateway on both transports. */
async function serve(servers: Servers, settings: object = {}, options: HubOptions = {}) {
  const hub = await openHub(servers, { keepFresh: true, ...options }, settings);
  const gateway = createGateway(hub, {
    authenticate: ({ headers }) => headers.get("authorization")?.slice("Bearer ".length),
  });
  const { url } = await gateway.listen();
  const clients: TestClient[] = [];
  const wireOf = (transport: Transport, path: string, caller: string) => {
    if (transport === "http")
      return new HttpWire({ url: `${url}${path}`, headers: { authorization: `Bearer ${caller}` } });
    const [input, output] = [new PassThrough(), new PassThrough()];
    void gateway.serveStdio({ input, output, ...(path !== "" && { bundle: path.slice(1) }) });
    return new StdioWire(input, output);
  };
  return {
    hub,
    connect: async (
      era: Era,
      transport: Transport = "http",
      { path = "", caller = "alice", ...own }: ClientOptions & { path?: string; caller?: string } = {},
    ) => {
      const client = await openClient(era, wireOf(transport, path, caller), own);
      clients.push(client);
      return client;
    },
    async [Symbol.asyncDispose]() {
      for (const client of clients) client.disconnect();
      await gateway.close({ drainMs: 0 });
      await hub.close();
    },
  };
}

const listed = async (client: TestClient) =>
  ((await client.result(client.request("tools/list"))) as { tools: Fields[] }).tools;
const names = async (client: TestClient) => (await listed(client)).map(({ name }) => name);
const said = (result: Fields) => String((result["content"] as Fields[])[0]?.["text"]);
const ask = async (client: TestClient, tool: string, args: Fields) => client.result(client.call(tool, args));

const ways = (["legacy", "modern"] as const).flatMap((era) =>
  (["http", "stdio"] as const).map((transport) => [era, transport] as const),
);

describe.each(ways)("M50 a %s client over %s before many tools", (era, transport) => {
  it("lists three tools, and finds, describes and calls the right one", async () => {
    await using served = await serve({
      things: inProcessFake({ tools: manyTools(400) }),
      sums: inProcessFake({ instructions: "Arithmetic." }),
    });
    await served.hub.tools();
    const client = await served.connect(era, transport);
    const tools = await listed(client);
    expect(tools.map(({ name }) => name)).toEqual(three);
    expect(estimateTokens(JSON.stringify(tools))).toBeLessThan(400);
    expect(tools[0]?.["description"]).toContain('sums ("Arithmetic")');
    const found = said(await ask(client, "search_tools", { query: "sums: add two numbers" }));
    expect(found.split("\n")[0]).toBe("sums__add(a?, b?): Adds a and b");
    const described = said(await ask(client, "describe_tools", { names: ["sums__add"] }));
    expect(JSON.parse(described)).toMatchObject({ name: "sums__add", annotations: { readOnlyHint: true } });
    const events: unknown[] = [];
    served.hub.on("call-end", ({ tool, outcome }) => events.push([tool, outcome]));
    const result = await ask(client, "call_tool", { name: "sums__add", arguments: { a: 2, b: 3 } });
    expect(result).toMatchObject({ structuredContent: { sum: 5 } });
    expect(events).toEqual([["mcp__sums__add", "ok"]]);
  });

  it("may call a deferred tool by its own name, and is told the schema that it does not have", async () => {
    await using served = await serve({ things: inProcessFake({ tools: manyTools(400) }) });
    await served.hub.tools();
    const client = await served.connect(era, transport);
    expect(await names(client)).toEqual(three);
    expect(await ask(client, "things__copy_thing_7", { path: "x" })).toMatchObject({
      structuredContent: { path: "x" },
    });
    const schema = JSON.stringify(inputSchema);
    const wrong = await ask(client, "things__copy_thing_7", { paht: "x" });
    expect(wrong).toMatchObject({
      isError: true,
      _meta: { "plugboard/error": { code: "arguments-invalid" } },
    });
    expect(said(wrong)).toContain(`The inputSchema of things__copy_thing_7: ${schema}`);
    const through = await ask(client, "call_tool", { name: "things__copy_thing_7", arguments: {} });
    expect(said(through)).toContain(`The inputSchema of things__copy_thing_7: ${schema}`);
    const unknown = await ask(client, "call_tool", { name: "things__copy_thng_7", arguments: {} });
    expect(unknown).toMatchObject({ isError: true });
    expect(said(unknown)).toMatch(/no tool "things__copy_thng_7"\. Did you mean things__copy_thing_/);
  });

  it("has no second door: hidden tools are not found, described or called, and risky ones are asked about", async () => {
    const rules = { tools: { deny: ["echo"] }, approval: { tools: { count: "deny" } } };
    await using served = await serve({ one: { ...inProcessFake({}), ...rules } } as Servers, {
      toolSearch: true,
    });
    await served.hub.tools();
    const client = await served.connect(era, transport);
    expect(said(await ask(client, "search_tools", { query: "echo returns its arguments" }))).not.toContain(
      "one__echo",
    );
    expect(said(await ask(client, "describe_tools", { names: ["one__echo"] }))).not.toContain("inputSchema");
    for (const name of ["one__echo", "one.echo", "mcp__one__echo", "echo"])
      expect(await ask(client, "call_tool", { name, arguments: {} })).toMatchObject({ isError: true });
    const denied = await ask(client, "call_tool", { name: "one__count", arguments: {} });
    expect(said(denied)).toContain("the configuration denies it");
    // Read-only tools need no approval; others do, although a direct call is left to the client.
    expect(
      await ask(client, "call_tool", { name: "one__add", arguments: { a: 1, b: 2 } }),
    ).not.toHaveProperty("isError");
    const risky = await ask(client, "call_tool", { name: "one__big", arguments: { bytes: 1 } });
    expect(said(risky)).toContain("it may change something, and nobody is there to ask");
    expect(await ask(client, "one__big", { bytes: 1 })).toMatchObject({ content: [{ text: "x" }] });
    expect(await client.call("call_tool", { name: "call_tool", arguments: {} }).answer).toMatchObject({
      result: { isError: true },
    });
  });
});

describe("M49 one decision for an endpoint", () => {
  it("holds for every caller, and while a server is away", async () => {
    await using served = await serve({
      things: inProcessFake({ tools: manyTools(400) }),
      few: inProcessFake({}),
    });
    await served.hub.tools();
    const alice = await served.connect("legacy");
    expect(await names(alice)).toEqual(three);
    await served.hub.disable("things");
    expect(await names(alice)).toEqual(three);
    expect(await names(await served.connect("modern", "http", { caller: "bob" }))).toEqual(three);
    served.hub.enable("things");
    expect(await names(alice)).toEqual(three);
  });

  it("is the same after a restart, from the snapshot, before any server answers", async () => {
    const store = createMemoryStore();
    const silent = fakeStdio({ tools: manyTools(60) });
    const settings = { contextTokens: 20_000 };
    {
      await using earlier = await serve({ things: silent }, settings, { store });
      await earlier.hub.tools();
      expect(await names(await earlier.connect("legacy"))).toEqual(three);
    }
    await using served = await serve({ things: silent }, settings, { store });
    expect(await names(await served.connect("modern"))).toEqual(three);
    expect(served.hub.status()[0]?.counts.requests).toBe(0);
  });

  it("lists the three tools at once although no server has ever answered, and searches what comes later", async () => {
    const until = { waitFor: { method: "completion/complete" } };
    const searching = fakeStdio({ on: [{ when: { method: "tools/list" }, do: [until, { default: true }] }] });
    await using served = await serve({ searching, good: inProcessFake({}) }, { toolSearch: true });
    const client = await served.connect("modern");
    expect(await names(client)).toEqual(three);
    const found = said(await ask(client, "search_tools", { query: "add numbers" }));
    expect(found).toContain("good__add(");
    expect(found).toContain("Not searched, because their tools are not known yet: searching.");
  });

  it("has the tools that are always loaded in the first list after a cold start", async () => {
    const kept = { ...fakeStdio({}), alwaysLoad: ["add"] };
    const things = inProcessFake({ tools: manyTools(400) });
    for (const toolSearch of [true, "auto"]) {
      await using served = await serve({ kept, things }, { toolSearch });
      const client = await served.connect("legacy");
      expect(await names(client)).toEqual([...three, "kept__add"]);
    }
  });

  it("does not wait for one of their servers that hangs, if there is another", async () => {
    const until = { waitFor: { method: "completion/complete" } };
    const hanging = fakeStdio({ on: [{ when: { method: "tools/list" }, do: [until, { default: true }] }] });
    const servers = {
      hanging: { ...hanging, alwaysLoad: true },
      kept: { ...fakeStdio({}), alwaysLoad: ["add"] },
    };
    await using served = await serve(servers, { toolSearch: true });
    const client = await served.connect("legacy");
    expect(await names(client)).toEqual([...three, "kept__add"]);
  });

  it("a misspelt name gets the nearest names, and not what a search for its words finds", async () => {
    const tool = (name: string, description: string) => ({ name, description, inputSchema });
    const notes = inProcessFake({
      tools: [tool("delete_note", "Deletes a nota or note for ever"), tool("get_note", "Shows one")],
    });
    await using served = await serve({ notes }, { toolSearch: true });
    await served.hub.tools();
    const client = await served.connect("modern");
    for (const [tool, args] of [
      ["call_tool", { name: "notes__get_nota", arguments: {} }],
      ["describe_tools", { names: ["notes__get_nota"] }],
    ] as const)
      expect(said(await ask(client, tool, args))).toMatch(
        /no tool "notes__get_nota"\. Did you mean notes__get_note\?/,
      );
  });

  it("a hidden tool is refused with the reason, through `call_tool` and by its own name", async () => {
    const hiding = { ...inProcessFake({}), tools: { deny: ["echo"] } };
    await using served = await serve({ hiding }, { toolSearch: true });
    await served.hub.tools();
    const client = await served.connect("modern");
    const inner = await ask(client, "call_tool", { name: "hiding__echo", arguments: {} });
    expect(said(inner)).toMatch(/echo of "hiding" cannot be called: .*deny/);
    expect(await client.call("hiding__echo").answer).toMatchObject({
      error: { code: -32_602, data: { code: "tool-hidden" } },
    });
  });

  it("a new configuration can change it; clients that never list again can go on with what they have", async () => {
    const things = { ...inProcessFake({ tools: manyTools(400) }) };
    await using served = await serve({ things, few: inProcessFake({}) });
    await served.hub.tools();
    const client = await served.connect("legacy");
    expect(await names(client)).toEqual(three);
    await served.hub.reload({ servers: { few: inProcessFake({}) } });
    await served.hub.tools();
    expect(await names(client)).toContain("few__add");
    const call = { name: "few__add", arguments: { a: 1, b: 1 } };
    expect(await ask(client, "call_tool", call)).toMatchObject({ structuredContent: { sum: 2 } });
  });

  it("changes when the catalog outgrows the limit: clients are told, and those that do not look go on as before", async () => {
    await using served = await serve({ few: inProcessFake({}) });
    await served.hub.tools();
    const client = await served.connect("legacy", "stdio");
    expect(await names(client)).toContain("few__add");
    const changed = "notifications/tools/list_changed";
    const told = client.sees(changed, ({ method }) => method === changed);
    await served.hub.add("things", inProcessFake({ tools: manyTools(400) }));
    await told;
    await served.hub.tools();
    expect(await names(client)).toEqual(three);
    expect(await ask(client, "few__add", { a: 1, b: 2 })).toMatchObject({ structuredContent: { sum: 3 } });
  });

  it("what one caller sees decides for the others, who are told", async () => {
    const things = { ...inProcessFake({ tools: manyTools(400) }), isolation: "caller" } as Servers[string];
    await using served = await serve({ few: inProcessFake({}), things });
    await served.hub.view({ servers: ["few"] }).tools();
    const bob = await served.connect("legacy", "http", { caller: "bob" });
    const alice = await served.connect("legacy", "stdio");
    await served.hub.view({ caller: "bob" }).tools();
    expect(await names(bob)).toEqual(three);
    expect(await names(alice)).toEqual(three);
  });

  it("a bundle with the mode `meta` always has three tools, and `alwaysLoad` adds to them", async () => {
    const bundles = { some: { servers: ["few"], mode: "meta" } };
    const few = { ...inProcessFake({}), alwaysLoad: ["add"] };
    await using served = await serve({ few, other: inProcessFake({}) }, { bundles, toolSearch: false });
    await served.hub.tools();
    const client = await served.connect("modern", "http", { path: "/some" });
    expect(await names(client)).toEqual([...three, "few__add"]);
    expect(said(await ask(client, "search_tools", { query: "echo" }))).not.toContain("other__");
    const foreign = await ask(client, "call_tool", { name: "other__echo", arguments: {} });
    expect(foreign).toMatchObject({ isError: true });
    const all = await served.connect("legacy");
    expect(await names(all)).toContain("other__echo");
    expect(await all.call("search_tools", { query: "echo" }).answer).toMatchObject({
      error: { code: -32_602 },
    });
  });
});

describe("M50 what a call through `call_tool` brings back", () => {
  const ui = { extensions: { "io.modelcontextprotocol/ui": { mimeTypes: ["text/html;profile=mcp-app"] } } };

  it("names the page of the inner tool's app for a client that shows apps", async () => {
    const tools = [
      {
        name: "show",
        inputSchema,
        annotations: { readOnlyHint: true },
        _meta: { ui: { resourceUri: "ui://a/b" } },
      },
    ];
    await using served = await serve(
      { one: inProcessFake({ tools }), two: inProcessFake({}) },
      { toolSearch: true },
    );
    await served.hub.tools();
    const call = { name: "one__show", arguments: { path: "x" } };
    for (const era of ["legacy", "modern"] as const) {
      const host = await served.connect(era, "stdio", { capabilities: ui });
      expect(await ask(host, "call_tool", call)).toMatchObject({
        _meta: { ui: { resourceUri: "ui://a/b" } },
      });
      const plain = await served.connect(era, "stdio");
      expect(await ask(plain, "call_tool", call)).not.toHaveProperty("_meta.ui");
    }
  });

  it("can be a task of the server", async () => {
    const it = { ...fakeStdio({ versions: "modern", tasks: {} }), approval: "approve" } as Servers[string];
    await using served = await serve({ it }, { toolSearch: true });
    await served.hub.tools();
    const capabilities = { extensions: { "io.modelcontextprotocol/tasks": {} } };
    const client = throughCallTool(await served.connect("modern", "stdio", { capabilities }));
    const task = await client.result(client.once("tools/call", { name: "it__failing_job", arguments: {} }));
    expect(task).toMatchObject({ resultType: "task", status: "working" });
  });
});
