import { describe, expect, it, vi } from "vitest";
import type { PlugboardEvent } from "../../src/index.ts";
import { fakeStdio } from "../fixtures/fake/index.ts";
import { add, inProcessFake, openFolder, openHub, openLogged, report, sum } from "../servers/hub-fixture.ts";
import type { Servers } from "../servers/hub-fixture.ts";

const modern = { versions: "modern" as const };

describe("M28 unused connections are closed", () => {
  it("after `idleMs` if they belong to one caller, so a thousand callers leave nothing behind", async () => {
    const entry = { ...inProcessFake(modern), isolation: "caller" } as Servers[string];
    await using hub = await openHub({ it: entry }, { idleMs: 20, maxConnections: 16 });
    const open = new Set<string>();
    const most = { open: 0 };
    hub.on("connection-changed", ({ to, caller = "" }) => {
      if (to === "connected") open.add(caller);
      if (to === "closed") open.delete(caller);
      most.open = Math.max(most.open, open.size);
    });
    for (let caller = 0; caller < 1_000; caller++) {
      const view = hub.view({ caller: `caller ${caller}` });
      await view.callTool("it.add", { a: 2, b: 3 });
    }
    await vi.waitFor(() => expect(open.size).toBe(0), 30_000);
    expect(most.open).toBeLessThanOrEqual(17);
  });

  it("least recently used first, if there are too many", async () => {
    const entry = { ...inProcessFake(modern), isolation: "caller" } as Servers[string];
    await using hub = await openHub({ it: entry }, { maxConnections: 2 });
    const ended: string[] = [];
    hub.on("connection-changed", ({ to, caller = "" }) => to === "closed" && ended.push(caller));
    for (const caller of ["one", "two", "three", "one"])
      await hub.view({ caller }).callTool("it.add", { a: 2, b: 3 });
    await vi.waitFor(() => expect(ended).toEqual(["one", "two"]));
  });

  it("the cap holds after reloads, and a switched-off server stays off", async () => {
    const entry = (callTimeoutMs: number) =>
      ({ ...inProcessFake(modern), isolation: "caller", callTimeoutMs }) as Servers[string];
    await using hub = await openHub({ it: entry(5_000) }, { maxConnections: 2, idleMs: Infinity });
    let open = 0;
    hub.on("connection-changed", ({ to, caller }) => {
      if (caller !== undefined && to === "connected") open++;
      if (caller !== undefined && to === "closed") open--;
    });
    for (let turn = 1; turn <= 5; turn++) {
      await hub.callTool("it.add", { a: 2, b: 3 });
      await hub.reload({ servers: { it: entry(5_000 + turn) } });
    }
    for (let caller = 0; caller < 10; caller++)
      await hub.view({ caller: String(caller) }).callTool("it.add", { a: 2, b: 3 });
    await vi.waitFor(() => expect(open).toBe(2));
    await hub.disable("it");
    await hub.reload({ servers: { it: entry(9_000) } });
    await expect(hub.callTool("it.add", { a: 1, b: 2 })).rejects.toMatchObject({ code: "server-disabled" });
  });

  it("`idleStopMs` stops an idle program; its tools stay listed and the next call starts it again", async () => {
    await using logged = await openLogged(modern);
    await using hub = await openHub({ it: { ...logged.entry, idleStopMs: 50 } });
    expect(await add(hub, "it")).toBe(sum);
    await vi.waitFor(() => expect(report(hub, "it").state).toBe("ready"), 30_000);
    expect((await hub.tools({ wait: false })).length).toBeGreaterThan(5);
    expect(report(hub, "it").state).toBe("ready");
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

  it("`isolation: call` returns the result before its server has exited", async () => {
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
  it("gives each folder its own process in that folder, with ${PROJECT_ROOT} expanded", async () => {
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

describe("M47 subscriptions", () => {
  it.each(["legacy", "modern"] as const)(
    "survive a changed configuration, and refusals reach everybody (%s)",
    async (era) => {
      const entry = (callTimeoutMs: number) =>
        ({ ...inProcessFake({ versions: era }), callTimeoutMs }) as Servers[string];
      await using hub = await openHub({ it: entry(5_000) });
      const heard = { first: 0, second: 0 };
      await hub.subscribeResource("it", "test://one", () => heard.first++);
      await hub.reload({ servers: { it: entry(6_000) } });
      await hub.subscribeResource("it", "test://one", () => heard.second++);
      await vi.waitFor(async () => {
        await hub.callTool("it.change", { what: "test://one" });
        expect(heard.first > 0 && heard.second > 0).toBe(true);
      }, 10_000);
    },
  );
});

describe("M47 subscribers", () => {
  it("count each by itself, ask the server once, and try again after a failure", async () => {
    const fails = {
      when: { method: "resources/subscribe", nth: 1 },
      do: [{ error: { code: -32_000, message: "not now" } }],
    };
    await using logged = await openLogged({ versions: "legacy", on: [fails] });
    await using hub = await openHub({ it: logged.entry });
    const heard = { count: 0 };
    const listener = () => heard.count++;
    const both = [0, 1].map(() => hub.subscribeResource("it", "test://one", listener));
    for (const one of both) await expect(one).rejects.toThrow(/not now/);
    const leave = await hub.subscribeResource("it", "test://one", listener);
    await hub.subscribeResource("it", "test://one", listener);
    await leave();
    await hub.callTool("it.change", { what: "test://one" });
    await vi.waitFor(() => expect(heard.count).toBe(1));
    const asked = logged.heard().filter(({ method }) => method === "resources/subscribe");
    expect(asked).toHaveLength(2);
  });
});

describe("M63 callers and accounts are kept apart", () => {
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

  it("a narrowed view hears nothing of other servers, callers and projects, and lists no tools at the raw door", async () => {
    await using hub = await openHub({ a: inProcessFake(modern), b: inProcessFake(modern) });
    const heard: string[] = [];
    const view = hub.view({ servers: ["a"], caller: "ada", tools: ["echo"] });
    for (const type of ["config-changed", "call-start", "connection-changed"] as const)
      view.on(type, (event) => heard.push(event.type));
    await hub.callTool("a.echo");
    await hub.callTool("b.echo");
    await hub.add("c", inProcessFake(modern));
    expect(heard).toEqual(["connection-changed", "connection-changed"]);
    await expect(view.request("tools/list", {}, { server: "a" })).rejects.toMatchObject({
      code: "usage-invalid",
    });
  });

  it("reading the status does not connect", async () => {
    await using logged = await openLogged(modern);
    await using hub = await openHub({ it: { ...logged.entry, isolation: "caller" } });
    const view = hub.view({ caller: "ada" });
    expect(hub.status({ caller: "ada" })).toMatchObject([{ name: "it", caller: "ada", state: "ready" }]);
    expect(await view.tools({ wait: false })).toEqual([]);
    expect(await view.listStates()).toEqual([{ server: "it", isSnapshot: false }]);
    expect(logged.starts()).toBe(0);
  });

  it("an aborted signal starts nothing and sends nothing", async () => {
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

  it("a cancellation ends a forwarded call like a signal: before it is found, before it is sent, under way", async () => {
    await using logged = await openLogged(modern);
    await using hub = await openHub({ it: logged.entry });
    const failure = { code: "call-cancelled" };
    const over = cancellation();
    over.cancel();
    await expect(hub.forwardCall("it.sleep", sleep, { cancellation: over })).rejects.toMatchObject(failure);
    expect(logged.starts()).toBe(0);
    const { id } = await hub.findTool("it.sleep");
    const later = cancellation();
    const begun = new Promise<void>((resolve) => hub.on("call-start", () => resolve()));
    const call = hub.forwardCall(id, sleep, { cancellation: later });
    await begun;
    expect(hub.calls().filter(({ outcome }) => outcome === undefined)).toHaveLength(1);
    later.cancel();
    await expect(call).rejects.toMatchObject(failure);
    await expect(hub.forwardCall(id, sleep, { cancellation: later })).rejects.toMatchObject(failure);
    expect(hub.calls().map(({ outcome }) => outcome)).toEqual(["cancelled", "cancelled"]);
    const told = () => logged.heard().filter(({ method }) => method === "notifications/cancelled");
    await vi.waitFor(() => expect(told()).toHaveLength(1));
  });
});

const sleep = { arguments: { ms: 600_000 } };

function cancellation() {
  const abort = new AbortController();
  const { signal } = abort;
  return {
    signal,
    cancel: () => abort.abort(),
    onCancelled(listener: () => void) {
      if (signal.aborted) listener();
      signal.addEventListener("abort", listener);
      return () => signal.removeEventListener("abort", listener);
    },
  };
}
