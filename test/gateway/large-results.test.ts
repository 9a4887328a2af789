import { describe, expect, it } from "vitest";
import { createGateway } from "../../src/gateway/index.ts";
import { fakeStdio } from "../fixtures/fake/index.ts";
import { openHub } from "../servers/hub-fixture.ts";
import type { Fields, TestClient } from "./clients/client.ts";
import { HttpWire } from "./clients/http-wire.ts";
import { openClient } from "./clients/open-client.ts";
import { openUpstream } from "./upstreams.ts";

const token = "t0ken";

/** Texts that cannot be taken for each other, wherever one is cut. */
const texts = Array.from({ length: 12 }, (_, index) => `${index}:äöü "quoted" \\ \n`.repeat(15_000));

async function echo(client: TestClient, text: string): Promise<unknown> {
  const result = await client.result(client.call("it__echo", { text }));
  return (result["structuredContent"] as Fields)["text"];
}

describe.each(["legacy", "modern"] as const)("M80 large results for %s clients", (era) => {
  it.each(["legacy-stdio", "modern-stdio", "legacy-http", "modern-http"] as const)(
    "of a %s server arrive whole, many at once and again and again",
    async (kind) => {
      await using upstream = await openUpstream(kind);
      await using hub = await openHub({ it: upstream.entry }, { keepFresh: true });
      const gateway = createGateway(hub, { token });
      const { url } = await gateway.listen();
      const headers = { authorization: `Bearer ${token}` };
      const client = await openClient(era, new HttpWire({ url, headers }));
      for (let round = 0; round < 2; round++) {
        // The lengths say more than a diff of megabytes would.
        const got = await Promise.all(texts.map((text) => echo(client, text)));
        expect(got.map((text) => String(text).length)).toEqual(texts.map((text) => text.length));
        expect(got.every((text, index) => text === texts[index])).toBe(true);
      }
      await client.close();
      await gateway.close({ drainMs: 0 });
    },
  );
});

describe("M55 the large result of a task", () => {
  it("is there as often as it is asked for", async () => {
    const [text = ""] = texts;
    await using hub = await openHub({ it: fakeStdio({ versions: "legacy" }) }, { keepFresh: true });
    const gateway = createGateway(hub, { token, limits: { taskAfterMs: 0 } });
    const { url } = await gateway.listen();
    const wire = new HttpWire({ url, headers: { authorization: `Bearer ${token}` } });
    const capabilities = { extensions: { "io.modelcontextprotocol/tasks": {} } };
    const client = await openClient("modern", wire, { capabilities });
    const { taskId } = await client.result(client.call("it__echo", { text }));
    const get = () => client.result(client.once("tasks/get", { taskId }));
    let task = await get();
    while (task["status"] === "working") task = await get();
    for (let again = 0; again < 3; again++) {
      const { result } = await get();
      expect(((result as Fields)["structuredContent"] as Fields)["text"] === text).toBe(true);
    }
    await client.close();
    await gateway.close({ drainMs: 0 });
  });
});
