import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createResultStore } from "../../src/calls/results/store.ts";
import type { ResultStoreOptions } from "../../src/calls/results/store.ts";
import type { ApproveQuestion, PlugboardEvent, View } from "../../src/index.ts";
import { createMemoryStore } from "../../src/store/memory/store.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import type { Store } from "../../src/store/store.ts";
import { ListServer, hubOf, object } from "../catalog/list-server.ts";
import { openFolder } from "../servers/hub-fixture.ts";

const origin = { server: "it", tool: "t" };
const text = (value: string) => ({ content: [{ type: "text", text: value }] });
const kib = 1_024;

const stores: Record<string, () => Promise<{ store: Store } & AsyncDisposable>> = {
  memory: async () => ({ store: createMemoryStore(), [Symbol.asyncDispose]: async () => undefined }),
  SQLite: async () => {
    const folder = await openFolder();
    const store = await openSqliteStore({ path: join(folder.path, "state.sqlite") }, () => undefined);
    const end = async () => {
      await store.close();
      await folder[Symbol.asyncDispose]();
    };
    return { store, [Symbol.asyncDispose]: end };
  },
};

/** How many characters of results a store holds, and of how many. */
async function held(store: Store): Promise<{ size: number; results: number }> {
  const entries = await store.list("result/");
  const texts = entries.flatMap(({ value }) => (typeof value === "string" ? [value] : []));
  return { size: texts.join("").length, results: entries.length - texts.length };
}

describe.each(Object.keys(stores))("M45 results kept in a %s store", (kind) => {
  /** Each result is kept a millisecond after the one before. */
  async function setUp(limits: ResultStoreOptions) {
    const opened = await (stores[kind] as (typeof stores)[string])();
    let at = 1_000;
    const results = createResultStore(opened.store, { ...limits, now: () => at++ });
    const { store } = opened;
    const save = (size: number, caller?: string) =>
      results.save(text("x".repeat(size)), { ...origin, caller });
    const isThere = (handle: string, caller?: string) =>
      results.read(handle, { caller }).then(
        () => true,
        () => false,
      );
    return { store, results, save, isThere, [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose]() };
  }

  it("are bounded by size: the oldest of the caller go first, and nobody else's", async () => {
    await using box = await setUp({ callerBytes: 500 * kib });
    const others = await box.save(300 * kib, "other");
    const handles: string[] = [];
    for (let at = 0; at < 12; at++) handles.push(await box.save(100 * kib, "me"));
    const there = await Promise.all(handles.map((handle) => box.isThere(handle, "me")));
    expect(there).toEqual(handles.map((_, at) => at >= 7));
    expect(await box.isThere(others, "other")).toBe(true);
    expect((await held(box.store)).size).toBe(800 * kib);
  });

  it("are bounded by number", async () => {
    await using box = await setUp({ callerResults: 10 });
    const handles: string[] = [];
    for (let at = 0; at < 25; at++) handles.push(await box.save(10, "me"));
    expect(await held(box.store)).toEqual({ size: 100, results: 10 });
    expect(await box.isThere(handles[14] as string, "me")).toBe(false);
    expect(await box.isThere(handles[15] as string, "me")).toBe(true);
  });

  it("are bounded for all callers together, at the cost of whoever has the most", async () => {
    await using box = await setUp({ totalResults: 20, callerResults: 100 });
    const first = await box.save(10, "modest");
    for (let at = 0; at < 60; at++) await box.save(10, "greedy");
    expect(await box.isThere(first, "modest")).toBe(true);
    expect((await held(box.store)).results).toBeLessThanOrEqual(20 + 16);
    await using small = await setUp({ totalBytes: 20 * kib * kib });
    for (let at = 0; at < 30; at++) await small.save(2 * kib * kib, `caller ${at}`);
    expect((await held(small.store)).size).toBeLessThanOrEqual(30 * kib * kib);
  });

  it("leave nothing behind when they go", async () => {
    await using box = await setUp({ callerResults: 1 });
    await box.save(700 * kib);
    await box.save(1);
    expect((await box.store.list("result")).map(({ key }) => key.replace(/r_\w+/, "r"))).toEqual([
      "result/r",
      "result/r/0000",
      expect.stringMatching(/^results\/-\/\d+\/r$/),
    ]);
  });
});

const large = { items: Array.from({ length: 3_000 }, (_, id) => ({ id, name: `item ${id}`, "a/b": [id] })) };

/** A server whose tool returns a large structured result; its other tool echoes its arguments. */
function rows(annotations: object = {}): ListServer {
  const server = new ListServer({
    tools: [
      { name: "list", inputSchema: object },
      { name: "echo", inputSchema: object, annotations },
    ],
  });
  server.answers.set("tools/call", ({ name, arguments: args }) =>
    name === "list"
      ? { content: [{ type: "text", text: JSON.stringify(large) }], structuredContent: large }
      : { content: [], structuredContent: args as Record<string, unknown> },
  );
  return server;
}

async function kept(view: View): Promise<string> {
  const { _meta } = await view.callTool("it.list");
  const note = _meta?.["plugboard/output"] as { handle: string } | undefined;
  return note?.handle ?? "";
}

describe("M45 a result behind a handle", () => {
  it("costs no more than the limit for one caller, however many there are", async () => {
    const server = new ListServer({ tools: [{ name: "t", inputSchema: object }] });
    server.answers.set("tools/call", () => text("word ".repeat(400_000)));
    const store = createMemoryStore();
    const hub = await hubOf({ it: server.entry }, { store });
    for (let at = 0; at < 40; at++) await hub.callTool("it.t");
    expect((await held(store)).size).toBeLessThanOrEqual(32 * kib * kib);
  });

  it("is read by part and by JSON pointers, page by page", async () => {
    const hub = await hubOf({ it: rows().entry });
    const handle = await kept(hub);
    const select = (pointers: string | string[]) => hub.result(handle, { select: pointers });
    expect((await select("/items/17/name")).text).toBe('"item 17"');
    expect(JSON.parse((await select(["/items/1/id", "/items/2/a~1b/0"])).text)).toEqual({
      "/items/1/id": 1,
      "/items/2/a~1b/0": 2,
    });
    const names = await select("/items/*/name");
    expect(names.pages).toBeGreaterThan(1);
    expect(names.text).toMatch(/^\[\n {2}"item 0",\n/);
    expect((await hub.result(handle, { select: "/items/*/name", find: "item 2999" })).matches).toHaveLength(
      1,
    );
    expect((await hub.result(handle, { part: "structured" })).text).toMatch(/^\{\n {2}"items": \[\n/);
    expect((await hub.result(handle, { part: "0", select: "/items/0/id" })).text).toBe("0");
    expect(await hub.resultValue(handle, { select: "/items/*/id" })).toHaveLength(3_000);
    expect(await hub.resultValue(handle, { select: "" })).toEqual(large);
  });

  it("says what is there if a pointer leads nowhere", async () => {
    const hub = await hubOf({ it: rows().entry });
    const handle = await kept(hub);
    const problem = async (select: string | string[], part?: string) =>
      hub.result(handle, { select, part }).catch((error: unknown) => error);
    expect(await problem("/things")).toMatchObject({ code: "usage-invalid", hint: "There: items." });
    expect(await problem("/items/9999")).toMatchObject({ hint: "There: a list of 3000." });
    expect(await problem("/items/0/nothing")).toMatchObject({ hint: "There: id, name, a/b." });
    expect(await problem("/__proto__")).toMatchObject({ code: "usage-invalid" });
    expect(await problem("items")).toMatchObject({ message: expect.stringContaining("Not a JSON pointer") });
    expect(await problem([])).toMatchObject({ code: "usage-invalid" });
    expect(await problem("/a", "7")).toMatchObject({ message: expect.stringContaining("no such part") });
  });
});

describe("M45 a result as an argument of the next call", () => {
  const on = { resultArguments: true };

  it("is filled in where the caller of the hub switched it on, at any depth", async () => {
    const hub = await hubOf({ it: rows().entry });
    const handle = await kept(hub);
    const args = {
      one: { $result: handle, select: "/items/3" },
      deep: [{ ids: { $result: handle, select: "/items/*/id" } }],
      all: { $result: handle, part: "structured" },
      plain: "kept as it is",
    };
    const { structuredContent } = await hub.callTool("it.echo", args, { ...on, whole: true });
    expect(structuredContent).toEqual({
      one: large.items[3],
      deep: [{ ids: large.items.map(({ id }) => id) }],
      all: large,
      plain: "kept as it is",
    });
    const forwarded = await hub.forwardCall("it.echo", { arguments: args }, on);
    expect(forwarded).toMatchObject({ result: { structuredContent: { one: large.items[3] } } });
    expect(args.one).toEqual({ $result: handle, select: "/items/3" });
  });

  it("is plain data otherwise", async () => {
    const hub = await hubOf({ it: rows().entry });
    const args = { one: { $result: await kept(hub) } };
    expect((await hub.callTool("it.echo", args)).structuredContent).toEqual(args);
  });

  it("is only ever the same caller's", async () => {
    const server = rows();
    const hub = await hubOf({ it: server.entry });
    const [ada, bob] = [hub.view({ caller: "ada" }), hub.view({ caller: "bob" })];
    const handle = await kept(ada);
    const args = { one: { $result: handle, select: "/items/0/id" } };
    expect((await ada.callTool("it.echo", args, on)).structuredContent).toEqual({ one: 0 });
    for (const view of [bob, hub])
      await expect(view.callTool("it.echo", args, on)).rejects.toMatchObject({ code: "usage-invalid" });
    for (const wrong of [{ $result: 7 }, { $result: handle, other: 1 }, { $result: handle, select: [1] }])
      await expect(ada.callTool("it.echo", { wrong }, on)).rejects.toMatchObject({ code: "usage-invalid" });
    expect(server.count("tools/call")).toBe(2);
  });

  it("is refused where many together would be huge", async () => {
    const server = rows();
    const hub = await hubOf({ it: server.entry });
    server.answers.set("tools/call", () => text("x".repeat(12_000_000)));
    const handle = await kept(hub);
    const calls = server.count("tools/call");
    const args = { all: Array.from({ length: 3 }, () => ({ $result: handle })) };
    for (const call of [
      hub.callTool("it.echo", args, on),
      hub.forwardCall("it.echo", { arguments: args }, on),
    ])
      await expect(call).rejects.toMatchObject({
        code: "usage-invalid",
        message: "The results in the arguments of the call are too large.",
      });
    expect(server.count("tools/call")).toBe(calls);
  });

  it("is checked against the schema, and shown to whoever approves", async () => {
    const server = rows();
    Object.assign(server.tools[1] as object, {
      inputSchema: { type: "object", properties: { one: { type: "integer" } }, required: ["one"] },
    });
    const shown: unknown[] = [];
    const interact = {
      approve: async (question: ApproveQuestion) => {
        shown.push(question.arguments);
        return { decision: "allow" as const };
      },
    };
    const hub = await hubOf({ it: server.entry }, { interact }, { approval: { tools: { echo: "prompt" } } });
    const handle = await kept(hub);
    await hub.callTool("it.echo", { one: { $result: handle, select: "/items/5/id" } }, on);
    expect(shown).toEqual([{ one: 5 }]);
    const wrong = hub.callTool("it.echo", { one: { $result: handle, select: "/items/5/name" } }, on);
    await expect(wrong).rejects.toMatchObject({ code: "arguments-invalid" });
  });
});

describe("M45 a result between the warning and the limit", () => {
  it("is returned whole and flagged, in the result and in the event", async () => {
    const server = new ListServer({ tools: [{ name: "t", inputSchema: object }] });
    const prose = "Twelve words that say what a tool may say in one line.\n";
    server.answers.set("tools/call", ({ arguments: args }) =>
      text(prose.repeat((args as { lines: number }).lines)),
    );
    const hub = await hubOf({ it: server.entry });
    const ends: Extract<PlugboardEvent, { type: "call-end" }>[] = [];
    hub.on("call-end", (event) => ends.push(event));
    const result = await hub.callTool("it.t", { lines: 1_200 });
    const note = { tokens: expect.any(Number) as number, cut: false };
    expect(result._meta).toEqual({ "plugboard/output": note });
    expect(result.content).toEqual(text(prose.repeat(1_200)).content);
    expect(await hub.callTool("it.t", { lines: 400 })).not.toHaveProperty("_meta");
    await hub.callTool("it.t", { lines: 4_000 });
    expect(ends.map(({ output }) => output)).toEqual([note, undefined, { ...note, cut: true }]);
  });
});
