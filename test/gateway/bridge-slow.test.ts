import { setTimeout as think } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type ClientKind, clientKinds, openScene, type Scene } from "./bridge/scene.ts";
import type { Fields, TestClient } from "./clients/client.ts";
import { type UpstreamKind, upstreamKinds } from "./upstreams.ts";

const callTimeoutMs = 1_000;
/** As two minutes are to the default deadline of one. */
const thoughtMs = 2 * callTimeoutMs;
const answer = { action: "accept", content: { name: "Ada" } };

describe("M81 questions that take their time", () => {
  let scene: Scene;
  const calls = new Map<string, Promise<{ client: TestClient; result: Fields }>>();
  beforeAll(async () => {
    scene = await openScene(upstreamKinds, {
      entry: { callTimeoutMs, maxCallTimeoutMs: callTimeoutMs + 500 },
    });
    // From its first question on, a server on a pipe has a connection for each caller.
    const first = await scene.client("legacy-http", { answer: () => answer });
    for (const upstream of upstreamKinds) await first.result(first.call(`${upstream}__elicit`));
    // All at once, because each takes as long as a person thinks.
    for (const kind of clientKinds)
      for (const upstream of upstreamKinds) calls.set(`${kind} ${upstream}`, call(kind, upstream));
    await Promise.allSettled(calls.values());
  }, 60_000);
  afterAll(() => scene.close());

  async function call(kind: ClientKind, upstream: UpstreamKind) {
    const client = await scene.client(kind, {
      caller: `${kind}-${upstream}`,
      answer: () => think(thoughtMs, answer),
    });
    const result = await client.result(client.call(`${upstream}__elicit`));
    return { client, result };
  }

  describe.each(clientKinds)("a %s client", (kind) => {
    test.each(upstreamKinds)(
      "may answer a question of a %s server after the deadline of its call",
      async (upstream) => {
        const { client, result } = (await calls.get(`${kind} ${upstream}`)) ?? {};
        expect(result?.["structuredContent"]).toEqual({ answers: [answer] });
        expect(client?.questions()).toHaveLength(1);
      },
    );
  });
});
