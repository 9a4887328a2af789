import { describe, expect, it } from "vitest";
import type { Exchange } from "../../../src/gateway/exchange.ts";
import { rawResult } from "../../../src/gateway/result.ts";
import { events, initialize, legacy, modern, openFront, post, send } from "./open-front.ts";
import type { SseEvent } from "./open-front.ts";

const telling = (exchange: Exchange) => {
  exchange.notify("notifications/progress", { progress: 1 });
  return Promise.resolve({ result: { done: true } });
};

async function all(stream: AsyncIterable<SseEvent>): Promise<SseEvent[]> {
  const found: SseEvent[] = [];
  for await (const event of stream) found.push(event);
  return found;
}

describe("M80 an answer is JSON, and becomes a stream only when something comes before it", () => {
  it("modern: without ids, ended by the answer", async () => {
    await using front = await openFront(telling);
    const response = await send(front.port, modern("tools/list"));
    expect(response.headers).toMatchObject({
      "content-type": "text/event-stream",
      "x-accel-buffering": "no",
    });
    expect(await all(events(response))).toEqual([
      { data: '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":1}}' },
      { data: '{"jsonrpc":"2.0","id":1,"result":{"done":true}}' },
    ]);
  });

  it("legacy: with ids to resume from, first of all an empty event where the revision has them", async () => {
    await using front = await openFront(telling);
    for (const revision of ["2025-11-25", "2025-06-18"]) {
      const session = await initialize(front.port, revision);
      const response = await send(front.port, legacy(session, { id: 5, method: "x" }));
      const found = await all(events(response));
      const [first, ...rest] = found;
      expect(rest.length).toBe(revision === "2025-11-25" ? 2 : 1);
      if (revision === "2025-11-25") expect(first).toMatchObject({ data: "", retry: "1000" });
      expect(new Set(found.map(({ id }) => id)).size).toBe(found.length);
      expect(found.at(-1)?.data).toBe('{"jsonrpc":"2.0","id":5,"result":{"done":true}}');
    }
  });

  it("JSON of a server with line breaks arrives as the same JSON", async () => {
    const text = '{\r\n  "a": 1,\n  "big": 9007199254740993\n}';
    await using front = await openFront(async (exchange) => {
      if (exchange.method === "tell") exchange.notify("n", {});
      return rawResult(Buffer.from(text));
    });
    const json = await post(front.port, modern("plain"));
    expect(json.text).toBe(`{"jsonrpc":"2.0","id":1,"result":${text}}`);
    const [, answer] = await all(events(await send(front.port, modern("tell"))));
    expect(answer?.data.replaceAll(/\n+/g, "\n")).toBe(
      `{"jsonrpc":"2.0","id":1,"result":${text.replaceAll("\r\n", "\n")}}`,
    );
  });
});
