import { describe, expect, it } from "vitest";
import type { Hub } from "../../src/index.ts";
import { fakeStdio } from "../fixtures/fake/index.ts";
import type { Script, Step } from "../fixtures/fake/index.ts";
import { openFake, openHub } from "./hub-fixture.ts";

/** Resolves with the next report that the tools changed. */
function toolsChanged(hub: Hub): Promise<void> {
  return new Promise((resolve) => {
    const stop = hub.on("catalog-changed", ({ kind }) => {
      if (kind !== "tools") return;
      stop();
      resolve();
    });
  });
}

const soon = { random: () => 0 };
const cut: Step[] = [{ default: true }, { drop: "reset" }];

describe.concurrent("M24 a push stream comes back, and what it may have missed counts as changed", () => {
  it.for([400, 401, 403, 404, 405, 409, 429, 500, 503])(
    "legacy: a stream that broke and was refused with a %i once",
    async (status) => {
      await using fake = await openFake({
        versions: "legacy",
        retryMs: 100,
        on: [
          { when: { http: "GET", nth: 1 }, do: cut },
          { when: { http: "GET", nth: 2 }, do: [{ http: { status, body: "not now" } }] },
        ],
      });
      await using hub = await openHub({ it: { url: fake.url } }, soon);
      const changed = toolsChanged(hub);
      await hub.connect("it");
      await changed;
      const sent = fake.received.filter(({ message }) => message?.["method"] === "initialize");
      expect(sent).toHaveLength(1);
    },
  );

  it("legacy: a server that never had such a stream is not asked for it again", async () => {
    await using fake = await openFake({
      versions: "legacy",
      on: [{ when: { http: "GET" }, do: [{ http: { status: 405 } }] }],
    });
    await using hub = await openHub({ it: { url: fake.url } }, soon);
    await hub.connect("it");
    await hub.tools();
    await hub.refresh("it");
    expect(fake.received.filter(({ method }) => method === "GET")).toHaveLength(1);
  });

  const ends: [string, Script["on"]][] = [
    ["was answered with an error", [{ when: listenTwice(), do: [error(-32_000)] }]],
    ["was answered with an unknown method", [{ when: listenTwice(), do: [error(-32_601)] }]],
    [
      "was cancelled by the server",
      [{ when: { method: "subscriptions/listen", nth: 1 }, do: [{ default: true }, cancelled()] }],
    ],
    ["ended", [{ when: { method: "subscriptions/listen", nth: 1 }, do: [{ answer: {} }] }]],
  ];
  it.for(ends)("modern, stdio: a subscription that %s", async ([, on = []]) => {
    await using hub = await openHub({ it: fakeStdio({ versions: "modern", on }) }, soon);
    const changed = toolsChanged(hub);
    await hub.connect("it");
    await changed;
  });

  it.for([...ends, ["broke", [{ when: { method: "subscriptions/listen", nth: 1 }, do: cut }]] as const])(
    "modern, HTTP: a subscription that %s",
    async ([, on = []]) => {
      await using fake = await openFake({ versions: "modern", on: [...on] });
      await using hub = await openHub({ it: { url: fake.url } }, soon);
      const changed = toolsChanged(hub);
      await hub.connect("it");
      await changed;
    },
  );

  it("lists are asked for again after a reconnect, whatever the server had said meanwhile", async () => {
    await using fake = await openFake({ versions: "legacy", tools: [tool("old")] });
    await using hub = await openHub({ it: { url: fake.url, lazy: false } });
    expect((await hub.tools()).map(({ name }) => name)).toEqual(["old"]);
    fake.set({ tools: [tool("new")] });
    await fake.restart();
    await hub.reconnect();
    expect((await hub.tools()).map(({ name }) => name)).toEqual(["new"]);
  });
});

function listenTwice() {
  return { method: "subscriptions/listen", nth: [1, 2] };
}

function error(code: number): Step {
  return { error: { code, message: "not now" } };
}

function cancelled(): Step {
  return { message: { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: "$id" } } };
}

function tool(name: string) {
  return { name, inputSchema: { type: "object" } };
}
