import { describe, expect, it } from "vitest";
import type { FakeHttp, Rule } from "../fixtures/fake/index.ts";
import { inProcessFake, openFake } from "../servers/hub-fixture.ts";
import type { Fields } from "./clients/client.ts";
import { subscriptionOf } from "./clients/modern-client.ts";
import { openPipe } from "./open-pipe.ts";

const resource = (uri: string) => ({ uri, name: uri });
const acknowledged = "notifications/subscriptions/acknowledged";
const updated = "notifications/resources/updated";
const listChanged = "notifications/tools/list_changed";

/** A server that answers subscriptions only after somebody has asked it to complete something. */
const slow: Rule[] = [
  {
    when: { method: "resources/subscribe" },
    do: [{ waitFor: { method: "completion/complete" } }, { default: true }],
  },
];
const release = { ref: { type: "ref/prompt", name: "greet" }, argument: { name: "who", value: "" } };

const isAsked = ({ received }: FakeHttp) =>
  received.some(({ message }) => message?.["method"] === "resources/subscribe");

describe("M80 subscriptions/listen", () => {
  it("is acknowledged although a server does not answer, and nothing is lost meanwhile", async () => {
    await using fake = await openFake({ versions: "legacy", resources: [resource("slow://a")], on: slow });
    const quick = { versions: "legacy" as const, resources: [resource("quick://a")] };
    await using served = await openPipe({ slow: { url: fake.url }, quick: inProcessFake(quick) });
    const client = await served.connect("modern");
    const uris = ["slow://a", "quick://a", "nobody://a"];
    await client.listen({ tools: true, uris });
    const [first] = client.notifications(acknowledged);
    // What nobody offers is not promised.
    expect(first?.params?.["notifications"]).toEqual({
      toolsListChanged: true,
      resourceSubscriptions: ["slow://a", "quick://a"],
    });
    await client.result(client.call("quick__change", { what: "quick://a" }));
    await client.sees(
      "the quick change",
      ({ method, params }) => method === updated && params?.["uri"] === uris[1],
    );
    await expect.poll(() => isAsked(fake)).toBe(true);
    // It may have changed before its server accepted.
    await served.hub.request("completion/complete", release, { server: "slow" });
    await client.sees(
      "the slow change",
      ({ method, params }) => method === updated && params?.["uri"] === uris[0],
    );
    expect(client.notifications(acknowledged)).toHaveLength(1);
  });

  it("tells of lists that change before it is acknowledged, after that", async () => {
    await using fake = await openFake({ versions: "legacy", resources: [resource("slow://a")], on: slow });
    await using served = await openPipe({ slow: { url: fake.url }, quick: inProcessFake({}) });
    const client = await served.connect("modern");
    const listening = client.listen({ tools: true, uris: ["slow://a"] });
    const changed = client.sees(listChanged, ({ method }) => method === listChanged);
    await expect.poll(() => isAsked(fake)).toBe(true);
    await served.hub.disable("quick");
    await Promise.all([listening, changed]);
    const order = client.seen.filter(({ kind }) => kind === "notification").map(({ method }) => method);
    expect(order[0]).toBe(acknowledged);
    expect(
      new Set(
        client.seen.flatMap(({ kind, params }) => (kind === "notification" ? [subscriptionOf(params)] : [])),
      ).size,
    ).toBe(1);
  });

  it("does not promise what a server refuses", async () => {
    const on: Rule[] = [
      { when: { method: "resources/subscribe" }, do: [{ error: { code: -32_602, message: "no" } }] },
    ];
    const refusing = inProcessFake({ versions: "legacy", resources: [resource("one://a")], on });
    await using served = await openPipe({ refusing, other: inProcessFake({}) });
    const client = await served.connect("modern");
    await client.listen({ tools: true, uris: ["one://a"] });
    expect(client.notifications(acknowledged)[0]?.params?.["notifications"]).toEqual({
      toolsListChanged: true,
    });
  });

  it("tells what changed since the last one ended, and nothing else", async () => {
    await using served = await openPipe({ one: inProcessFake({ rare: true }), two: inProcessFake({}) });
    const client = await served.connect("modern");
    const listen = async (filter: Fields) => {
      const sent = client.once("subscriptions/listen", { notifications: filter });
      const mine = ({ method, params }: { method?: string; params?: Fields }, what: string) =>
        method === what && subscriptionOf(params) === sent.id;
      await client.sees("its acknowledgement", (seen) => mine(seen, acknowledged));
      return {
        sent,
        told: () =>
          client.seen.filter((seen) => subscriptionOf(seen.params) === sent.id).map(({ method }) => method),
        async end() {
          sent.cancel();
          await sent.answer;
        },
      };
    };
    const filter = { toolsListChanged: true, promptsListChanged: true };
    const first = await listen(filter);
    await first.end();
    const again = await listen(filter);
    await client.result(client.call("one__echo"));
    expect(again.told()).toEqual([acknowledged]);
    await again.end();
    const seen = new Promise<void>((resolve) => {
      const stop = served.hub.on("catalog-changed", ({ kind }) => {
        if (kind !== "tools") return;
        stop();
        resolve();
      });
    });
    await client.result(client.call("one__grow", { what: "tools" }));
    await seen;
    const third = await listen(filter);
    await client.result(client.call("one__echo"));
    expect(third.told()).toEqual([acknowledged, listChanged]);
    const other = await listen({ promptsListChanged: true });
    await client.result(client.call("one__echo"));
    expect(other.told()).toEqual([acknowledged]);
  });
});
