import { describe, expect, it } from "vitest";
import type { GatewayLimits } from "../../src/gateway/http/limits.ts";
import { fakeStdio } from "../fixtures/fake/index.ts";
import type { Servers } from "../servers/hub-fixture.ts";
import type { ClientOptions, Era, Fields, TestClient } from "./clients/client.ts";
import { HttpWire } from "./clients/http-wire.ts";
import { openClient } from "./clients/open-client.ts";
import { echo, openFront } from "./http/open-front.ts";
import { Served } from "../../src/gateway/gateway.ts";
import { openFake, openHub } from "../servers/hub-fixture.ts";
import { openPipe } from "./open-pipe.ts";

/** A gateway over HTTP whose callers are named by a header. */
async function serve(servers: Servers, limits: Partial<GatewayLimits>) {
  const authenticate = ({ headers }: { headers: Headers }) => headers.get("x-caller") ?? undefined;
  const pipe = await openPipe(servers, { limits, authenticate });
  const { url } = await pipe.gateway.listen();
  const clients: TestClient[] = [];
  return {
    connect: async (caller: string, era: Era = "modern", options: ClientOptions = {}) => {
      const client = await openClient(era, new HttpWire({ url, headers: { "x-caller": caller } }), options);
      clients.push(client);
      return client;
    },
    [Symbol.asyncDispose]: async () => {
      for (const client of clients) client.disconnect();
      await pipe.gateway.close({ drainMs: 0 });
      await pipe[Symbol.asyncDispose]();
    },
  };
}

const rateLimited = { error: { code: -31_024, data: { code: "rate-limited" } } };

describe("results of tasks that nobody fetches", () => {
  it("make room for newer ones of the same caller", async () => {
    const it = fakeStdio({ versions: "legacy" });
    await using served = await serve({ it }, { heldBytesPerCaller: 100_000 });
    const [ada, bob] = [await served.connect("ada", "legacy"), await served.connect("bob", "legacy")];
    const finished = async (client: TestClient) => {
      const call = { name: "it__big", arguments: { bytes: 60_000 }, task: { ttl: 600_000 } };
      const { task } = await client.result(client.once("tools/call", call));
      const { taskId } = task as Fields;
      let status: unknown;
      while (status !== "completed") ({ status } = await client.result(client.once("tasks/get", { taskId })));
      return taskId;
    };
    const get = (client: TestClient, taskId: unknown) => client.once("tasks/get", { taskId }).answer;
    const [his, first, second] = [await finished(bob), await finished(ada), await finished(ada)];
    expect(await get(ada, first)).toMatchObject({ error: { code: -32_602 } });
    expect(await get(ada, second)).toMatchObject({ result: { status: "completed" } });
    expect(await get(bob, his)).toMatchObject({ result: { status: "completed" } });
  });
});

describe("tasks that go on", () => {
  it("count with their requests, and are refused when those are too much for one caller", async () => {
    const it = fakeStdio({ versions: "legacy" });
    await using served = await serve({ it }, { heldBytesPerCaller: 100_000 });
    const [ada, bob] = [await served.connect("ada", "legacy"), await served.connect("bob", "legacy")];
    const begin = (client: TestClient) => {
      const call = { name: "it__sleep", arguments: { ms: 60_000, long: "x".repeat(60_000) }, task: {} };
      return client.once("tools/call", call).answer;
    };
    expect(await begin(ada)).toMatchObject({ result: { task: { status: "working" } } });
    expect(await begin(ada)).toMatchObject({ error: { message: expect.stringContaining("too many tasks") } });
    expect(await begin(bob)).toMatchObject({ result: { task: { status: "working" } } });
  });
});

describe("calls that wait for input", () => {
  it("are limited for each caller and for all: the oldest that was handed out ends", async () => {
    const it = fakeStdio({ versions: "legacy", rare: true });
    await using served = await serve({ it }, { parkedCallsPerCaller: 2, parkedCalls: 3 });
    const options = { capabilities: { elicitation: {} } };
    const accept = { action: "accept", content: { name: "Ada" } };
    const ask = { name: "it__elicit", arguments: {} };
    const open = async (client: TestClient) => client.result(client.once("tools/call", ask));
    const goOn = async (client: TestClient, { inputRequests, requestState }: Fields) => {
      const inputResponses = Object.fromEntries(
        Object.keys(inputRequests as Fields).map((key) => [key, accept]),
      );
      return client.once("tools/call", { ...ask, requestState, inputResponses }).answer;
    };
    const [ada, bob, eve] = [
      await served.connect("ada", "modern", options),
      await served.connect("bob", "modern", options),
      await served.connect("eve", "modern", options),
    ];
    const his = await open(bob);
    const [first, second, third] = [await open(ada), await open(ada), await open(ada)];
    expect(await goOn(ada, first)).toMatchObject({ error: { code: -32_602 } });
    const hers = await open(eve);
    expect(await goOn(ada, second)).toMatchObject({ error: { code: -32_602 } });
    for (const [client, asked] of [
      [ada, third],
      [bob, his],
      [eve, hers],
    ] as const)
      expect(await goOn(client, asked)).toMatchObject({ result: { resultType: "complete" } });
  });
});

describe("subscriptions to resources", () => {
  const resources = Array.from({ length: 6 }, (_, index) => ({ uri: `fake://r/${index}`, name: `${index}` }));
  const uris = resources.map(({ uri }) => uri);
  const limits = { subscriptionsPerCaller: 3, subscriptions: 5 };

  it("are refused beyond a caller's number, until some end, and others have theirs", async () => {
    await using served = await serve({ it: fakeStdio({ resources }) }, limits);
    const [ada, bob] = [await served.connect("ada", "legacy"), await served.connect("bob", "legacy")];
    const subscribe = (client: TestClient, uri: unknown) =>
      client.once("resources/subscribe", { uri }).answer;
    for (const uri of uris.slice(0, 3)) expect(await subscribe(ada, uri)).toMatchObject({ result: {} });
    expect(await subscribe(ada, uris[3])).toMatchObject(rateLimited);
    expect(await subscribe(bob, uris[3])).toMatchObject({ result: {} });
    await ada.result(ada.once("resources/unsubscribe", { uri: uris[0] }));
    expect(await subscribe(ada, uris[3])).toMatchObject({ result: {} });
  });

  it("are not acknowledged beyond it where a client listens, and end with its stream", async () => {
    await using served = await serve({ it: fakeStdio({ resources }) }, limits);
    const client = await served.connect("ada");
    const acknowledged = async () => {
      const before = client.notifications("notifications/subscriptions/acknowledged").length;
      const listening = client.once("subscriptions/listen", {
        notifications: { resourceSubscriptions: uris },
      });
      let said: { params?: Fields }[];
      do {
        await new Promise((resolve) => setImmediate(resolve));
        said = client.notifications("notifications/subscriptions/acknowledged");
      } while (said.length === before);
      const { notifications } = (said.at(-1)?.params ?? {}) as { notifications?: Fields };
      return { listening, uris: notifications?.["resourceSubscriptions"] as string[] | undefined };
    };
    const first = await acknowledged();
    expect(first.uris).toHaveLength(3);
    expect((await acknowledged()).uris).toBeUndefined();
    first.listening.cancel();
    while ((await acknowledged()).uris?.length !== 3);
  });
});

describe("long lists of many callers", () => {
  it("can be read to their end although no page of them is kept", async () => {
    const prompts = Array.from({ length: 1_200 }, (_, index) => ({ name: `prompt-${index}` }));
    await using served = await serve({ it: fakeStdio({ prompts }) }, { heldBytes: 1 });
    const client = await served.connect("ada");
    const names: unknown[] = [];
    let cursor: unknown;
    do {
      const page = await client.result(client.once("prompts/list", cursor === undefined ? {} : { cursor }));
      names.push(...(page["prompts"] as Fields[]).map(({ name }) => name));
      cursor = page["nextCursor"];
    } while (cursor !== undefined);
    expect(new Set(names).size).toBe(1_200);
  });
});

describe("the links that a caller was given", () => {
  it("stay while thousands of others are given theirs", async () => {
    await using front = await openFront(echo);
    const { endpoint, ledger } = front;
    endpoint.links({ caller: "ada" }).add("fake://hers", "one");
    for (let count = 0; count < 3_000; count++) {
      endpoint.view({ caller: `caller-${count}` });
      endpoint.links({ caller: `caller-${count}` }).add("fake://theirs", "two");
    }
    expect(endpoint.links({ caller: "ada" }).get("fake://hers")).toBe("one");
    expect(ledger.held("views").count).toBeLessThanOrEqual(1_000);
  });

  it("are limited in bytes for each, and for all at the cost of who has the most", async () => {
    const limits = { heldBytesPerCaller: 100_000, heldBytes: 150_000 };
    await using front = await openFront(echo, { limits });
    const { endpoint, ledger } = front;
    endpoint.links({ caller: "ada" }).add("fake://hers", "one");
    for (const caller of ["bob", "eve", "dan"])
      for (let count = 0; count < 2_000; count++)
        endpoint.links({ caller }).add(`fake://${caller}/${count}`, "two");
    expect(ledger.held("links", "bob").bytes).toBeLessThanOrEqual(100_000);
    expect(ledger.held("links").bytes).toBeLessThanOrEqual(150_000);
    expect(endpoint.links({ caller: "ada" }).get("fake://hers")).toBe("one");
    expect(endpoint.links({ caller: "dan" }).get("fake://dan/1999")).toBe("two");
  });
});

describe("an isolated caller whose connection ended", () => {
  it("leaves nothing of what it saw, and sees it again when it comes back", async () => {
    await using fake = await openFake({ versions: "legacy" });
    const hub = await openHub({ it: { url: fake.url, isolation: "caller" } }, { maxConnections: 1 });
    const served = new Served(hub, {});
    const endpoint = served.endpoint(undefined);
    const { ledger } = served.core;
    const ended = Promise.withResolvers<void>();
    hub.on("connection-changed", ({ to, caller }) => {
      if (to === "closed" && caller === "ada") ended.resolve();
    });
    const find = (caller: string) => endpoint?.tool("it__echo", { caller }, false);
    expect((await find("ada"))?.id).toContain("echo");
    expect(ledger.held("views", "ada").count).toBe(1);
    // There is room for one connection, and hers is idle.
    await find("bob");
    await ended.promise;
    expect(ledger.held("views", "ada").count).toBe(0);
    expect((await find("ada"))?.id).toContain("echo");
    served.close();
    await hub.close();
  });
});
