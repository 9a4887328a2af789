import { describe, expect, it } from "vitest";
import type { IncomingMessage } from "node:http";
import type { Answer, Exchange } from "../../../src/gateway/exchange.ts";
import { echo, events, initialize, legacy, openFront, post, readReply, send, until } from "./open-front.ts";
import type { SseEvent } from "./open-front.ts";

const get = (port: number, session: string, lastEventId?: string) =>
  send(port, { method: "GET", headers: { "mcp-session-id": session, "last-event-id": lastEventId } });

/** The events of a stream, one at a time. */
function reader(response: IncomingMessage): () => Promise<SseEvent | undefined> {
  const all = events(response);
  return async () => (await all.next()).value as SseEvent | undefined;
}

/** A call that tells its steps, one for each time `go` is called, and answers after the last. */
function steps(count: number) {
  const gates = Array.from({ length: count }, () => Promise.withResolvers<void>());
  let next = 0;
  const ended: string[] = [];
  const answer = async (exchange: Exchange) => {
    exchange.signal.addEventListener("abort", () => ended.push("cancelled"));
    for (const [index, { promise }] of gates.entries()) {
      exchange.notify("step", { index });
      await promise;
    }
    ended.push("answered");
    return { result: { done: true } };
  };
  return { answer, go: () => gates[next++]?.resolve(), ended };
}

const stepOf = ({ data }: SseEvent) => (JSON.parse(data) as { params: { index: number } }).params.index;

describe("M80 a legacy client whose connection breaks", () => {
  it("does not cancel its call, and gets what it missed with Last-Event-ID", async () => {
    const call = steps(3);
    await using front = await openFront(call.answer);
    const session = await initialize(front.port);
    const response = await send(front.port, legacy(session, { id: 7, method: "x" }));
    const next = reader(response);
    const primed = await next();
    expect(primed).toMatchObject({ data: "", retry: "1000" });
    const first = await next();
    expect(stepOf(first!)).toBe(0);
    response.destroy();
    call.go();
    call.go();
    call.go();
    await until(() => call.ended.length > 0);
    expect(call.ended).toEqual(["answered"]);
    const resumed = await get(front.port, session, first!.id);
    const missed: SseEvent[] = [];
    for await (const event of events(resumed)) if (event.data !== "") missed.push(event);
    expect(missed.slice(0, 2).map(stepOf)).toEqual([1, 2]);
    expect(missed[2]?.data).toBe('{"jsonrpc":"2.0","id":7,"result":{"done":true}}');
    // Once more, from the very start: it is kept for a while.
    const again = reader(await get(front.port, session, primed!.id));
    await again();
    expect(stepOf((await again())!)).toBe(0);
  });

  it("goes on live where it left off", async () => {
    const call = steps(2);
    await using front = await openFront(call.answer);
    const session = await initialize(front.port, "2025-06-18");
    const response = await send(front.port, legacy(session, { id: 7, method: "x" }));
    const first = await reader(response)();
    const next = reader(await get(front.port, session, first!.id));
    call.go();
    expect(stepOf((await next())!)).toBe(1);
    call.go();
    expect((await next())?.data).toContain('"done":true');
    expect(await next()).toBeUndefined();
  });

  it("gets nothing of another session or stream, and nothing for an id that was never given out", async () => {
    const call = steps(1);
    await using front = await openFront(call.answer);
    const [one, other] = [await initialize(front.port), await initialize(front.port)];
    const first = await reader(await send(front.port, legacy(one, { id: 7, method: "x" })))();
    expect((await readReply(await get(front.port, other, first!.id))).status).toBe(400);
    for (const id of ["nonsense", first!.id!.replace(/_0$/, "_99"), "cAAAAAAAAAAAA_0"])
      expect((await readReply(await get(front.port, one, id))).status).toBe(400);
    call.go();
  });

  it("loses what is more than is kept", async () => {
    const call = steps(5);
    await using front = await openFront(call.answer, { limits: { replayBytesPerStream: 1_000 } });
    const session = await initialize(front.port);
    const response = await send(front.port, legacy(session, { id: 7, method: "x" }));
    const primed = await reader(response)();
    response.destroy();
    for (let i = 0; i < 5; i++) call.go();
    await until(() => call.ended.length > 0);
    expect((await readReply(await get(front.port, session, primed!.id))).status).toBe(400);
    const recent = await get(front.port, session, primed!.id!.replace(/_0$/, "_4"));
    expect((await readReply(recent)).text).toContain('"done":true');
  });

  it("is forgotten after a while", async () => {
    const call = steps(1);
    await using front = await openFront(call.answer, { limits: { replayMs: 10, keepAliveMs: 5 } });
    const session = await initialize(front.port);
    const response = await send(front.port, legacy(session, { id: 7, method: "x" }));
    const primed = await reader(response)();
    response.destroy();
    call.go();
    await until(() => call.ended.length > 0 && front.front.held.replayBytes === 0);
    expect((await readReply(await get(front.port, session, primed!.id))).status).toBe(400);
  });
});

describe("M80 a legacy client that listens", () => {
  it("gets what belongs to no request, also what came before it listened", async () => {
    await using front = await openFront(echoAndLog);
    const session = await initialize(front.port);
    await post(front.port, legacy(session, { id: 1, method: "log" }));
    const next = reader(await get(front.port, session));
    expect(await next()).toMatchObject({ data: "" });
    expect((await next())?.data).toContain("notifications/message");
    await post(front.port, legacy(session, { id: 2, method: "log" }));
    expect((await next())?.data).toContain("notifications/message");
  });

  it("keeps its stream when a second one is opened, which takes over only when the first ends", async () => {
    await using front = await openFront(echoAndLog);
    const session = await initialize(front.port, "2025-06-18");
    const first = await get(front.port, session);
    const second = await get(front.port, session);
    const [nextOfFirst, nextOfSecond] = [reader(first), reader(second)];
    await post(front.port, legacy(session, { id: 1, method: "log", params: { text: "one" } }));
    expect((await nextOfFirst())?.data).toContain("one");
    first.destroy();
    // The server has noticed once a message comes here.
    const seen: SseEvent[] = [];
    void nextOfSecond().then((event) => event && seen.push(event));
    while (seen.length === 0)
      await post(front.port, legacy(session, { id: 2, method: "log", params: { text: "two" } }));
    expect(seen[0]?.data).toContain("two");
  });

  it("resumes its stream, and takes it over from a connection that only seems to be there", async () => {
    await using front = await openFront(echoAndLog);
    const session = await initialize(front.port);
    const dead = await get(front.port, session);
    const next = reader(dead);
    const primed = await next();
    await post(front.port, legacy(session, { id: 1, method: "log", params: { text: "one" } }));
    const resumed = reader(await get(front.port, session, primed!.id));
    await resumed();
    expect((await resumed())?.data).toContain("one");
    await next();
    expect(await next()).toBeUndefined();
    await post(front.port, legacy(session, { id: 2, method: "log", params: { text: "two" } }));
    expect((await resumed())?.data).toContain("two");
  });

  it("may listen only so often", async () => {
    await using front = await openFront(echo, { limits: { streamsPerSession: 1 } });
    const session = await initialize(front.port);
    await get(front.port, session);
    const second = await readReply(await get(front.port, session));
    expect([second.status, second.headers["retry-after"]]).toEqual([429, "1"]);
  });

  it("is kept awake, and its silent calls become streams", async () => {
    const finish = Promise.withResolvers<void>();
    const slow = async () => {
      await finish.promise;
      return { result: { done: true } };
    };
    await using front = await openFront(slow, { limits: { keepAliveMs: 5 } });
    const session = await initialize(front.port);
    const listening = await get(front.port, session);
    let seen = "";
    for await (const chunk of listening) {
      seen += String(chunk);
      if (/(:\n\n){2}/.test(seen)) break;
    }
    const call = await send(front.port, legacy(session, { id: 1, method: "x" }));
    expect(call.headers["content-type"]).toBe("text/event-stream");
    finish.resolve();
    expect((await readReply(call)).text).toContain('"done":true');
  });
});

/** Sends a log message that belongs to no request when it is asked for `log`. */
async function echoAndLog(exchange: Exchange): Promise<Answer> {
  const { method, client, params } = exchange;
  if (method === "log")
    client.session?.notify("notifications/message", { level: "info", data: params.value });
  return echo(exchange);
}
