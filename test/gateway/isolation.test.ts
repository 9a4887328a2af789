import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openScene, type Scene } from "./bridge/scene.ts";
import type { Fields, TestClient } from "./clients/client.ts";
import { HttpWire } from "./clients/http-wire.ts";
import type { ModernClient } from "./clients/modern-client.ts";

const accept = { action: "accept", content: { name: "Ada" } };
const updated = "notifications/resources/updated";

describe("M80 what belongs to one caller is useless to another", () => {
  let scene: Scene;
  beforeAll(async () => {
    const prompts = Array.from({ length: 600 }, (_, index) => ({ name: `prompt-${index}` }));
    scene = await openScene(["legacy-http", "modern-http", "legacy-memory"], { script: { prompts } });
  }, 60_000);
  afterAll(() => scene.close());

  const ada = (kind: "legacy-http" | "modern-http", answer = () => accept as Fields) =>
    scene.client(kind, { caller: "ada", answer });
  const bob = (kind: "legacy-http" | "modern-http") => scene.client(kind, { caller: "bob" });

  /** A client of `bob` that has laid hands on the session of `ada`. */
  function thief(victim: TestClient): HttpWire {
    const wire = new HttpWire({ url: scene.url, headers: { authorization: "Bearer bob" } });
    wire.session = (victim.wire as HttpWire).session;
    wire.version = (victim.wire as HttpWire).version;
    return wire;
  }
  const echo = async (client: TestClient) => {
    const { structuredContent } = await client.result(client.call("modern-http__echo", { mine: 1 }));
    expect(structuredContent).toEqual({ mine: 1 });
  };
  const message = (fields: Fields) => JSON.stringify({ jsonrpc: "2.0", ...fields });

  test("a session: 404, whatever is done with it", async () => {
    const victim = await ada("legacy-http");
    const wire = thief(victim);
    const call = { name: "modern-http__echo", arguments: {} };
    const attempts = [
      wire.send(message({ id: 1, method: "tools/call", params: call }), { stream: "1" }),
      wire.send(message({ method: "notifications/cancelled", params: { requestId: 1 } }), { stream: "1" }),
      wire.send(message({ id: "q1", result: accept }), { stream: "1" }),
      wire.openStanding(),
    ];
    for (const { status } of await Promise.all(attempts)) expect(status).toBe(404);
    await wire.close();
    await echo(victim);
  });

  test("a question: only the client that was asked can answer it", async () => {
    const asked = Promise.withResolvers<void>();
    const go = Promise.withResolvers<void>();
    const victim = await ada("legacy-http");
    victim.answer = async () => {
      asked.resolve();
      await go.promise;
      return accept;
    };
    const sent = victim.call("legacy-http__elicit", {});
    await asked.promise;
    const [question] = victim.questions();
    const forged = message({ id: question?.id, result: { action: "accept", content: { name: "Bob" } } });
    for (const wire of [thief(victim), (await bob("legacy-http")).wire, (await ada("legacy-http")).wire])
      await wire.send(forged, { stream: "aside" });
    go.resolve();
    expect((await victim.result(sent))["structuredContent"]).toEqual({ answers: [accept] });
  });

  test("a request: only the client that sent it can cancel it", async () => {
    const asked = Promise.withResolvers<void>();
    const go = Promise.withResolvers<void>();
    const victim = await ada("legacy-http");
    victim.answer = async () => {
      asked.resolve();
      await go.promise;
      return accept;
    };
    const sent = victim.call("legacy-http__elicit", {});
    await asked.promise;
    for (const other of [await bob("legacy-http"), await ada("legacy-http")])
      await other.notify("notifications/cancelled", { requestId: sent.id });
    go.resolve();
    expect((await victim.result(sent))["structuredContent"]).toEqual({ answers: [accept] });
  });

  test("a cursor: -32602", async () => {
    for (const kind of ["legacy-http", "modern-http"] as const) {
      const [victim, other] = [await ada(kind), await bob(kind)];
      const { nextCursor: cursor } = await victim.result(victim.request("prompts/list"));
      expect(cursor).toBeTypeOf("string");
      expect(await other.request("prompts/list", { cursor }).answer).toMatchObject({
        error: { code: -32_602 },
      });
      // Nor does it fit another list of its own caller.
      expect(await victim.request("tools/list", { cursor }).answer).toMatchObject({
        error: { code: -32_602 },
      });
      const { prompts } = await victim.result(victim.request("prompts/list", { cursor }));
      expect((prompts as unknown[]).length).toBeGreaterThan(0);
    }
  });

  test.each(["modern-http", "legacy-http", "legacy-memory"])(
    "the state of a request to %s: -32602, and for the caller's other requests too",
    async (server) => {
      const [victim, other] = [(await ada("modern-http")) as ModernClient, await bob("modern-http")];
      const call = { name: `${server}__elicit`, arguments: { message: "Who?" } };
      const { result = {} } = await victim.once("tools/call", call).answer;
      const again = await victim.respond(result);
      const refused = { error: { code: -32_602 } };
      expect(await other.once("tools/call", { ...call, ...again }).answer).toMatchObject(refused);
      const changed = { ...call, arguments: { message: "Who else?" }, ...again };
      expect(await victim.once("tools/call", changed).answer).toMatchObject(refused);
      const elsewhere = { name: `${server}__sample`, ...again };
      expect(await victim.once("tools/call", elsewhere).answer).toMatchObject(refused);
      const state = String(again["requestState"]);
      const broken = `${state.slice(0, -2)}${state.endsWith("AA") ? "BB" : "AA"}`;
      const forged = { ...call, ...again, requestState: broken };
      expect(await victim.once("tools/call", forged).answer).toMatchObject(refused);
      const own = await victim.result(victim.once("tools/call", { ...call, ...again }));
      expect(own["structuredContent"]).toEqual({ answers: [accept] });
    },
  );

  test("a parked call: its state is good for one round", async () => {
    const victim = (await ada("modern-http")) as ModernClient;
    const call = { name: "legacy-http__elicit", arguments: { rounds: 2 } };
    const first = (await victim.once("tools/call", call).answer).result ?? {};
    const again = { ...call, ...(await victim.respond(first)) };
    const second = (await victim.once("tools/call", again).answer).result ?? {};
    expect(second).toMatchObject({ resultType: "input_required" });
    expect(await victim.once("tools/call", again).answer).toMatchObject({ error: { code: -32_602 } });
    const own = await victim.result(
      victim.once("tools/call", { ...call, ...(await victim.respond(second)) }),
    );
    expect(own["structuredContent"]).toEqual({ answers: [accept, accept] });
  });

  test("a subscription: others cannot end it, and do not hear of it", async () => {
    const uri = "fake://modern-http/readme";
    const [legacy, modern] = [await ada("legacy-http"), await ada("modern-http")];
    const others = [await bob("legacy-http"), await bob("modern-http")];
    for (const client of [legacy, modern]) await client.listen({ uris: [uri] });
    for (const client of others) await client.listen({ tools: true });
    await others[0]?.once("resources/unsubscribe", { uri }).answer;
    for (const client of others)
      for (const requestId of [1, 2, 3]) await client.notify("notifications/cancelled", { requestId });
    await legacy.result(legacy.call("modern-http__change", { what: uri }));
    for (const client of [legacy, modern])
      await client.sees("its update", ({ method }) => method === updated);
    for (const client of others) expect(client.notifications(updated)).toEqual([]);
  });

  test("a resource that only one caller was given a link to", async () => {
    const [mine, other] = [await ada("modern-http"), await bob("modern-http")];
    const unowned = { error: { code: -32_602 } };
    expect(await mine.request("resources/read", { uri: "other://link" }).answer).toMatchObject(unowned);
    await mine.result(mine.call("legacy-http__faithful"));
    // The link names a resource of the server that gave it, so its own answer comes back: it has none.
    const { error } = await mine.request("resources/read", { uri: "other://link" }).answer;
    expect(error?.message).toBe("Resource other://link not found");
    const { error: refused } = await other.request("resources/read", { uri: "other://link" }).answer;
    expect(refused?.message).toContain("No server offers");
  });
});
