import { once } from "node:events";
import { createServer, request as httpRequest } from "node:http";
import type { IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it } from "vitest";
import type { Answer, Exchange } from "../../../src/gateway/exchange.ts";
import { createListener } from "../../../src/gateway/http/listener.ts";
import { rawResult } from "../../../src/gateway/result.ts";
import { echo, events, modern, openFront, post, readReply, send, token, until } from "./open-front.ts";

/** Runs until it is cancelled. */
function endless() {
  const seen = { arrived: 0, cancelled: 0 };
  const answer = async (exchange: Exchange): Promise<Answer> => {
    const { signal, method } = exchange;
    seen.arrived++;
    if (method !== "silent") exchange.notify("notifications/subscriptions/acknowledged", {});
    await new Promise((resolve) => signal.addEventListener("abort", resolve));
    seen.cancelled++;
    exchange.notify("too/late", {});
    return { result: { resultType: "complete" } };
  };
  return { answer, seen };
}

describe("M80 a modern request", () => {
  it("is cancelled when its client goes away, silent or streaming", async () => {
    const { answer, seen } = endless();
    await using front = await openFront(answer);
    for (const method of ["silent", "telling"]) {
      const before = seen.arrived;
      const { request, response } = open(front.port, method);
      await until(() => seen.arrived > before);
      if (method === "telling") await response;
      request.destroy();
      await until(() => seen.cancelled > before);
    }
    await until(() => front.front.held.requests === 0);
    expect(front.front.held).toEqual({ sessions: 0, streams: 0, requests: 0, callers: 0, replayBytes: 0 });
  });

  it("listens without end, and is kept awake", async () => {
    const { answer, seen } = endless();
    await using front = await openFront(answer, { limits: { keepAliveMs: 5 } });
    const response = await send(front.port, modern("subscriptions/listen", { notifications: {} }));
    let text = "";
    for await (const chunk of response) {
      text += String(chunk);
      if (/(:\n\n){3}/.test(text)) break;
    }
    expect(text).toContain("acknowledged");
    await until(() => seen.cancelled === 1);
    expect(front.front.held.callers).toBe(0);
  });

  it("becomes a stream when it takes long, so that no client gives up", async () => {
    const finish = Promise.withResolvers<void>();
    const slow = async () => {
      await finish.promise;
      return { error: { code: -32_601, message: "after all" } };
    };
    await using front = await openFront(slow, { limits: { keepAliveMs: 5 } });
    const response = await send(front.port, modern("x"));
    expect([response.statusCode, response.headers["content-type"]]).toEqual([200, "text/event-stream"]);
    finish.resolve();
    const found: string[] = [];
    for await (const { data } of events(response)) found.push(data);
    expect(found).toEqual(['{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"after all"}}']);
  });

  it("is refused when its caller has too many under way, or too many streams", async () => {
    const { answer, seen } = endless();
    const limits = { requestsPerCaller: 2, streamsPerCaller: 1 };
    await using front = await openFront(answer, { limits });
    const running = [open(front.port, "silent"), open(front.port, "silent")];
    await until(() => seen.arrived === 2);
    const third = await post(front.port, modern("silent"));
    expect([third.status, third.headers["retry-after"]]).toEqual([429, "1"]);
    for (const { request } of running) request.destroy();
    await until(() => seen.cancelled === 2);
    const listening = modern("subscriptions/listen", { notifications: {} });
    const stream = await send(front.port, listening);
    expect((await post(front.port, listening)).status).toBe(429);
    stream.destroy();
    await until(() => seen.cancelled === 3);
    expect((await send(front.port, listening)).statusCode).toBe(200);
  });

  it("gives up a client that reads too slowly, and cancels what it wanted", async () => {
    let sent = 0;
    const cancelled = Promise.withResolvers<void>();
    const flood = async (exchange: Exchange): Promise<Answer> => {
      const { signal } = exchange;
      signal.addEventListener("abort", () => cancelled.resolve());
      const text = "x".repeat(100_000);
      while (!signal.aborted && sent < 10_000) {
        exchange.notify("flood", { text });
        sent++;
        await new Promise((resolve) => setImmediate(resolve));
      }
      return { result: {} };
    };
    await using front = await openFront(flood, { limits: { waitingBytes: 1_000_000 } });
    const response = await send(front.port, modern("flood"));
    response.pause();
    await cancelled.promise;
    // What the operating system took, and the limit; not everything.
    expect(sent).toBeLessThan(10_000);
    await until(() => front.front.held.requests === 0);
  });

  describe("whose client does not read a large answer", () => {
    const text = "x".repeat(30_000_000);
    const large = async ({ method }: Exchange): Promise<Answer> =>
      method === "bytes" ? rawResult(Buffer.from(JSON.stringify({ text }))) : { result: { text } };

    it.each(["bytes", "object"])("is dropped after a while: %s", async (method) => {
      await using front = await openFront(large, { limits: { stalledMs: 50 } });
      await using server = await watched(createListener(front.front.handle, front.front.limits));
      const response = await send(server.port, modern(method));
      response.on("error", () => undefined);
      // It reads nothing, so only the server can end this.
      await server.broken(1);
      response.destroy();
    });

    it("makes room for others when it is too much", async () => {
      const limits = { stalledMs: 600_000, allWaitingBytes: 70_000_000 };
      await using front = await openFront(large, { limits });
      await using server = await watched(createListener(front.front.handle, front.front.limits));
      const unread: IncomingMessage[] = [];
      for (let i = 0; i < 4; i++) {
        const response = await send(server.port, modern("bytes"));
        unread.push(response.on("error", () => undefined));
      }
      await server.broken(2);
      // The last ones still get theirs.
      const { text: whole } = await readReply(unread[3]!);
      expect(whole.length).toBeGreaterThan(text.length);
      for (const response of unread) response.destroy();
    });
  });

  it("does not pile up watchers on a stream that waits again and again", async () => {
    const warnings: string[] = [];
    const warn = ({ name }: Error) => void warnings.push(name);
    process.on("warning", warn);
    const answer = async (exchange: Exchange): Promise<Answer> => {
      for (let i = 0; i < 30; i++) {
        exchange.notify("n", { text: "x".repeat(200_000) });
        await new Promise((resolve) => setImmediate(resolve));
      }
      return { result: {} };
    };
    await using front = await openFront(answer, { limits: { waitingBytes: 100_000_000 } });
    expect((await readReply(await send(front.port, modern("x")))).text.length).toBeGreaterThan(6_000_000);
    process.off("warning", warn);
    expect(warnings).toEqual([]);
  });

  it("gets large results as they are", async () => {
    const text = "ü".repeat(2_000_000);
    const result = Buffer.from(`{ "text": "${text}" }`);
    await using front = await openFront(async (exchange) => {
      if (exchange.method === "stream") exchange.notify("n", {});
      return rawResult(result);
    });
    const reply = await post(front.port, modern("json"));
    expect(reply.headers["content-length"]).toBe(String(Buffer.byteLength(reply.text)));
    expect(reply.text).toBe(`{"jsonrpc":"2.0","id":1,"result":${result.toString("utf8")}}`);
    const streamed = await readReply(await send(front.port, modern("stream")));
    expect(streamed.text.endsWith(`"result":${result.toString("utf8")}}\n\n`)).toBe(true);
  });

  it("answers what cannot be written as JSON with an error, and goes on", async () => {
    const loop: Record<string, unknown> = {};
    loop["self"] = loop;
    const answer = async (exchange: Exchange) =>
      exchange.method === "loop" ? { result: loop } : echo(exchange);
    await using front = await openFront(answer);
    const broken = await post(front.port, modern("loop"));
    expect([broken.status, broken.json.error]).toEqual([500, { code: -32_603, message: "Internal error" }]);
    expect((await post(front.port, modern("fine"))).status).toBe(200);
  });

  it("may be a notification, which gets nothing back", async () => {
    await using front = await openFront();
    const body = String(modern("notifications/x").body).replace('"id":1,', "");
    const reply = await post(front.port, { ...modern("notifications/x"), body });
    expect([reply.status, reply.text, front.heard]).toEqual([202, "", ["notifications/x"]]);
  });

  it("may be a notification that does not say who sends it, which is accepted and not heard", async () => {
    await using front = await openFront();
    const body = '{"jsonrpc":"2.0","method":"notifications/x"}';
    const reply = await post(front.port, { ...modern("notifications/x"), body });
    expect([reply.status, reply.text, front.heard]).toEqual([202, "", []]);
  });
});

/** A request that can be broken off before its answer. */
function open(port: number, method: string) {
  const { headers, body } = modern(method);
  const request = httpRequest({
    port,
    method: "POST",
    path: "/mcp",
    agent: false,
    headers: {
      authorization: `Bearer ${token}`,
      "content-type": "application/json",
      ...(headers as Record<string, string>),
    },
  });
  request.on("error", () => undefined);
  const response = new Promise((resolve) => request.once("response", resolve));
  request.end(body);
  return { request, response };
}

/** A server of one's own that tells how many of its connections have ended. */
async function watched(listener: ReturnType<typeof createListener>) {
  const server = createServer(listener).listen(0, "127.0.0.1");
  let ended = 0;
  server.on("connection", (socket) => socket.on("close", () => ended++));
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    broken: (count: number) => until(() => ended >= count),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
