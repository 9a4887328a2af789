import { describe, expect, it, vi } from "vitest";
import type { PlugboardError } from "../../src/index.ts";
import { failure, openFake, openHub, openLogged, reached } from "../servers/hub-fixture.ts";
import type { Servers } from "../servers/hub-fixture.ts";

const uri = "test://one";
const soon = { random: () => 0 };
const patient = { timeout: 20_000 };
const eras = ["legacy", "modern"] as const;
const question = { legacy: "resources/subscribe", modern: "subscriptions/listen" } as const;
const refusal = { error: { code: -32_000, message: "not for you" } };

function counter() {
  const heard = { count: 0 };
  return { heard, listener: () => void heard.count++ };
}

describe("M47 a subscription", () => {
  it.for(eras)("starts its crashed server again, and asks it once for everybody (%s)", async (versions) => {
    await using logged = await openLogged({ versions });
    await using hub = await openHub({ it: logged.entry }, soon);
    const [one, two] = [counter(), counter()];
    await hub.subscribeResource("it", uri, one.listener);
    await hub.subscribeResource("it", uri, two.listener);
    process.kill(logged.pids()[0]!, "SIGKILL");
    // It counts as changed: nobody knows what happened while the server was down.
    await vi.waitFor(() => expect([one.heard.count, two.heard.count]).toEqual([1, 1]), patient);
    expect(logged.starts()).toBe(2);
    const asked = logged.heard().filter(({ params }) => JSON.stringify(params ?? "").includes(uri));
    expect(asked.map(({ method }) => method)).toEqual([question[versions], question[versions]]);
    await hub.callTool("it.change", { what: uri });
    await vi.waitFor(() => expect([one.heard.count, two.heard.count]).toEqual([2, 2]), patient);
  });

  it.for(eras)("that is refused rejects for each subscriber (%s)", async (versions) => {
    const on = [{ when: { method: question[versions] }, do: [refusal] }];
    await using logged = await openLogged({ versions, capabilities: { resources: {}, tools: {} }, on });
    await using hub = await openHub({ it: logged.entry }, soon);
    const both = [1, 2].map(() => failure(hub.subscribeResource("it", uri, () => undefined)));
    for (const error of await Promise.all(both))
      expect(error).toMatchObject({
        code: "server-error",
        server: "it",
        message: expect.stringMatching("not for you"),
      });
  });

  it("that a modern server acknowledges without the resource is refused", async () => {
    await using fake = await openFake({ versions: "modern", capabilities: { resources: {}, tools: {} } });
    await using hub = await openHub({ it: { url: fake.url } }, soon);
    const error = await failure(hub.subscribeResource("it", uri, () => undefined));
    expect(error).toMatchObject({
      code: "server-error",
      message: expect.stringMatching("does not report changes"),
    });
  });

  it.for(eras)(
    "that is refused after a restart tells each subscriber, and comes back (%s)",
    async (versions) => {
      await using fake = await openFake({ versions, retryMs: 100 });
      await using hub = await openHub({ it: { url: fake.url } }, soon);
      const { heard, listener } = counter();
      const told: PlugboardError[] = [];
      const onRefused = (error: PlugboardError) => void told.push(error);
      for (let each = 0; each < 2; each++) await hub.subscribeResource("it", uri, listener, { onRefused });
      fake.set({ on: [{ when: { method: question[versions], nth: [1, 2] }, do: [refusal] }] });
      await fake.restart();
      await vi.waitFor(() => expect(told.length).toBeGreaterThanOrEqual(2), patient);
      expect(told[0]).toMatchObject({ code: "server-error", message: expect.stringMatching("not for you") });
      await vi.waitFor(() => expect(heard.count).toBeGreaterThanOrEqual(2), patient);
    },
  );

  it("finds its session forgotten and gets another one", async () => {
    await using fake = await openFake({ versions: "legacy" });
    await using hub = await openHub({ it: { url: fake.url } }, soon);
    const { heard, listener } = counter();
    await hub.connect("it");
    const lost = { http: { status: 404, json: { error: { code: -32_001, message: "Session not found" } } } };
    fake.set({ on: [{ when: { method: "resources/subscribe", nth: 1 }, do: [lost] }] });
    await hub.subscribeResource("it", uri, listener);
    const sent = (method: string) =>
      fake.received.filter(({ message }) => message?.["method"] === method).length;
    expect([sent("initialize"), sent("resources/subscribe")]).toEqual([2, 2]);
    await vi.waitFor(async () => {
      await hub.callTool("it.change", { what: uri });
      expect(heard.count).toBeGreaterThan(0);
    }, patient);
  });

  it("comes back by itself when the server has forgotten the session and nobody calls it", async () => {
    await using fake = await openFake({ versions: "legacy", retryMs: 100 });
    await using hub = await openHub({ it: { url: fake.url } }, soon);
    const { heard, listener } = counter();
    await hub.subscribeResource("it", uri, listener);
    await fake.restart();
    await vi.waitFor(() => expect(heard.count).toBeGreaterThan(0), patient);
    const before = heard.count;
    await fake.notify({ method: "notifications/resources/updated", params: { uri } });
    await vi.waitFor(async () => {
      await fake.notify({ method: "notifications/resources/updated", params: { uri } });
      expect(heard.count).toBeGreaterThan(before);
    }, patient);
  });

  it("comes back with a server that was switched off and on again", async () => {
    await using logged = await openLogged();
    await using hub = await openHub({ it: logged.entry }, soon);
    const { heard, listener } = counter();
    await hub.subscribeResource("it", uri, listener);
    await hub.disable("it");
    hub.enable("it");
    await reached(hub, "it", "connected");
    await vi.waitFor(() => expect(heard.count).toBe(1), patient);
  });

  it("is its caller's own where callers do not share, also after a reload says so", async () => {
    await using logged = await openLogged({ versions: "legacy" });
    const apart = { ...logged.entry, isolation: "caller" } as Servers[string];
    await using hub = await openHub({ it: logged.entry }, soon);
    const [ada, bob] = [hub.view({ caller: "ada" }), hub.view({ caller: "bob" })];
    const [hers, his] = [counter(), counter()];
    await ada.subscribeResource("it", uri, hers.listener);
    await bob.subscribeResource("it", uri, his.listener);
    await hub.reload({ servers: { it: apart } });
    await vi.waitFor(() => expect([hers.heard.count, his.heard.count]).toEqual([1, 1]), patient);
    expect(logged.starts()).toBe(3);
    await ada.callTool("it.change", { what: uri });
    await vi.waitFor(() => expect(hers.heard.count).toBe(2), patient);
    expect(his.heard.count).toBe(1);
  });

  it("with a listener that throws disturbs nobody else", async () => {
    await using logged = await openLogged();
    await using hub = await openHub({ it: logged.entry }, soon);
    const { heard, listener } = counter();
    const throws = () => {
      throw new Error("a listener's mistake");
    };
    await hub.subscribeResource("it", uri, throws);
    await hub.subscribeResource("it", uri, listener);
    await hub.callTool("it.change", { what: uri });
    await vi.waitFor(() => expect(heard.count).toBe(1), patient);
  });
});
