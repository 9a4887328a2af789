import { describe, expect, it } from "vitest";
import type { View } from "../../src/index.ts";
import { ListServer, hubOf, object } from "./list-server.ts";

const tool = (name: string, visibility?: unknown) => ({
  name,
  inputSchema: object,
  ...(visibility !== undefined && { _meta: { ui: { visibility, resourceUri: "ui://it/view" } } }),
});
const tools = [
  tool("plain"),
  tool("both", ["model", "app"]),
  tool("refresh", ["app"]),
  tool("think", ["model"]),
  tool("word", "app"),
  tool("nobody", []),
  tool("odd", { app: true }),
];
const forModels = ["both", "odd", "plain", "think"];
const forApps = ["both", "odd", "plain", "refresh", "word"];
const names = async (view: View, options = {}) => (await view.tools(options)).map(({ name }) => name).sort();

describe("M89 a tool that only an app may call", () => {
  const bundles = { some: { servers: ["it"], tools: { deny: ["plain"] } } };

  it("is offered to no model, in no view, count, suggestion or lookup by name", async () => {
    const hub = await hubOf({ it: new ListServer({ tools }).entry }, {}, { bundles });
    expect(await names(hub)).toEqual(forModels);
    expect(await names(hub.view({ tools: ["*"] }))).toEqual(forModels);
    expect(await names(hub.view({ caller: "me" }))).toEqual(forModels);
    expect(await names(hub.view({ bundle: "some" }))).toEqual(["both", "odd", "think"]);
    expect(await hub.summary()).toContain("- it (connected, 4 tools)");
    const hint = await hub.findTool("refrehs").catch((error: { hint: string }) => error.hint);
    expect(hint).not.toContain("refresh");
    expect((await hub.allTools()).find(({ name }) => name === "refresh")).toMatchObject({
      status: "hidden",
      because: "its server offers it only to its app, not to models",
    });
  });

  it("leaves its name to the tool of another server that models may call", async () => {
    const other = new ListServer({ tools: [tool("refresh")] });
    const hub = await hubOf({ it: new ListServer({ tools }).entry, other: other.entry });
    expect(await hub.findTool("refresh")).toMatchObject({ server: "other" });
  });

  it("cannot be called on behalf of a model by any method", async () => {
    const server = new ListServer({ tools });
    const hub = await hubOf({ it: server.entry }, {}, { bundles });
    const views = [hub, hub.view({ tools: ["*"] }), hub.view({ bundle: "some" }), hub.view({ for: "model" })];
    for (const view of views)
      for (const id of ["mcp__it__refresh", "it.refresh", "refresh", "it.nobody"]) {
        await expect(view.callTool(id)).rejects.toMatchObject({ code: "tool-hidden" });
        await expect(view.forwardCall(id, {})).rejects.toMatchObject({ code: "tool-hidden" });
      }
    await expect(hub.request("tools/call", { name: "refresh" }, { server: "it" })).rejects.toMatchObject({
      code: "usage-invalid",
    });
    expect(server.count("tools/call")).toBe(0);
  });

  it("is listed and called for an app, under the same rules as everything else", async () => {
    const server = new ListServer({ tools });
    const entry = { ...server.entry, tools: { deny: ["word"] } };
    const hub = await hubOf({ it: entry }, {}, { bundles });
    expect(await names(hub, { for: "app" })).toEqual(["both", "odd", "plain", "refresh"]);
    const app = hub.view({ for: "app", bundle: "some" });
    expect(await names(app)).toEqual(["both", "odd", "refresh"]);
    for (const view of [hub, app]) {
      expect(await view.callTool("mcp__it__refresh", {}, { for: "app" })).toHaveProperty("content");
      expect(await view.forwardCall("it.refresh", {}, { for: "app" })).toHaveProperty("result");
      expect(await view.findTool("it.refresh", { for: "app" })).toMatchObject({ status: "available" });
      for (const id of ["it.think", "it.nobody", "it.word"])
        await expect(view.callTool(id, {}, { for: "app" })).rejects.toMatchObject({ code: "tool-hidden" });
    }
    expect(await app.callTool("it.refresh")).toHaveProperty("content");
    expect(server.count("tools/call")).toBe(5);
  });

  it("stays out of reach in a view that is made for models", async () => {
    const hub = await hubOf({ it: new ListServer({ tools }).entry });
    const view = hub.view({ for: "model" });
    await expect(view.callTool("it.refresh", {}, { for: "app" })).rejects.toMatchObject({
      code: "usage-invalid",
    });
    expect(() => view.view({ for: "app" })).toThrow("already for the model");
    await expect(view.tools({ for: "app" })).rejects.toMatchObject({ code: "usage-invalid" });
  });

  it("changes the digest of those who may call it, and of nobody else", async () => {
    const server = new ListServer({ tools });
    const hub = await hubOf({ it: server.entry });
    const app = hub.view({ for: "app" });
    await hub.refresh("it");
    const before = [await hub.digest(), await app.digest()];
    server.tools = tools.filter(({ name }) => name !== "refresh");
    await hub.refresh("it");
    expect(await hub.digest()).toBe(before[0]);
    expect(await app.digest()).not.toBe(before[1]);
    expect(await names(app)).toEqual(forApps.filter((name) => name !== "refresh"));
  });
});
