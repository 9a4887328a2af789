import { describe, expect, it } from "vitest";
import { failure, inProcessFake, openFake, openHub, openLogged } from "../servers/hub-fixture.ts";

const names = (entries: { server: string }[]) => [...new Set(entries.map(({ server }) => server))];

describe("M61 a server that is switched off in this run", () => {
  it("takes everything it offers with it, in every view, and gives it back", async () => {
    await using logged = await openLogged();
    await using hub = await openHub({ it: logged.entry, other: inProcessFake({}) });
    const view = hub.view({ servers: ["it", "other"] });
    const everything = async () => [
      names(await hub.tools()),
      names(await hub.tools({ wait: false })),
      names(await hub.resources()),
      names(await hub.resourceTemplates()),
      names(await hub.prompts()),
      names(await view.tools({ wait: false })),
      names(await view.commands()),
    ];
    const before = await everything();
    expect(before).toEqual(before.map(() => ["it", "other"]));
    const digest = await hub.digest();
    const told: string[] = [];
    hub.on("catalog-changed", ({ server, kind }) => told.push(`${server} ${kind}`));

    await hub.disable("it");
    expect(await everything()).toEqual(before.map(() => ["other"]));
    expect(told).toEqual(["it tools", "it resources", "it prompts"]);
    expect(await hub.summary()).not.toContain("it:");
    expect(await hub.digest()).not.toBe(digest);
    expect(hub.config.servers.get("it")?.status).toMatchObject({ kind: "disabled", reason: "off" });
    for (const use of [
      () => hub.callTool("mcp__it__add", { a: 1, b: 2 }),
      () => view.forwardCall("it.add", { arguments: { a: 1, b: 2 } }),
      () => hub.readResource("it", "fake://readme"),
    ])
      expect(await failure(use())).toMatchObject({ code: "server-disabled", server: "it" });

    hub.enable("it");
    expect(await everything()).toEqual(before);
    expect(await hub.digest()).toBe(digest);
  });

  it("stays off while the configuration changes around it, and can be switched on afterwards", async () => {
    await using fake = await openFake();
    await using hub = await openHub({ it: inProcessFake({}), other: { url: fake.url } });
    await hub.disable("it");
    await hub.add("third", inProcessFake({}));
    await hub.remove("other");
    await hub.reload({ ...hub.config });
    expect(names(await hub.tools())).toEqual(["third"]);
    hub.enable("it");
    expect(names(await hub.tools())).toEqual(["it", "third"]);
  });
});
