import { setImmediate as turn } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { openScene, type Scene } from "./bridge/scene.ts";
import type { ClientKind } from "./bridge/scene.ts";
import type { Fields, TestClient } from "./clients/client.ts";
import type { ModernClient } from "./clients/modern-client.ts";
import type { UpstreamKind } from "./upstreams.ts";

const minuteMs = 60_000;
const accept = { action: "accept", content: { name: "Ada" } };

const pairs: [ClientKind, UpstreamKind][] = [
  ["legacy-stdio", "legacy-memory"],
  ["legacy-stdio", "modern-memory"],
  ["modern-stdio", "legacy-memory"],
  ["modern-stdio", "modern-memory"],
];

/** With a clock of its own; nothing here leaves the process. */
describe("M81 a question and the clock", () => {
  let scene: Scene;
  beforeEach(async () => {
    scene = await openScene(["legacy-memory", "modern-memory"], { entry: { callTimeoutMs: minuteMs } });
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance", "Date"] });
  });
  afterEach(async () => {
    vi.useRealTimers();
    await scene.close();
  });

  /** Lets everything happen that needs no time. */
  async function settle(): Promise<void> {
    for (let count = 0; count < 50; count++) await turn();
  }
  async function pass(ms: number): Promise<void> {
    await settle();
    await vi.advanceTimersByTimeAsync(ms);
    await settle();
  }
  /** The clock moves a little: questions that come together are waited for. */
  const asked = async (client: TestClient) => {
    for (let count = 0; count < 5_000 && client.questions().length === 0; count++) await pass(1);
    expect(client.questions()).toHaveLength(1);
  };

  test.each(pairs)(
    "answered after two minutes under `callTimeoutMs: 60000`, the call ends well: %s, %s",
    async (kind, server) => {
      const answer = Promise.withResolvers<Fields>();
      const client = await scene.client(kind, { answer: () => answer.promise });
      const sent = client.call(`${server}__elicit`, {});
      await asked(client);
      await pass(2 * minuteMs);
      answer.resolve(accept);
      await settle();
      expect((await client.result(sent))["structuredContent"]).toEqual({ answers: [accept] });
    },
  );

  test("a legacy client that does not answer within ten minutes is told so, and so is its server", async () => {
    const client = await scene.client("legacy-stdio", { answer: () => new Promise<Fields>(() => {}) });
    const sent = client.call("legacy-memory__elicit", {});
    await asked(client);
    await pass(11 * minuteMs);
    const { error } = await sent.answer;
    expect(error).toBeDefined();
    const [question] = client.questions();
    expect(
      client.notifications("notifications/cancelled").map(({ params }) => params?.["requestId"]),
    ).toEqual([question?.id]);
    const heard = scene.upstream("legacy-memory").heard();
    expect(heard.filter(({ message }) => message.method === undefined)).toMatchObject([
      { message: { error: {} } },
    ]);
  });

  test("a modern client that does not come back within ten minutes: its server is told, and its state is worth nothing", async () => {
    const client = (await scene.client("modern-stdio", { answer: () => accept })) as ModernClient;
    const call = { name: "legacy-memory__elicit", arguments: {} };
    const sent = client.once("tools/call", call);
    await pass(1_000);
    const { result = {} } = await sent.answer;
    expect(result).toMatchObject({ resultType: "input_required" });
    const again = await client.respond(result);
    await pass(11 * minuteMs);
    const heard = scene.upstream("legacy-memory").heard();
    expect(heard.filter(({ message }) => message.method === undefined)).toMatchObject([
      { message: { error: {} } },
    ]);
    const late = client.once("tools/call", { ...call, ...again });
    await settle();
    expect(await late.answer).toMatchObject({ error: { code: -32_602 } });
  });
});
