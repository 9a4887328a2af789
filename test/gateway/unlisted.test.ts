import { describe, expect, it } from "vitest";
import { fakeStdio } from "../fixtures/fake/index.ts";
import type { Script } from "../fixtures/fake/index.ts";
import { inProcessFake } from "../servers/hub-fixture.ts";
import type { Fields } from "./clients/client.ts";
import { openPipe } from "./open-pipe.ts";

const offering = (name: string, more: Script = {}): Script => ({
  versions: "legacy",
  resources: [{ uri: `${name}://note`, name: "note" }],
  resourceTemplates: [{ uriTemplate: `${name}://item/{id}`, name: "item" }],
  prompts: [{ name: "greet", arguments: [{ name: "who" }] }],
  on: [
    {
      when: { method: "resources/read" },
      do: [{ answer: { contents: [{ uri: `${name}://note`, text: `from ${name}` }] } }],
    },
  ],
  ...more,
});

const eras = ["legacy", "modern"] as const;
const hanging = fakeStdio({ start: [{ silent: true }] });

describe.each(eras)("M80 a %s client that has listed nothing", (era) => {
  it("reads resources, also of templates, and completes", async () => {
    const servers = { a: inProcessFake(offering("a")), b: inProcessFake(offering("b")) };
    const argument = { name: "id", value: "" };
    const asked: [string, Fields][] = [
      ["resources/read", { uri: "b://note" }],
      ["resources/read", { uri: "b://item/7" }],
      ["completion/complete", { ref: { type: "ref/resource", uri: "a://item/{id}" }, argument }],
      ["completion/complete", { ref: { type: "ref/prompt", name: "a__greet" }, argument }],
    ];
    for (const [method, params] of asked) {
      await using served = await openPipe(servers, { isWarm: false });
      const client = await served.connect(era);
      expect(await client.result(client.request(method, params))).toMatchObject(
        method === "resources/read" ? { contents: [{ text: "from b" }] } : { completion: {} },
      );
    }
  });

  it("does not wait long for a server that hangs", async () => {
    const servers = { a: inProcessFake(offering("a")), hanging };
    await using served = await openPipe(servers, { isWarm: false });
    const client = await served.connect(era);
    const read = client.request("resources/read", { uri: "a://note" });
    expect(await client.result(read)).toHaveProperty("contents");
    const [, status] = served.hub.status();
    expect(status).toMatchObject({ name: "hanging", counts: { failures: 0 } });
  });

  it("reads where every caller has a connection of its own", async () => {
    const own = (name: string) => ({ ...inProcessFake(offering(name)), isolation: "caller" as const });
    await using served = await openPipe({ a: own("a"), b: own("b") });
    const client = await served.connect(era);
    const read = client.request("resources/read", { uri: "b://note" });
    expect(await client.result(read)).toMatchObject({ contents: [{ text: "from b" }] });
  });

  it("is told that nobody has a URI, and which servers have the same one", async () => {
    const same = { resources: [{ uri: "x://same", name: "same" }] };
    const servers = { a: inProcessFake(offering("a", same)), b: inProcessFake(offering("b", same)) };
    await using served = await openPipe(servers, { isWarm: false });
    const client = await served.connect(era);
    const code = era === "modern" ? -32_602 : -32_002;
    expect(await client.request("resources/read", { uri: "y://none" }).answer).toMatchObject({
      error: { code },
    });
    await using cold = await openPipe(servers, { isWarm: false });
    const other = await cold.connect(era);
    const { error } = await other.request("resources/read", { uri: "x://same" }).answer;
    expect(error?.data).toMatchObject({ near: ["x://same#plugboard=a", "x://same#plugboard=b"] });
    const named = other.request("resources/read", { uri: "x://same#plugboard=b" });
    expect(await other.result(named)).toMatchObject({ contents: [{ text: "from b" }] });
  });

  it("reads the page of an app that only a tool names", async () => {
    const page = "ui://a/page";
    const ui = { _meta: { ui: { resourceUri: page } } };
    const tools = [{ name: "chart", inputSchema: { type: "object" }, ...ui }];
    const servers = { a: inProcessFake(offering("a", { tools })), b: inProcessFake(offering("b")) };
    await using served = await openPipe(servers, { isWarm: false });
    const client = await served.connect(era);
    expect(await client.result(client.request("resources/read", { uri: page }))).toMatchObject({
      contents: [{ text: "from a" }],
    });
  });
});

describe("M80 the name of a tool whose server has listed nothing", () => {
  const long = "a-server-whose-name-is-far-too-long-for-most-clients";
  const names: [string, object][] = [
    ["s", {}],
    ["ab", {}],
    ["s", { style: "mcp" }],
    [long, {}],
    ["odd_", {}],
  ];

  it.each(names)("says that it is %j's (%j)", async (server, naming) => {
    const tools = [{ name: "echo", inputSchema: { type: "object" } }];
    const entries = { [server]: inProcessFake({ tools }), other: inProcessFake({}) };
    const options = { names: naming };
    await using warm = await openPipe(entries, options);
    const knowing = await warm.connect("modern");
    const listed = (await knowing.result(knowing.request("tools/list"))) as { tools: Fields[] };
    const [name = ""] = listed.tools
      .map((tool) => String(tool["name"]))
      .filter((one) => !/(^|__)other__/.test(one));
    await using served = await openPipe(entries, { ...options, isWarm: false });
    const client = await served.connect("modern");
    expect(await client.result(client.call(name, { a: 1 }))).toHaveProperty("content");
  });

  it("is another's, although its own server hangs, in every style", async () => {
    const servers = { one: inProcessFake({}), hanging };
    await using served = await openPipe(servers, { isWarm: false, names: { style: "mcp" } });
    const client = await served.connect("modern");
    await client.result(client.call("mcp__one__echo"));
    expect((await client.call("mcp__one__nothing").answer).error).toMatchObject({ code: -32_602 });
    const [, status] = served.hub.status();
    expect(status).toMatchObject({ name: "hanging", counts: { failures: 0 } });
  });
});
