import { describe, expect, it } from "vitest";
import { ParsedParams } from "../../src/host.ts";
import type { View } from "../../src/index.ts";
import { createMemoryStore } from "../../src/store/memory/store.ts";
import type { Script } from "../fixtures/fake/index.ts";
import { fakeStdio } from "../fixtures/fake/index.ts";
import { failure, openFake, openHub, openLogged } from "../servers/hub-fixture.ts";

const declares: Script = {
  capabilities: { tools: {}, experimental: { "codex/sandbox-state": { version: "1.0.0" } } },
};
type Logged = Awaited<ReturnType<typeof openLogged>>;
const method = "codex/sandbox-state/update";
const modes = (server: Logged) =>
  server.heard().flatMap((heard) => (heard.method === method ? [heard.params?.["mode"]] : []));

describe("M30 the sandbox state of one caller", () => {
  it("reaches the servers that declare it over connections of its own, also after a restart, and no other", async () => {
    await using told = await openLogged(declares);
    await using other = await openLogged({});
    await using hub = await openHub({ told: told.entry, other: other.entry });
    const [ada, bob] = [hub.view({ caller: "ada" }), hub.view({ caller: "bob" })];
    for (const server of ["told", "other"]) await bob.callTool(`${server}.echo`);
    await ada.setSandboxState({ mode: "ada" });
    expect(modes(told)).toEqual([]);
    for (const server of ["told", "other"]) await ada.callTool(`${server}.echo`);
    expect([modes(told), told.starts()]).toEqual([["ada"], 2]);
    await ada.setSandboxState({ mode: "ada again" });
    await ada.callTool("told.crash").catch(() => undefined);
    await ada.callTool("told.echo");
    expect(modes(told)).toEqual(["ada", "ada again", "ada again"]);
    await bob.callTool("told.echo");
    expect([modes(told).length, told.starts(), modes(other), other.starts()]).toEqual([3, 3, [], 1]);
  });

  it("is there before the first call, although nobody knew what the server declares", async () => {
    await using told = await openLogged(declares);
    await using hub = await openHub({ it: told.entry });
    const ada = hub.view({ caller: "ada" });
    await ada.setSandboxState({ mode: "strict" });
    await ada.callTool("it.echo");
    const order = told
      .heard()
      .flatMap((heard) => (heard.method === method || heard.method === "tools/call" ? [heard.method] : []));
    expect(order).toEqual([method, "tools/call"]);
    await using single = await openLogged(declares);
    await hub.add("single", { ...single.entry, isolation: "call" });
    await ada.callTool("single.echo");
    expect(modes(single)).toEqual(["strict"]);
    await hub.view({ caller: "bob" }).callTool("single.echo");
    expect(modes(single)).toEqual(["strict"]);
  });

  it("is used instead of the hub's, keeps to the servers of its view, and can be forgotten", async () => {
    await using one = await openLogged(declares);
    await using two = await openLogged(declares);
    await using hub = await openHub({ one: one.entry, two: two.entry });
    await hub.setSandboxState({ mode: "hub" });
    const ada = hub.view({ caller: "ada" });
    await hub.view({ caller: "ada", servers: ["one"] }).setSandboxState({ mode: "ada" });
    for (const server of ["one", "two"]) await ada.callTool(`${server}.echo`);
    expect([modes(one), modes(two)]).toEqual([["hub", "ada"], ["hub"]]);
    await ada.setSandboxState(undefined);
    await ada.callTool("one.echo");
    expect(one.starts()).toBe(2);
    expect(await failure(hub.view({ servers: ["one"] }).setSandboxState({}))).toMatchObject({
      code: "usage-invalid",
    });
  });

  it("changes nothing about what the caller sees while its own connection is not there yet", async () => {
    await using hub = await openHub({ it: fakeStdio(declares) });
    const ada = hub.view({ caller: "ada" });
    const before = await ada.tools();
    const digest = await ada.digest("tools");
    await ada.setSandboxState({ mode: "strict" });
    expect((await ada.tools({ wait: false })).map(({ id }) => id)).toEqual(before.map(({ id }) => id));
    expect(await ada.digest("tools")).toBe(digest);
    expect(before.length).toBeGreaterThan(0);
  });

  it("shows the newest list that is known, not what the caller's own connection once had", async () => {
    const store = createMemoryStore({});
    const tool = (name: string) => ({ name, inputSchema: { type: "object" } });
    await using old = await openFake({ ...declares, tools: [tool("old")] });
    let now = 1_000_000;
    const names = async (view: View) => (await view.tools({ wait: false })).map(({ name }) => name);
    {
      await using hub = await openHub({ it: { url: old.url } }, { store, clock: () => now });
      const ada = hub.view({ caller: "ada" });
      await ada.setSandboxState({ mode: "strict" });
      await ada.callTool("it.old");
      expect(await names(ada)).toEqual(["old"]);
    }
    now += 1_000;
    old.set({ tools: [tool("new")] });
    await using hub = await openHub({ it: { url: old.url } }, { store, clock: () => now });
    await hub.refresh("it");
    const ada = hub.view({ caller: "ada" });
    await ada.setSandboxState({ mode: "strict" });
    expect(await names(ada)).toEqual(["new"]);
  });
});

describe("M30 the sandbox state in a call", () => {
  const key = "codex/sandbox-state-meta";
  const meta = { [key]: { sandboxCwd: "file:///work" }, "example.com/trace": 1 };

  it("reaches only servers that declare it, as an object or as bytes, in both eras", async () => {
    for (const versions of ["legacy", "modern"] as const) {
      const capabilities = { tools: {}, experimental: { [key]: {} } };
      await using told = await openLogged({ versions, capabilities });
      await using old = await openLogged({ versions, ...declares });
      await using other = await openLogged({ versions });
      await using hub = await openHub({ told: told.entry, old: old.entry, other: other.entry });
      const text = `{"arguments":{"n":12345678901234567890},"_meta":${JSON.stringify(meta)}}`;
      for (const server of ["told", "old", "other"]) {
        await hub.forwardCall(`${server}.echo`, { arguments: {}, _meta: meta });
        await hub.forwardCall(`${server}.echo`, ParsedParams.parse(Buffer.from(text)));
      }
      const metas = (server: Logged) =>
        server.heard().flatMap((heard) => (heard.method === "tools/call" ? [heard.params?.["_meta"]] : []));
      for (const server of [told, old]) expect(metas(server)).toMatchObject([meta, meta]);
      expect(metas(other)).toMatchObject([{ "example.com/trace": 1 }, { "example.com/trace": 1 }]);
      expect(JSON.stringify(metas(other))).not.toContain("sandboxCwd");
    }
  });
});
