import { describe, expect, it, vi } from "vitest";
import type { PlugboardEvent } from "../../src/index.ts";
import { fakeStdio } from "../fixtures/fake/index.ts";
import { add, inProcessFake, openFolder, openHub, openLogged, report, sum } from "../servers/hub-fixture.ts";
import type { Servers } from "../servers/hub-fixture.ts";

const modern = { versions: "modern" as const };

describe("M28 connections end by themselves", () => {
  it("those of single callers after `idleMs`, and a thousand callers one after the other leave nothing", async () => {
    const entry = { ...inProcessFake(modern), isolation: "caller" } as Servers[string];
    await using hub = await openHub({ it: entry }, { idleMs: 20, maxConnections: 16 });
    const ended = { count: 0 };
    hub.on("connection-changed", ({ to, caller }) => {
      if (to === "closed" && caller !== undefined) ended.count++;
    });
    for (let caller = 0; caller < 1_000; caller++) {
      const view = hub.view({ caller: `caller ${caller}` });
      await view.callTool("it.add", { a: 2, b: 3 });
    }
    await vi.waitFor(() => expect(ended.count).toBe(1_000), 30_000);
  });

  it("beyond the cap the one that was unused for the longest time", async () => {
    const entry = { ...inProcessFake(modern), isolation: "caller" } as Servers[string];
    await using hub = await openHub({ it: entry }, { maxConnections: 2 });
    const ended: string[] = [];
    hub.on("connection-changed", ({ to, caller = "" }) => to === "closed" && ended.push(caller));
    for (const caller of ["one", "two", "three", "one"])
      await hub.view({ caller }).callTool("it.add", { a: 2, b: 3 });
    await vi.waitFor(() => expect(ended).toEqual(["one", "two"]));
  });

  it("`idleStopMs` stops a program that nobody uses; its tools stay listed and the next call starts it", async () => {
    await using logged = await openLogged(modern);
    await using hub = await openHub({ it: { ...logged.entry, idleStopMs: 50 } });
    expect(await add(hub, "it")).toBe(sum);
    await vi.waitFor(() => expect(report(hub, "it").state).toBe("idle"), 30_000);
    expect((await hub.tools({ wait: false })).length).toBeGreaterThan(5);
    expect(report(hub, "it").state).toBe("idle");
    expect(await add(hub, "it")).toBe(sum);
    expect(logged.starts()).toBe(2);
  });

  it("a program in use is not stopped", async () => {
    await using logged = await openLogged(modern);
    await using hub = await openHub({ it: { ...logged.entry, idleStopMs: 30 } });
    expect(await hub.callTool("it.sleep", { ms: 300 })).toMatchObject({
      content: [{ text: "slept 300 ms" }],
    });
    expect(logged.starts()).toBe(1);
  });

  it("`isolation: call` answers before its server has left", async () => {
    const stubborn = fakeStdio({ ...modern, ignores: ["eof"] });
    await using hub = await openHub({ it: { ...stubborn, isolation: "call" } });
    const states: string[] = [];
    hub.on("connection-changed", ({ to }) => states.push(to));
    await hub.tools();
    states.length = 0;
    expect(await add(hub, "it")).toBe(sum);
    expect(states).toContain("connected");
  });
});

describe("M28 isolation: project", () => {
  it("gives each folder its own process, working there, with ${PROJECT_ROOT} filled in", async () => {
    await using one = await openFolder();
    await using two = await openFolder();
    const { args, ...rest } = fakeStdio(modern);
    const entry = { ...rest, args: [...args, "${PROJECT_ROOT}"], isolation: "project" as const };
    await using hub = await openHub({ it: entry });
    const where = async (project: string) => {
      const { structuredContent } = await hub.view({ project }).callTool("it.process");
      return structuredContent as { pid: number; cwd: string; argv: string[] };
    };
    const [first, second, again] = [await where(one.path), await where(two.path), await where(one.path)];
    expect(first.cwd).toBe(one.path);
    expect(first.argv).toContain(one.path);
    expect(second.cwd).toBe(two.path);
    expect(second.pid).not.toBe(first.pid);
    expect(again.pid).toBe(first.pid);
  });
});

describe("M63 who and what are told apart", () => {
  it("events carry caller and account, and a view hears only its own", async () => {
    const entry = { ...inProcessFake(modern), isolation: "caller" } as Servers[string];
    await using hub = await openHub({ it: entry, other: inProcessFake(modern) });
    const heard: Record<string, PlugboardEvent[]> = { ada: [], bob: [], hub: [], other: [] };
    const views = {
      ada: hub.view({ caller: "ada" }),
      bob: hub.view({ caller: "bob" }),
      other: hub.view({ servers: ["other"] }),
      hub,
    };
    for (const [name, view] of Object.entries(views))
      for (const type of ["connection-changed", "call-start", "call-end", "catalog-changed"] as const)
        view.on(type, (event) => heard[name]?.push(event));
    await views.ada.callTool("it.add", { a: 2, b: 3 });
    await views.bob.callTool("it.add", { a: 2, b: 3 });
    const callers = (name: string) =>
      new Set(heard[name]?.map((event) => ("caller" in event ? event.caller : undefined)));
    expect(callers("ada")).toEqual(new Set(["ada"]));
    expect(callers("bob")).toEqual(new Set(["bob"]));
    expect(callers("hub")).toEqual(new Set(["ada", "bob"]));
    expect(heard["other"]).toEqual([]);
  });

  it("looking connects nothing", async () => {
    await using logged = await openLogged(modern);
    await using hub = await openHub({ it: { ...logged.entry, isolation: "caller" } });
    const view = hub.view({ caller: "ada" });
    expect(hub.status({ caller: "ada" })).toMatchObject([{ name: "it", caller: "ada", state: "idle" }]);
    expect(await view.tools({ wait: false })).toEqual([]);
    expect(await view.listStates()).toEqual([{ server: "it", isSnapshot: false }]);
    expect(logged.starts()).toBe(0);
  });

  it("a signal that is aborted already starts nothing and sends nothing", async () => {
    await using logged = await openLogged(modern);
    await using hub = await openHub({ it: logged.entry });
    const signal = AbortSignal.abort();
    const works = [
      hub.callTool("it.add", {}, { signal }),
      hub.forwardCall("it.add", {}, { signal }),
      hub.findTool("it.add", { signal }),
      hub.refresh("it", { signal }),
      hub.connect("it", { signal }),
      hub.getPrompt("it.greet", {}, { signal }),
      hub.readResource("it", "test://one", { signal }),
      hub.complete("it", { prompt: "greet" }, { name: "a", value: "" }, {}, { signal }),
      hub.request("tools/list", {}, { server: "it", signal }),
    ];
    for (const work of works) await expect(work).rejects.toMatchObject({ code: "call-cancelled" });
    await expect(hub.tools({ signal })).rejects.toMatchObject({ code: "call-cancelled" });
    expect(logged.starts()).toBe(0);
  });
});
