import { describe, expect, it } from "vitest";
import type { Answer, Exchange } from "../../../src/gateway/exchange.ts";
import {
  echo,
  events,
  initialize,
  legacy,
  modern,
  openFront,
  post,
  readReply,
  send,
  until,
} from "./open-front.ts";

/** `work` waits to be finished or cancelled, `subscriptions/listen` only to be cancelled. */
function work() {
  const finish = Promise.withResolvers<void>();
  const seen = { arrived: 0, cancelled: 0 };
  const answer = async (exchange: Exchange): Promise<Answer> => {
    const { signal, method } = exchange;
    seen.arrived++;
    if (method === "subscriptions/listen") exchange.notify("acknowledged", {});
    const cancelled = new Promise<void>((resolve) => {
      signal.addEventListener("abort", () => {
        seen.cancelled++;
        resolve();
      });
    });
    await (method === "work" ? Promise.race([finish.promise, cancelled]) : cancelled);
    return { result: { isCancelled: signal.aborted } };
  };
  return { answer, seen, finish: finish.resolve };
}

describe("M80 closing the gateway", () => {
  it("lets requests finish, ends what listens, and takes no more", async () => {
    const { answer, seen, finish } = work();
    await using front = await openFront(answer);
    const session = await initialize(front.port);
    const standing = await send(front.port, { method: "GET", headers: { "mcp-session-id": session } });
    const listening = await send(front.port, modern("subscriptions/listen", { notifications: {} }));
    const calls = [
      post(front.port, modern("work")),
      post(front.port, legacy(session, { id: 2, method: "work" })),
    ];
    await until(() => seen.arrived === 3);
    const closed = front.close(10_000);
    await readReply(standing);
    const last: string[] = [];
    for await (const { data } of events(listening)) last.push(data);
    expect(last.at(-1)).toContain('"result"');
    await expect(post(front.port, modern("work"))).rejects.toThrow(/ECONNREFUSED/);
    finish();
    for (const { status, json } of await Promise.all(calls)) {
      expect(status).toBe(200);
      expect(json.result).toEqual({ isCancelled: false });
    }
    await closed;
    expect(front.front.held).toEqual({ sessions: 0, streams: 0, requests: 0, callers: 0, replayBytes: 0 });
  });

  it("does not wait longer than it should, and cancels the rest", async () => {
    const { answer, seen } = work();
    await using front = await openFront(answer);
    const session = await initialize(front.port);
    const calls = [
      post(front.port, modern("work")),
      post(front.port, legacy(session, { id: 2, method: "work" })),
    ];
    const ended = Promise.allSettled(calls);
    await until(() => seen.arrived === 2);
    await front.close(20);
    await ended;
    expect(seen.cancelled).toBe(2);
    expect(front.front.held.sessions).toBe(0);
  });

  it("waits no longer when it is told a second time", async () => {
    const { answer, seen } = work();
    await using front = await openFront(answer);
    const call = post(front.port, modern("work")).catch(() => undefined);
    await until(() => seen.arrived === 1);
    const patient = front.close(600_000);
    await front.close(0);
    await patient;
    await call;
    expect(seen.cancelled).toBe(1);
  });

  it("serves nobody who is let in only afterwards", async () => {
    const [asked, decided] = [Promise.withResolvers<void>(), Promise.withResolvers<string>()];
    const authenticate = () => {
      asked.resolve();
      return decided.promise;
    };
    await using front = await openFront(echo, { authenticate });
    const late = post(front.port, modern("tools/list"));
    await asked.promise;
    await front.front.close(0);
    decided.resolve("ada");
    expect((await late).status).toBe(503);
  });

  it("does not wait for idle connections", async () => {
    await using front = await openFront();
    const { Agent } = await import("node:http");
    const agent = new Agent({ keepAlive: true });
    await post(front.port, { ...modern("tools/list"), agent });
    await front.close(60_000);
    agent.destroy();
  });
});
