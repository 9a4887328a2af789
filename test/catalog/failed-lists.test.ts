import { describe, expect, it } from "vitest";
import { openLogged, reached, report } from "../servers/hub-fixture.ts";
import { ListServer, hubOf, named } from "./list-server.ts";

const names = (tools: { name: string }[]) => tools.map(({ name }) => name);

describe("a server that failed once in this run", () => {
  it("no longer delays listing: the known tools are returned and it is asked in the background", async () => {
    const [good, slow] = [new ListServer({ tools: named("g") }), new ListServer({ tools: named("s") })];
    let now = 1_000_000;
    slow.answers.set("tools/list", () => new Error("not now"));
    const hub = await hubOf({ good: good.entry, slow: slow.entry }, { clock: () => now });
    expect(names(await hub.tools())).toEqual(["g"]);
    const held = Promise.withResolvers<Record<string, unknown>>();
    slow.answers.set("tools/list", () => held.promise);
    now += 60_000;
    // This would never return if it waited.
    expect(names(await hub.tools())).toEqual(["g"]);
    expect(names(await hub.tools())).toEqual(["g"]);
    const told = new Promise<void>((resolve) => hub.on("catalog-changed", () => resolve()));
    held.resolve({ tools: named("s") });
    await told;
    expect(names(await hub.tools())).toEqual(["g", "s"]);
    expect(slow.count("tools/list")).toBe(2);
  });

  it("is not asked again for every listing", async () => {
    const server = new ListServer();
    server.answers.set("tools/list", () => new Error("never"));
    const hub = await hubOf({ it: server.entry }, { clock: () => 1_000_000 });
    for (let time = 0; time < 5; time++) await hub.tools();
    expect(server.count("tools/list")).toBe(1);
  });

  it("is waited for by a request for that server, and its error is reported", async () => {
    const server = new ListServer({ tools: named("t") });
    server.answers.set("tools/list", () => new Error("out of order"));
    const hub = await hubOf({ it: server.entry });
    await hub.tools();
    for (const query of ["mcp__it__t", "it.t"])
      await expect(hub.findTool(query)).rejects.toMatchObject({
        code: "protocol-error",
        message: expect.stringContaining("out of order"),
      });
    server.answers.clear();
    expect((await hub.callTool("it.t")).isError).toBeFalsy();
    expect(names(await hub.tools())).toEqual(["t"]);
  });

  it("during its start does not delay the first listing either", async () => {
    const [good, hanging] = [new ListServer({ tools: named("g") }), new ListServer({ tools: named("h") })];
    hanging.isDown = true;
    const hub = await hubOf({ good: good.entry, hanging: hanging.entry }, { eager: true });
    await reached(hub, "hanging", "waiting", "failed");
    hanging.isDown = false;
    hanging.answers.set("initialize", () => new Promise(() => {}));
    // This would never return if it waited.
    expect(names(await hub.tools())).toEqual(["g"]);
  });

  it("is waited for again after a reconnect", async () => {
    const server = new ListServer({ tools: named("t") });
    server.isDown = true;
    const hub = await hubOf({ it: server.entry });
    expect(await hub.tools()).toEqual([]);
    server.isDown = false;
    await hub.reconnect();
    expect(names(await hub.tools())).toEqual(["t"]);
  });
});

describe("a list that failed", () => {
  it("because the connection broke is requested again immediately", async () => {
    await using server = await openLogged({
      on: [{ when: { method: "tools/list", nth: 1 }, do: [{ exit: 1 }] }],
      tools: named("t"),
    });
    // The second process starts counting requests again, so the rule ends it as well.
    const hub = await hubOf({ it: server.entry });
    expect(await hub.tools()).toEqual([]);
    expect(server.starts()).toBe(2);
    const dropped = new ListServer({ tools: named("t") });
    dropped.answers.set("tools/list", async () => {
      dropped.answers.clear();
      await dropped.drop();
      return {};
    });
    const other = await hubOf({ it: dropped.entry });
    expect(names(await other.tools())).toEqual(["t"]);
    expect(dropped.connects).toBe(2);
  });

  it("reports that the call it was needed for was not executed", async () => {
    const server = new ListServer({ tools: named("t") });
    server.answers.set("tools/list", async () => {
      await server.drop();
      return {};
    });
    const hub = await hubOf({ it: server.entry });
    await expect(hub.callTool("it.t")).rejects.toMatchObject({ code: "connection-lost", executed: "no" });
  });

  it("does not replace the last good one", async () => {
    const server = new ListServer({ tools: named("t"), resources: [{ uri: "x://a", name: "a" }] });
    const hub = await hubOf({ it: server.entry });
    await Promise.all([hub.tools(), hub.resources()]);
    server.answers.set("tools/list", () => new Error("broken"));
    server.answers.set("resources/list", () => ({ resources: "many" }));
    await expect(hub.refresh("it")).rejects.toMatchObject({ code: "protocol-error" });
    expect(names(await hub.tools())).toEqual(["t"]);
    expect(await hub.resources()).toHaveLength(1);
    expect((await hub.callTool("it.t")).isError).toBeFalsy();
  });

  it("keeps its connection degraded until that list is read successfully", async () => {
    const server = new ListServer({ tools: named("t") });
    const hub = await hubOf({ it: server.entry });
    server.answers.set("tools/list", () => new Error("broken"));
    await hub.tools();
    expect(report(hub, "it")).toMatchObject({
      state: "degraded",
      message: expect.stringContaining("broken"),
    });
    await Promise.all([hub.prompts(), hub.resources()]);
    expect(report(hub, "it").state).toBe("degraded");
    server.answers.clear();
    const recovered = reached(hub, "it", "connected");
    await hub.refresh("it");
    await recovered;
    expect(names(await hub.tools())).toEqual(["t"]);
  });
});

describe("a list that fails once after a change", () => {
  it("is asked again after a second, whatever the server said", async () => {
    const failures: (() => object | Error)[] = [
      () => new Error("busy"),
      () => ({ tools: "many" }),
      () => ({ nothing: true }),
    ];
    for (const fail of failures) {
      const server = new ListServer({ tools: named("one") });
      let now = 1_000_000;
      const hub = await hubOf({ it: server.entry }, { clock: () => now });
      expect(names(await hub.tools())).toEqual(["one"]);
      server.tools = named("two");
      server.answers.set("tools/list", fail as never);
      const changed = new Promise((resolve) => hub.on("catalog-changed", resolve));
      server.changed("tools");
      await changed;
      expect(names(await hub.tools())).toEqual(["one"]);
      server.answers.clear();
      now += 1_000;
      const told = new Promise((resolve) => hub.on("catalog-changed", resolve));
      await hub.tools();
      await told;
      expect(names(await hub.tools())).toEqual(["two"]);
    }
  });

  it("is asked ever more slowly while it goes on", async () => {
    const server = new ListServer({ tools: named("t") });
    server.answers.set("tools/list", () => new Error("never"));
    let now = 1_000_000;
    const hub = await hubOf({ it: server.entry }, { clock: () => now });
    for (let second = 0; second < 120; second++) {
      await hub.tools();
      // The question that is asked behind has its answer.
      await hub.request("ping", {}, { server: "it" });
      now += 1_000;
    }
    expect(server.count("tools/list")).toBeLessThanOrEqual(8);
  });
});
