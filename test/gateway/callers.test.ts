import { describe, expect, it } from "vitest";
import { createGateway } from "../../src/gateway/index.ts";
import type { Hub } from "../../src/index.ts";
import { fakeStdio } from "../fixtures/fake/index.ts";
import type { Step } from "../fixtures/fake/index.ts";
import { openHub } from "../servers/hub-fixture.ts";
import { HttpWire } from "./clients/http-wire.ts";
import { openClient } from "./clients/open-client.ts";

const log = (data: string): Step => ({
  notify: { method: "notifications/message", params: { level: "error", data } },
});
const done: Step = { default: true };

/** A gateway where everybody is who they say they are in `Authorization`. */
async function openGateway(hub: Hub) {
  const authenticate = ({ headers }: { headers: Headers }) => headers.get("authorization")?.slice(7);
  const gateway = createGateway(hub, { authenticate });
  const { url } = await gateway.listen();
  return {
    client: async (caller: string) => {
      const wire = new HttpWire({ url, headers: { authorization: `Bearer ${caller}` } });
      const client = await openClient("legacy", wire);
      await client.setLogLevel("debug");
      await client.listen({ tools: true });
      return client;
    },
    [Symbol.asyncDispose]: () => gateway.close({ drainMs: 0 }),
  };
}

const logged = "notifications/message";

describe("what servers log, for callers that share a connection", () => {
  it("reaches none of them while both have requests under way, or after an answer", async () => {
    const on = [
      {
        when: { tool: "add" },
        do: [{ waitFor: { tool: "echo", nth: 1 } }, log("of ada"), done, log("later")],
      },
      { when: { tool: "echo" }, do: [{ waitFor: { tool: "big", nth: 1 } }, done] },
    ];
    await using hub = await openHub({ it: fakeStdio({ versions: "legacy", on }) }, { keepFresh: true });
    await using gateway = await openGateway(hub);
    const [ada, bob] = [await gateway.client("ada"), await gateway.client("bob")];
    const calls = [ada.result(ada.call("it__add", { a: 1, b: 2 })), bob.result(bob.call("it__echo"))];
    await calls[0];
    await ada.result(ada.call("it__big"));
    await calls[1];
    // A change of a list is for everybody, and comes after what was said before.
    await ada.result(ada.call("it__change", { what: "tools" }));
    for (const client of [ada, bob]) {
      await client.sees("the change", ({ method }) => method === "notifications/tools/list_changed");
      expect(client.notifications(logged)).toEqual([]);
    }
  });

  it("reaches every session of the only caller, and the stream of its request once", async () => {
    const on = [{ when: { tool: "echo" }, do: [log("during"), done, log("after")] }];
    await using hub = await openHub({ it: fakeStdio({ versions: "legacy", on }) }, { keepFresh: true });
    await using gateway = await openGateway(hub);
    const [one, two, other] = [
      await gateway.client("ada"),
      await gateway.client("ada"),
      await gateway.client("bob"),
    ];
    await one.result(one.call("it__echo"));
    for (const client of [one, two])
      await client.sees("the last log", ({ params }) => params?.["data"] === "after");
    const data = (client: typeof one) =>
      client
        .notifications(logged)
        .map(({ params }) => String(params?.["data"]))
        .sort();
    expect([data(one), data(two), data(other)]).toEqual([["after", "during"], ["after"], []]);
  });
});

describe("a list that is one caller's own", () => {
  it("changes for no other one", async () => {
    const it = { ...fakeStdio({ versions: "legacy", rare: true }), isolation: "caller" as const };
    await using hub = await openHub({ it }, { keepFresh: true });
    await using gateway = await openGateway(hub);
    const [ada, bob] = [await gateway.client("ada"), await gateway.client("bob")];
    for (const client of [ada, bob]) {
      for (const list of ["tools", "resources", "prompts"])
        await client.result(client.request(`${list}/list`));
      await client.result(client.request("ping"));
    }
    bob.seen.length = 0;
    const change = "notifications/prompts/list_changed";
    await ada.result(ada.call("it__grow", { what: "prompts" }));
    await ada.sees("the change", ({ method }) => method === change);
    // The next change is for both, and bob heard of no other one before.
    await bob.result(bob.call("it__grow", { what: "tools" }));
    await bob.sees("the change", ({ method }) => method === "notifications/tools/list_changed");
    expect(bob.notifications(change)).toEqual([]);
  });
});
