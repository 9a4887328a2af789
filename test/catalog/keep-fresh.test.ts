import { afterEach, describe, expect, it, vi } from "vitest";
import type { Hub, PlugboardEvent } from "../../src/index.ts";
import { fakeStdio } from "../fixtures/fake/index.ts";
import { ListServer, hubOf, named } from "./list-server.ts";

const kept = { keepFresh: true };
const names = async (hub: Hub) => (await hub.tools({ wait: false })).map(({ name }) => name);

/** Resolves with the next change of a list of tools. */
const toolsChanged = (hub: Hub) =>
  new Promise<PlugboardEvent>((resolve) => {
    const stop = hub.on("catalog-changed", (event) => {
      if (event.kind !== "tools") return;
      stop();
      resolve(event);
    });
  });

describe("lists that are kept fresh", () => {
  afterEach(() => void vi.useRealTimers());

  it("are read when a server connects, with an event once they are available", async () => {
    const server = new ListServer({ tools: named("t"), prompts: [{ name: "p" }] });
    const hub = await hubOf({ it: server.entry }, kept);
    const changed = toolsChanged(hub).then(() => names(hub));
    await hub.connect("it");
    expect(await changed).toEqual(["t"]);
    await expect.poll(() => server.count("prompts/list")).toBe(1);
    expect(server.count("resources/list")).toBe(1);
  });

  it("are read again when the server reports a change; the event comes with the new list", async () => {
    const server = new ListServer({ tools: named("one") });
    const hub = await hubOf({ it: server.entry }, kept);
    const first = toolsChanged(hub);
    await hub.connect("it");
    await first;
    const changed = toolsChanged(hub).then(() => names(hub));
    server.tools = named("two");
    server.changed("tools");
    expect(await changed).toEqual(["two"]);
  });

  it("cause no event if the server reports a change but nothing is different", async () => {
    const server = new ListServer({ tools: named("t") });
    const hub = await hubOf({ it: server.entry }, kept);
    const first = toolsChanged(hub);
    await hub.connect("it");
    await first;
    let told = 0;
    hub.on("catalog-changed", ({ kind }) => (told += kind === "tools" ? 1 : 0));
    server.changed("tools");
    await expect.poll(() => server.count("tools/list")).toBe(2);
    await hub.callTool("it.t");
    expect(told).toBe(0);
  });

  it("are read at a limited rate, however often the server reports changes", async () => {
    const server = new ListServer({ tools: named("t") });
    const hub = await hubOf({ it: server.entry }, { ...kept, clock: () => 1_000_000 });
    await hub.connect("it");
    for (let time = 0; time < 200; time++) {
      server.tools = named(`t${time}`);
      server.changed("tools");
      await hub.request("ping", {}, { server: "it" });
    }
    expect(server.count("tools/list")).toBeLessThanOrEqual(3);
  });

  it("are read again after a reconnect", async () => {
    const server = new ListServer({ tools: named("one") });
    const hub = await hubOf({ it: server.entry }, { ...kept, eager: true });
    await expect.poll(() => names(hub)).toEqual(["one"]);
    server.tools = named("two");
    const changed = toolsChanged(hub).then(() => names(hub));
    await server.drop();
    expect(await changed).toEqual(["two"]);
    expect(server.connects).toBe(2);
  });

  it("are read again when they expire, while the server runs", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"] });
    const server = new ListServer({ tools: named("one") });
    const hub = await hubOf({ it: server.entry }, kept);
    const first = toolsChanged(hub);
    await hub.connect("it");
    await first;
    server.tools = named("two");
    const changed = toolsChanged(hub).then(() => names(hub));
    await vi.advanceTimersByTimeAsync(3_600_000);
    expect(await changed).toEqual(["two"]);
  });

  it("do not restart a server that was stopped because it was idle", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"] });
    const entry = fakeStdio({ tools: named("t") });
    const hub = await hubOf({ it: { ...entry, idleStopMs: 60_000, cacheTtlMs: 600_000 } }, kept);
    const first = toolsChanged(hub);
    await hub.connect("it");
    await first;
    await Promise.all([hub.prompts(), hub.resources(), hub.resourceTemplates()]);
    const stopped = new Promise<void>((resolve) =>
      hub.on("connection-changed", ({ to }) => to === "ready" && resolve()),
    );
    await vi.advanceTimersByTimeAsync(180_000);
    await stopped;
    await vi.advanceTimersByTimeAsync(3_600_000);
    expect(hub.status()[0]).toMatchObject({ state: "ready", counts: { starts: 1 } });
    expect(await names(hub)).toEqual(["t"]);
  });

  it("do not keep an idle server running, however often they expire", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"] });
    const entry = fakeStdio({ tools: named("t") });
    const hub = await hubOf({ it: { ...entry, idleStopMs: 60_000, cacheTtlMs: 20_000 } }, kept);
    const isStopped = () => hub.status()[0]?.state === "ready";
    const kinds = ["tools", "prompts", "resources", "resourceTemplates"] as const;
    const isRead = async () =>
      (await Promise.all(kinds.map((kind) => hub.listStates(kind))))
        .flat()
        .every(({ at }) => at === Date.now());
    const turn = () => new Promise((resolve) => setImmediate(resolve));
    await hub.connect("it");
    for (let step = 0; step < 10 && !isStopped(); step++) {
      while (!isStopped() && !(await isRead())) await turn();
      await vi.advanceTimersByTimeAsync(20_000);
    }
    expect(isStopped()).toBe(true);
  });

  it("are read again after a failure, without a request", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"] });
    const server = new ListServer({ tools: named("t") });
    server.answers.set("tools/list", () => new Error("not yet"));
    const hub = await hubOf({ it: server.entry }, kept);
    await hub.connect("it");
    expect(await hub.tools()).toEqual([]);
    server.answers.clear();
    const changed = toolsChanged(hub).then(() => names(hub));
    await vi.advanceTimersByTimeAsync(60_000);
    expect(await changed).toEqual(["t"]);
  });
});

describe("lists that are not kept fresh", () => {
  it("are read on request; the event comes immediately", async () => {
    const server = new ListServer({ tools: named("one") });
    const hub = await hubOf({ it: server.entry });
    await hub.connect("it");
    expect(server.heard).not.toContain("tools/list");
    await hub.tools();
    const changed = toolsChanged(hub);
    server.tools = named("two");
    server.changed("tools");
    await changed;
    expect(server.count("tools/list")).toBe(1);
    expect((await hub.tools()).map(({ name }) => name)).toEqual(["two"]);
  });
});
