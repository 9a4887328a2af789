import { describe, expect, it } from "vitest";
import type { PlugboardEvent } from "../../src/index.ts";
import { createMemoryStore } from "../../src/store/memory/store.ts";
import { createSandbox } from "../sandbox.ts";
import { fakeStdio } from "../fixtures/fake/index.ts";
import { report } from "../servers/hub-fixture.ts";
import { ListServer, hubOf, named, object } from "./list-server.ts";

const names = (tools: { name: string }[]) => tools.map(({ name }) => name);

/** A server that does not tell of changes, and says how long its lists are good for. */
function untold(ttlMs: number, listChanged = false) {
  const server = new ListServer({ tools: named("old") });
  server.answers.set("initialize", () => ({
    protocolVersion: "2025-06-18",
    capabilities: { tools: { listChanged }, prompts: {} },
    serverInfo: { name: "untold", version: "1" },
  }));
  server.answers.set("tools/list", () => ({ tools: server.tools, ttlMs }));
  return server;
}

describe("M41 a list that its server calls stale at once", () => {
  it("is read whenever it is needed if the server does not tell of changes", async () => {
    const server = untold(0);
    const hub = await hubOf({ it: server.entry });
    expect(names(await hub.tools())).toEqual(["old"]);
    server.tools = named("new");
    expect(names(await hub.tools())).toEqual(["new"]);
    const before = server.count("tools/list");
    await hub.callTool("mcp__it__new");
    expect(server.count("tools/list")).toBe(before + 1);
    await Promise.all(Array.from({ length: 10 }, () => hub.callTool("mcp__it__new")));
    expect(server.count("tools/list")).toBeLessThanOrEqual(before + 3);
  });

  it("is also read again when it comes from an earlier run", async () => {
    const store = createMemoryStore();
    const server = untold(0);
    const first = await hubOf({ it: server.entry }, { store });
    await first.tools();
    await first.close();
    server.tools = named("new");
    const second = await hubOf({ it: server.entry }, { store });
    expect(names(await second.tools())).toEqual(["new"]);
  });

  it("is kept if the server tells of changes, or says how long it is good for", async () => {
    for (const server of [untold(0, true), untold(60_000)]) {
      const hub = await hubOf({ it: server.entry });
      for (let time = 0; time < 3; time++) await hub.tools();
      expect(server.count("tools/list")).toBe(1);
    }
  });
});

/** A server whose list never ends. */
function endless() {
  const server = new ListServer();
  let page = 0;
  server.answers.set("tools/list", () => ({
    tools: [{ name: `tool${++page}`, inputSchema: object }],
    nextCursor: String(page),
  }));
  return server;
}

describe("M41 a list that is longer than what is read of it", () => {
  it("says so: in an event, and with the state of the list, also in the next run", async () => {
    const store = createMemoryStore();
    const server = endless();
    const events: PlugboardEvent[] = [];
    const hub = await hubOf({ it: server.entry }, { store });
    hub.on("server-log", (event) => events.push(event));
    expect(await hub.tools()).toHaveLength(1_000);
    expect(events).toMatchObject([
      { server: "it", level: "warning", message: expect.stringContaining("more tools") },
    ]);
    const cut = { by: "pages", message: expect.stringContaining("1000 pages") };
    expect(await hub.listStates()).toMatchObject([{ server: "it", cut }]);
    await hub.close();
    const next = await hubOf({ it: server.entry }, { store });
    expect(await next.listStates()).toMatchObject([{ server: "it", isSnapshot: true, cut }]);
  });

  it("says so on the command line too", async () => {
    const tools = Array.from({ length: 1_100 }, (_, at) => ({ name: `t${at}`, inputSchema: object }));
    const mcpServers = { it: fakeStdio({ tools, pageSize: 1 }) };
    const box = createSandbox({ "home/.config/plugboard/config.json": { mcpServers } });
    const shown = await box.cli(["tools", "it"]);
    expect(shown.out).toContain("t999");
    expect(shown.err).toContain("lists more tools than Plugboard reads; reading stopped after 1000 pages");
    expect(shown.code).toBe(0);
    const { json } = await box.cli(["tools", "it", "--json"]);
    expect(json).toMatchObject({ servers: [{ server: "it", cut: { by: "pages" } }] });
  });
});

describe("M24 a list that cannot be read", () => {
  it("is what is degraded, and nothing else", async () => {
    const server = new ListServer({ tools: named("fine") });
    server.answers.set("prompts/list", () => new Error("no prompts today"));
    server.answers.set("resources/list", () => new Error("no resources today"));
    const hub = await hubOf({ it: server.entry });
    const seen: (string[] | undefined)[] = [];
    hub.on("connection-changed", ({ lists }) => seen.push(lists));
    expect(names(await hub.tools())).toEqual(["fine"]);
    expect(report(hub, "it").state).toBe("connected");
    await hub.prompts();
    await hub.resources();
    expect(report(hub, "it")).toMatchObject({
      state: "degraded",
      failedLists: {
        prompts: { message: expect.stringContaining("no prompts today") },
        resources: { message: expect.stringContaining("no resources today") },
      },
    });
    server.answers.clear();
    await hub.refresh("it");
    expect(report(hub, "it")).toMatchObject({ state: "connected" });
    expect(report(hub, "it").failedLists).toBeUndefined();
    expect(seen).toContainEqual(["prompts"]);
    expect(seen).toContainEqual(["prompts", "resources"]);
    expect(seen.at(-1)).toBeUndefined();
  });

  it("is asked for again, and what was said to have changed is not forgotten meanwhile", async () => {
    let now = 1_000_000;
    const server = new ListServer({ tools: named("old") });
    const hub = await hubOf({ it: server.entry }, { clock: () => now });
    await hub.tools();
    server.tools = named("new");
    server.answers.set("tools/list", () => new Error("not now"));
    const told = new Promise((resolve) => hub.on("catalog-changed", resolve));
    server.changed("tools");
    await told;
    expect(names(await hub.tools())).toEqual(["old"]);
    server.answers.clear();
    now += 120_000;
    await hub.tools();
    const read = new Promise((resolve) => hub.on("catalog-changed", resolve));
    await hub.tools();
    await read;
    expect(names(await hub.tools())).toEqual(["new"]);
  });

  it("is asked for soon when its server tells of another change", async () => {
    let now = 1_000_000;
    const server = new ListServer({ tools: named("old") });
    const hub = await hubOf({ it: server.entry }, { clock: () => now });
    await hub.tools();
    server.answers.set("tools/list", () => new Error("not now"));
    for (let failures = 0; failures < 8; failures++) await hub.refresh("it").catch(() => undefined);
    server.answers.clear();
    server.tools = named("new");
    const told = new Promise((resolve) => hub.on("catalog-changed", resolve));
    server.changed("tools");
    await told;
    now += 1_000;
    const read = new Promise((resolve) => hub.on("catalog-changed", resolve));
    await hub.tools();
    await read;
    expect(names(await hub.tools())).toEqual(["new"]);
  });
});
