import { describe, expect, it } from "vitest";
import { createMemoryStore } from "../../src/store/memory/store.ts";
import { fakeStdio } from "../fixtures/fake/index.ts";
import { openLogged, reached } from "../servers/hub-fixture.ts";
import { ListServer, hubOf, named, object } from "./list-server.ts";

const typed = (type: string) => [
  { name: "t", inputSchema: { type: "object", properties: { a: { type } }, additionalProperties: false } },
];
const number = { a: 1 };
const invalid = { code: "arguments-invalid" };

describe("the list that calls are checked against", () => {
  it("is the new list right after a refresh", async () => {
    const server = new ListServer({ tools: typed("number") });
    const hub = await hubOf({ it: server.entry });
    await hub.callTool("it.t", number);
    server.tools = typed("boolean");
    await hub.callTool("mcp__it__t", number);
    await hub.refresh("it");
    await expect(hub.callTool("mcp__it__t", number)).rejects.toMatchObject(invalid);
    expect(server.count("tools/call")).toBe(2);
  });

  it("is read again after the server reported a change, and after it expired", async () => {
    let now = 1_000_000;
    const server = new ListServer({ tools: typed("number") });
    const hub = await hubOf({ it: server.entry }, { clock: () => now });
    await hub.callTool("it.t", number);
    const told = new Promise<void>((resolve) => hub.on("catalog-changed", () => resolve()));
    server.tools = typed("boolean");
    server.changed("tools");
    await told;
    await expect(hub.callTool("mcp__it__t", number)).rejects.toMatchObject(invalid);
    server.tools = typed("number");
    now += 3_599_999;
    await expect(hub.callTool("mcp__it__t", number)).rejects.toMatchObject(invalid);
    now += 1;
    await hub.callTool("mcp__it__t", number);
    expect(server.count("tools/list")).toBe(3);
  });

  it("is confirmed by the server if it comes from an earlier run", async () => {
    const store = createMemoryStore();
    const script = { tools: typed("number").map((tool) => ({ ...tool, name: "echo" })) };
    const servers = { it: fakeStdio(script) };
    const first = await hubOf(servers, { store });
    await first.tools();
    await first.close();
    const second = await hubOf(servers, { store });
    expect((await second.findTool("mcp__it__echo")).id).toBe("mcp__it__echo");
    expect(second.status()[0]?.state).toBe("ready");
    await second.callTool("mcp__it__echo", number);
    expect(second.status()[0]?.counts.requests).toBe(2);
  });

  it("includes a tool that is new since an earlier run", async () => {
    const store = createMemoryStore();
    const server = new ListServer({ tools: named("old") });
    const first = await hubOf({ it: server.entry }, { store });
    await first.tools();
    await first.close();
    server.tools = named("old", "new");
    const second = await hubOf({ it: server.entry }, { store });
    expect((await second.tools()).map(({ name }) => name)).toEqual(["old"]);
    expect((await second.findTool("mcp__it__new")).name).toBe("new");
  });

  it("follows rules and naming from a reload with the next call, in every view", async () => {
    const server = fakeStdio({});
    const bundles = { some: { servers: ["it"], tools: { deny: ["add"] } } };
    const hub = await hubOf({ it: server }, {}, { bundles });
    const views = [hub.view({ caller: "me" }), hub.view({ tools: ["*"] }), hub.view({ bundle: "some" })];
    for (const view of views) await view.callTool("mcp__it__echo");
    await hub.reload({
      servers: { it: server },
      bundles: { some: { servers: ["it"], tools: { deny: ["e*"] } } },
    });
    await views[0]?.callTool("mcp__it__echo");
    await expect(views[2]?.callTool("mcp__it__echo")).rejects.toMatchObject({ code: "tool-hidden" });
    await hub.reload({ servers: { it: server }, bundles, naming: { style: "server" } });
    for (const view of views) {
      await view.callTool("it__echo");
      await expect(view.callTool("mcp__it__echo")).rejects.toMatchObject({ code: "tool-unknown" });
    }
    expect(hub.status()[0]?.counts.starts).toBe(1);
    await hub.reload({ servers: { it: { ...server, tools: { deny: ["echo"] } } }, bundles });
    for (const view of views)
      await expect(view.callTool("mcp__it__echo")).rejects.toMatchObject({ code: "tool-hidden" });
  });

  it("follows the rules of a configuration that was loaded while the list was read", async () => {
    const server = new ListServer({ tools: named("a", "b") });
    const list = Promise.withResolvers<Record<string, unknown>>();
    const asked = Promise.withResolvers<void>();
    server.answers.set("tools/list", () => {
      asked.resolve();
      return list.promise;
    });
    const bundles = (deny: string) => ({ some: { servers: ["it"], tools: { deny: [deny] } } });
    const hub = await hubOf({ it: server.entry }, {}, { bundles: bundles("b") });
    const view = hub.view({ bundle: "some" });
    const [listed, call] = [view.tools(), view.callTool("mcp__it__a")];
    await asked.promise;
    await hub.reload({ servers: { it: server.entry }, bundles: bundles("a") });
    list.resolve({ tools: server.tools });
    expect((await listed).map(({ name }) => name)).toEqual(["b"]);
    await expect(call).rejects.toMatchObject({ code: "tool-hidden" });
    expect(server.count("tools/call")).toBe(0);
  });

  it("is the list of the new server while the old one with the same name is still shutting down", async () => {
    await using old = await openLogged({ tools: named("echo"), ignores: ["eof"] });
    await using other = await openLogged({ tools: [{ ...typed("number")[0], name: "echo" }] });
    const hub = await hubOf({ it: old.entry });
    await hub.callTool("mcp__it__echo", { a: "anything" });
    const reloading = hub.reload({ servers: { it: other.entry } });
    await expect(hub.callTool("mcp__it__echo", { a: "anything" })).rejects.toMatchObject(invalid);
    await reloading;
    await hub.callTool("mcp__it__echo", number);
    expect(other.heard().filter(({ method }) => method === "tools/list")).toHaveLength(1);
  });

  it("keeps the objects of unchanged entries, so nothing is judged or compiled again", async () => {
    const server = new ListServer({ tools: named("a", "b") });
    const hub = await hubOf({ it: server.entry });
    const [a, b] = await hub.tools();
    server.tools = [...named("a"), { name: "b", inputSchema: object, description: "other" }];
    await hub.refresh("it");
    const [sameA, otherB] = await hub.tools();
    expect(sameA).toBe(a);
    expect(otherB).not.toBe(b);
    expect(otherB?.description).toBe("other");
  });
});

describe.each(["legacy", "modern"] as const)("a %s server that was restarted", (versions) => {
  it("is asked for its tools again before the next call", async () => {
    const hub = await hubOf({
      it: fakeStdio({
        versions,
        tools: [...named("change", "die"), { ...typed("number")[0], name: "echo" }],
        on: [
          {
            when: { tool: "change" },
            do: [
              { set: { tools: [...named("die"), { ...typed("boolean")[0], name: "echo" }] } },
              { default: true },
            ],
          },
          { when: { tool: "die" }, do: [{ exit: 1 }] },
        ],
      }),
    });
    await hub.callTool("mcp__it__change");
    await hub.refresh("it");
    await expect(hub.callTool("mcp__it__echo", number)).rejects.toMatchObject(invalid);
    const lost = reached(hub, "it", "waiting", "failed");
    await hub.callTool("mcp__it__die").catch(() => undefined);
    await lost;
    // The new process behaves like the first one.
    expect((await hub.callTool("mcp__it__echo", number)).structuredContent).toEqual(number);
  });
});

describe("a server that keeps reporting changes of its list", () => {
  it("is not asked for its list for every call if nothing really changed", async () => {
    const server = new ListServer({ tools: named("t") });
    const hub = await hubOf({ it: server.entry }, { clock: () => 1_000_000 });
    await hub.tools();
    for (let time = 0; time < 50; time++) {
      server.changed("tools");
      await hub.callTool("mcp__it__t");
    }
    expect(server.count("tools/call")).toBe(50);
    expect(server.count("tools/list")).toBeLessThan(6);
  });

  it("is asked for every call as long as the list really changes", async () => {
    const server = new ListServer({ tools: named("t") });
    const hub = await hubOf({ it: server.entry }, { clock: () => 1_000_000 });
    await hub.tools();
    for (let time = 0; time < 10; time++) {
      server.tools = typed(time % 2 === 0 ? "boolean" : "number");
      server.changed("tools");
      await hub.request("ping", {}, { server: "it" });
      const call = hub.callTool("mcp__it__t", number);
      if (time % 2 === 0) await expect(call).rejects.toMatchObject(invalid);
      else await call;
    }
  });

  it("can still be called although every list is outdated when it arrives", async () => {
    const server = new ListServer({ tools: named("t") });
    server.answers.set("tools/list", () => {
      server.changed("tools");
      return { tools: [...named("t"), ...named(`n${server.heard.length}`)] };
    });
    const hub = await hubOf({ it: server.entry });
    await hub.callTool("mcp__it__t");
    await hub.callTool("mcp__it__t");
    expect(server.count("tools/list")).toBeLessThanOrEqual(3);
    expect(server.count("tools/call")).toBe(2);
  });

  it("makes listings and calls wait for a read that started after the change", async () => {
    const server = new ListServer({ tools: typed("number") });
    const hub = await hubOf({ it: server.entry });
    await hub.connect("it");
    const slow = Promise.withResolvers<Record<string, unknown>>();
    const asked = Promise.withResolvers<void>();
    server.answers.set("tools/list", () => {
      server.answers.delete("tools/list");
      asked.resolve();
      return slow.promise;
    });
    const listed = hub.tools();
    await asked.promise;
    const told = new Promise<void>((resolve) => hub.on("catalog-changed", () => resolve()));
    server.changed("tools");
    await told;
    const call = hub.callTool("mcp__it__t", { a: true });
    const listedLater = hub.tools();
    server.tools = typed("boolean");
    slow.resolve({ tools: typed("number") });
    expect((await listed)[0]?.inputSchema).toEqual(typed("number")[0]?.inputSchema);
    expect((await listedLater)[0]?.inputSchema).toEqual(typed("boolean")[0]?.inputSchema);
    expect((await call).isError).toBeFalsy();
    expect(server.count("tools/list")).toBe(2);
  });
});
