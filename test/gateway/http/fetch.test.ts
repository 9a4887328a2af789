import { describe, expect, it } from "vitest";
import type { Answer, Exchange } from "../../../src/gateway/exchange.ts";
import { createFetch } from "../../../src/gateway/http/fetch.ts";
import { echo, initialize, legacy, modern, openFront, token, until } from "./open-front.ts";
import type { Sending } from "./open-front.ts";

function web({ method = "POST", path = "/mcp", headers = {}, body }: Sending, signal?: AbortSignal): Request {
  const all = {
    authorization: `Bearer ${token}`,
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    ...headers,
  };
  const set = Object.entries(all).filter(([, value]) => value !== undefined);
  return new Request(`http://localhost:7420${path}`, {
    method,
    headers: set,
    ...(body !== undefined && { body: String(body) }),
    ...(signal && { signal }),
  });
}

describe("M80 the gateway as a web-standard fetch", () => {
  it("answers like the listener: results, refusals, sessions", async () => {
    await using front = await openFront();
    const fetch = createFetch(front.front.handle);
    const answer = await fetch(web(modern("tools/list")));
    expect([answer.status, await answer.json()]).toMatchObject([200, { id: 1, result: {} }]);
    expect((await fetch(web(modern("x", {}, { authorization: "Bearer no" })))).status).toBe(401);
    expect((await fetch(web(modern("x", {}, { host: "evil.example.com" })))).status).toBe(403);
    expect((await fetch(new Request("http://evil.example.com/mcp", { method: "POST" }))).status).toBe(403);
    expect((await fetch(web(modern("x", {}, { origin: "http://localhost:7420" })))).status).toBe(200);
    expect((await fetch(web(modern("x", {}, { origin: "http://localhost:1" })))).status).toBe(403);
    expect((await fetch(web({ ...modern("unknown") }))).status).toBe(404);
    const session = await initialize(front.port);
    const list = await fetch(web(legacy(session, { id: 1, method: "tools/list" })));
    expect(list.status).toBe(200);
    const ended = await fetch(web({ method: "DELETE", headers: { "mcp-session-id": session } }));
    expect(ended.status).toBe(204);
  });

  it("serves nobody without authentication, because it cannot know where a request is from", async () => {
    await using front = await openFront(echo, { auth: "none" });
    const reply = await createFetch(front.front.handle)(web(modern("tools/list")));
    expect([reply.status, await reply.text()]).toEqual([403, expect.stringContaining("authenticate")]);
  });

  it("refuses a body that is too long, announced or not", async () => {
    await using front = await openFront(echo, { limits: { bodyBytes: 1_000 } });
    const fetch = createFetch(front.front.handle);
    const long = { ...modern("x"), body: "x".repeat(2_000) };
    expect((await fetch(web(long))).status).toBe(413);
    const announced = { ...long, headers: { ...long.headers, "content-length": "2000" } };
    expect((await fetch(web(announced))).status).toBe(413);
  });

  it("streams, and cancels when the reader goes away", async () => {
    const cancelled = Promise.withResolvers<void>();
    const answer = async (exchange: Exchange): Promise<Answer> => {
      exchange.notify("n", {});
      if (exchange.method === "quick") return { result: {} };
      await new Promise((resolve) => exchange.signal.addEventListener("abort", resolve));
      cancelled.resolve();
      return { result: {} };
    };
    await using front = await openFront(answer);
    const fetch = createFetch(front.front.handle);
    const quick = await fetch(web(modern("quick")));
    expect(quick.headers.get("content-type")).toBe("text/event-stream");
    expect(await quick.text()).toMatch(/^data: \{.*"method":"n".*\}\n\ndata: \{.*"result":\{\}\}\n\n$/s);
    const slow = await fetch(web(modern("slow")));
    await slow.body?.cancel();
    await cancelled.promise;
    await until(() => front.front.held.requests === 0);
  });

  it("cancels when the request is aborted before its answer", async () => {
    const arrived = Promise.withResolvers<void>();
    const cancelled = Promise.withResolvers<void>();
    await using front = await openFront(async ({ signal }) => {
      arrived.resolve();
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      cancelled.resolve();
      return { result: {} };
    });
    const abort = new AbortController();
    const response = createFetch(front.front.handle)(web(modern("x"), abort.signal));
    await arrived.promise;
    abort.abort();
    await cancelled.promise;
    expect((await response).type).toBe("error");
  });

  it("ends when the body breaks off, and for a request that was aborted before", async () => {
    await using front = await openFront();
    const fetch = createFetch(front.front.handle);
    const broken = new ReadableStream({ pull: (controller) => controller.error(new Error("gone")) });
    const whole = web({ ...modern("x"), body: "{}" });
    const request = new Request(whole, { method: "POST", body: broken, duplex: "half" });
    expect((await fetch(request)).type).toBe("error");
    const session = await initialize(front.port);
    const late = web(legacy(session, { id: 1, method: "x" }), AbortSignal.abort());
    expect((await fetch(late)).type).toBe("error");
    await until(() => front.front.held.requests === 0);
  });

  it("drops a reader that takes nothing", async () => {
    let sent = 0;
    const flood = async (exchange: Exchange): Promise<Answer> => {
      for (; !exchange.signal.aborted && sent < 1_000; sent++) {
        exchange.notify("flood", { text: "x".repeat(10_000) });
        await new Promise((resolve) => setImmediate(resolve));
      }
      return { result: {} };
    };
    await using front = await openFront(flood, { limits: { waitingBytes: 100_000 } });
    const response = await createFetch(front.front.handle)(web(modern("flood")));
    await until(() => front.front.held.requests === 0);
    expect(sent).toBeLessThan(20);
    await expect(response.text()).rejects.toThrow("broken off");
  });
});
