import { describe, expect, it } from "vitest";
import type { Hub } from "../../src/index.ts";
import { ListServer, hubOf, named } from "./list-server.ts";

const cancelled = { code: "call-cancelled" };

const waits: [what: string, wait: (hub: Hub, signal: AbortSignal) => Promise<unknown>][] = [
  ["tools", (hub, signal) => hub.tools({ signal })],
  ["resources", (hub, signal) => hub.resources({ signal })],
  ["prompts", (hub, signal) => hub.prompts({ signal })],
  ["commands", (hub, signal) => hub.commands({ signal })],
  ["refresh of one server", (hub, signal) => hub.refresh("it", { signal })],
  ["refresh of all servers", (hub, signal) => hub.refresh(undefined, { signal })],
  ["findTool by id", (hub, signal) => hub.findTool("mcp__it__t", { signal })],
  ["findTool by name", (hub, signal) => hub.findTool("t", { signal })],
  ["findPrompt", (hub, signal) => hub.findPrompt("it.greet", { signal })],
  ["getPrompt by id", (hub, signal) => hub.getPrompt("mcp__it__greet", {}, { signal })],
  ["getPrompt by name", (hub, signal) => hub.getPrompt("greet", {}, { signal })],
  ["callTool by id", (hub, signal) => hub.callTool("mcp__it__t", {}, { signal })],
  ["callTool by name", (hub, signal) => hub.callTool("t", {}, { signal })],
];

describe.each(waits)("%s", (_, wait) => {
  const server = () => new ListServer({ tools: named("t"), prompts: [{ name: "greet" }] });

  it("with an aborted signal starts nothing", async () => {
    const it = server();
    const hub = await hubOf({ it: it.entry });
    await expect(wait(hub, AbortSignal.abort())).rejects.toMatchObject(cancelled);
    expect(it.connects).toBe(0);
  });

  it("with an aborted signal sends nothing, even if everything is known", async () => {
    const it = server();
    const hub = await hubOf({ it: it.entry });
    await hub.refresh("it");
    const before = it.heard.length;
    await expect(wait(hub, AbortSignal.abort())).rejects.toMatchObject(cancelled);
    expect(it.heard.length).toBe(before);
  });

  it("ends immediately if aborted while the server starts, and sends nothing afterwards", async () => {
    const it = server();
    const greeted = Promise.withResolvers<Record<string, unknown>>();
    const asked = Promise.withResolvers<void>();
    it.answers.set("initialize", () => {
      asked.resolve();
      return greeted.promise;
    });
    const hub = await hubOf({ it: it.entry });
    const stop = new AbortController();
    const waiting = wait(hub, stop.signal);
    await asked.promise;
    stop.abort();
    await expect(waiting).rejects.toMatchObject(cancelled);
    greeted.resolve({
      protocolVersion: "2025-06-18",
      capabilities: { tools: {}, prompts: {}, resources: {} },
      serverInfo: { name: "it", version: "1" },
    });
    await hub.connect("it");
    await hub.request("ping", {}, { server: "it" });
    expect(it.heard.filter((method) => method.includes("list") || method === "tools/call")).toEqual([]);
  });
});

describe("a caller that stops waiting", () => {
  it("does not cancel a read that others wait for", async () => {
    const it = new ListServer({ tools: named("t") });
    const list = Promise.withResolvers<Record<string, unknown>>();
    const asked = Promise.withResolvers<void>();
    it.answers.set("tools/list", () => {
      asked.resolve();
      return list.promise;
    });
    const hub = await hubOf({ it: it.entry });
    const stop = new AbortController();
    const impatient = hub.tools({ signal: stop.signal });
    const patient = hub.tools();
    await asked.promise;
    stop.abort();
    await expect(impatient).rejects.toMatchObject(cancelled);
    list.resolve({ tools: named("t") });
    expect(await patient).toHaveLength(1);
    expect(it.count("tools/list")).toBe(1);
  });

  it("does not make the next request fail", async () => {
    const it = new ListServer({ tools: named("t") });
    const asked = Promise.withResolvers<void>();
    it.answers.set("tools/list", () => {
      asked.resolve();
      it.answers.clear();
      return new Promise(() => {});
    });
    const hub = await hubOf({ it: it.entry });
    const stop = new AbortController();
    const impatient = hub.tools({ signal: stop.signal });
    await asked.promise;
    stop.abort();
    await expect(impatient).rejects.toMatchObject(cancelled);
    expect(await hub.tools()).toHaveLength(1);
    expect(hub.status()[0]?.state).toBe("connected");
  });
});
