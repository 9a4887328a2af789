import { describe, expect, it } from "vitest";
import { named } from "../catalog/list-server.ts";
import type { HttpAnswer } from "../fixtures/fake/script.ts";
import { openPipe } from "../gateway/open-pipe.ts";
import { openFake, openHub } from "./hub-fixture.ts";

const names = (tools: { name: string }[]) => tools.map(({ name }) => name);

const outages: [string, HttpAnswer][] = [
  ["503", { status: 503 }],
  ["503 with a page", { status: 503, contentType: "text/html", body: "<h1>Restarting</h1>" }],
  ["502", { status: 502 }],
  ["500", { status: 500, body: "boom" }],
  ["503 and a time", { status: 503, headers: { "retry-after": "1" } }],
  ["429 and a time", { status: 429, headers: { "retry-after": "1" } }],
];

describe.concurrent.each(["legacy", "modern"] as const)(
  "a list that a %s server answers once",
  (versions) => {
    const once = (http: HttpAnswer) => [{ when: { method: "tools/list", nth: 1 }, do: [{ http }] }];

    it.for(outages)(
      "with %s is there all the same, and after a change it is the new one",
      async ([, http], { expect }) => {
        await using fake = await openFake({ versions, tools: named("t"), on: once(http) });
        await using hub = await openHub({ it: { url: fake.url } });
        expect(names(await hub.tools())).toEqual(["t"]);
        const changed = new Promise((resolve) => hub.on("catalog-changed", resolve));
        fake.set({ tools: named("t", "u"), on: once(http) });
        // A modern server tells of changes only to those who have asked by now.
        const telling = setInterval(
          () => void fake.notify({ method: "notifications/tools/list_changed" }),
          50,
        );
        await changed.finally(() => clearInterval(telling));
        expect(names(await hub.tools())).toEqual(["t", "u"]);
      },
    );

    it("with a time that is far away is asked again then, and not before", async ({ expect }) => {
      const http = { status: 503, headers: { "retry-after": "30" } };
      await using fake = await openFake({ versions, tools: named("t"), on: once(http) });
      let now = 1_000_000;
      await using hub = await openHub({ it: { url: fake.url } }, { clock: () => now });
      const asked = () => fake.received.filter(({ message }) => message?.["method"] === "tools/list").length;
      expect(await hub.tools()).toEqual([]);
      now += 29_000;
      expect(await hub.tools()).toEqual([]);
      expect(asked()).toBe(1);
      now += 2_000;
      const told = new Promise((resolve) => hub.on("catalog-changed", resolve));
      await hub.tools();
      await told;
      expect(names(await hub.tools())).toEqual(["t"]);
    });
  },
);

describe("M80 the first list of a gateway's client", () => {
  it.each(["legacy", "modern"] as const)(
    "has the tools of a server that answers once with 503 (%s)",
    async (versions) => {
      const once = [{ when: { method: "tools/list", nth: 1 }, do: [{ http: { status: 503 } }] }];
      await using fake = await openFake({ versions, tools: named("t"), on: once });
      await using served = await openPipe({ it: { url: fake.url } }, { isWarm: false });
      const client = await served.connect(versions);
      const listed = (await client.result(client.request("tools/list"))) as { tools: { name: string }[] };
      expect(names(listed.tools)).toEqual(["it__t"]);
    },
  );
});
