import { describe, expect, it } from "vitest";
import { fakeStdio } from "../fixtures/fake/index.ts";
import { ListServer, hubOf, named, object } from "./list-server.ts";

describe("the digest of a view", () => {
  it("changes exactly when the visible catalog changes", async () => {
    const server = new ListServer({ tools: named("a", "b"), prompts: [{ name: "p" }], resources: [] });
    const hub = await hubOf({ it: server.entry });
    const view = hub.view({ caller: "me", tools: ["a*"] });
    const empty = await hub.digest();
    await hub.refresh("it");
    const before = { hub: await hub.digest(), view: await view.digest(), tools: await hub.digest("tools") };
    expect(before.hub).not.toBe(empty);
    expect(before.view).not.toBe(before.hub);
    await hub.refresh("it");
    expect(await hub.digest()).toBe(before.hub);

    server.tools = [...named("a"), { name: "b", inputSchema: object, description: "other" }];
    await hub.refresh("it");
    expect(await hub.digest()).not.toBe(before.hub);
    expect(await hub.digest("tools")).not.toBe(before.tools);
    expect(await view.digest()).toBe(before.view);

    server.tools = named("b", "a");
    await hub.refresh("it");
    expect(await hub.digest()).toBe(before.hub);

    server.prompts = [{ name: "q" }];
    await hub.refresh("it");
    expect(await hub.digest()).not.toBe(before.hub);
    expect(await hub.digest("tools")).toBe(before.tools);
    const resources = await hub.digest("resources");
    server.resources = [{ uri: "x://a", name: "a" }];
    await hub.refresh("it");
    expect(await hub.digest("resources")).not.toBe(resources);
  });

  it("follows the configured rules: excludes hidden tools, includes overridden annotations", async () => {
    const server = fakeStdio({ tools: named("a", "b") });
    const hub = await hubOf({ it: server });
    await hub.tools();
    const plain = await hub.digest("tools");
    const under = async (tools: object) => {
      await hub.reload({ servers: { it: { ...server, tools } } });
      await hub.tools();
      return hub.digest("tools");
    };
    const hidden = await under({ deny: ["b"] });
    const corrected = await under({ annotations: { a: { readOnlyHint: true } } });
    expect(new Set([plain, hidden, corrected]).size).toBe(3);
    expect(await under({})).toBe(plain);
  });

  it("is the same in another process with the same catalog, and starts no server", async () => {
    const [one, two] = [new ListServer({ tools: named("a") }), new ListServer({ tools: named("a") })];
    const hubs = [await hubOf({ it: one.entry }), await hubOf({ it: two.entry })];
    await Promise.all(hubs.map((hub) => hub.digest()));
    expect(one.connects + two.connects).toBe(0);
    await Promise.all(hubs.map((hub) => hub.tools()));
    const [first, second] = await Promise.all(hubs.map((hub) => hub.digest()));
    expect(first).toBe(second);
  });
});
