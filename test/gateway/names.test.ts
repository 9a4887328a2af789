import { describe, expect, it } from "vitest";
import { fakeStdio } from "../fixtures/fake/index.ts";
import { inProcessFake } from "../servers/hub-fixture.ts";
import type { Fields } from "./clients/client.ts";
import { openPipe } from "./open-pipe.ts";

const hanging = fakeStdio({ start: [{ silent: true }] });

describe("M80 a name that no tool has", () => {
  it("is refused at once, although another server hangs", async () => {
    await using served = await openPipe({ one: inProcessFake({}), other: hanging }, { isWarm: false });
    const client = await served.connect("modern");
    await client.result(client.call("one__echo"));
    expect((await client.call("one__nothing").answer).error).toMatchObject({ code: -32_602 });
    expect((await client.request("prompts/get", { name: "one__nothing" }).answer).error).toMatchObject({
      code: -32_602,
    });
    expect(served.hub.status().find(({ name }) => name === "other")?.counts.failures).toBe(0);
  });
});

describe("M80 plain names", () => {
  it("say which server they belong to as soon as there are two", async () => {
    await using served = await openPipe({ one: inProcessFake({}) }, { names: { style: "plain" } });
    const client = await served.connect("legacy");
    const listed = async () => {
      const { tools } = (await client.result(client.request("tools/list"))) as { tools: Fields[] };
      return tools.map(({ name }) => String(name));
    };
    expect(await listed()).toContain("echo");
    await served.hub.add("two", inProcessFake({}));
    expect(await listed()).toContain("one__echo");
    expect((await client.call("echo").answer).error).toMatchObject({ code: -32_602 });
    await client.result(client.call("two__echo"));
  });
});

describe("M80 a bundle's endpoint", () => {
  it("shows its own servers, and tells only of their changes", async () => {
    const settings = { bundles: { few: { servers: ["one"] } } };
    await using served = await openPipe(
      { one: inProcessFake({}), two: inProcessFake({}) },
      { settings, bundle: "few" },
    );
    const client = await served.connect("legacy");
    const { tools } = (await client.result(client.request("tools/list"))) as { tools: Fields[] };
    expect(new Set(tools.map(({ name }) => String(name).split("__")[0]))).toEqual(new Set(["one"]));
    expect((await client.call("two__echo").answer).error).toMatchObject({ code: -32_602 });
    await served.hub.disable("two");
    await served.hub.disable("one");
    const changed = "notifications/tools/list_changed";
    await client.sees(changed, ({ method }) => method === changed);
    await client.result(client.request("ping"));
    expect(client.notifications(changed)).toHaveLength(1);
  });

  it("follows its bundle, also where nothing else changes, and tells its clients", async () => {
    const servers = { one: inProcessFake({}), two: inProcessFake({}) };
    const bundles = { few: { servers: ["one"] } };
    await using served = await openPipe(servers, { settings: { bundles }, bundle: "few" });
    const client = await served.connect("legacy");
    await client.result(client.request("tools/list"));
    await client.result(client.call("one__echo"));
    await served.hub.reload({ servers, bundles: { few: { servers: ["two"] } } });
    await client.sees("the change", ({ method }) => method === "notifications/tools/list_changed");
    const { tools } = (await client.result(client.request("tools/list"))) as { tools: Fields[] };
    expect(new Set(tools.map(({ name }) => String(name).split("__")[0]))).toEqual(new Set(["two"]));
    expect((await client.call("one__echo").answer).error).toMatchObject({ code: -32_602 });
    await client.result(client.call("two__echo"));
  });
});
