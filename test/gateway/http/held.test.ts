import type { IncomingMessage } from "node:http";
import { connect } from "node:net";
import type { Socket } from "node:net";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, it, vi } from "vitest";
import type { Answer, Exchange } from "../../../src/gateway/exchange.ts";
import { rawResult } from "../../../src/gateway/result.ts";
import {
  initialize,
  legacy,
  modern,
  openFront,
  post,
  readReply,
  send,
  token,
  until,
  usual,
} from "./open-front.ts";
import type { Sending } from "./open-front.ts";
import type { HttpOptions } from "../../../src/gateway/http/front.ts";

const byUser: HttpOptions = { authenticate: ({ headers }) => headers.get("x-user") ?? undefined };
const mebibyte = 1024 * 1024;

/** Tells a session, outside of any request, as much as it is asked to. */
async function tell({ client, params }: Exchange) {
  const { bytes = 0, times = 1 } = params.value as { bytes?: number; times?: number };
  for (let count = 0; count < times; count++)
    client.session?.notify("notifications/message", { level: "info", data: "x".repeat(bytes) });
  return { result: {} };
}

/** Answers when the request is cancelled. */
function listening({ signal }: Exchange): Promise<Answer> {
  return new Promise((resolve) => {
    signal.addEventListener("abort", () => resolve({ result: {} }), { once: true });
  });
}

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

/** Bodies are outside of the heap. */
function bytesHeld(): number {
  collectGarbage();
  return process.memoryUsage().arrayBuffers;
}

function listen(port: number, session: string, headers = {}) {
  const own = { "mcp-session-id": session, "content-type": undefined, ...headers };
  return send(port, { method: "GET", headers: own });
}

describe("what waits for idle sessions", () => {
  it("is limited in bytes, for one caller and for all, and costs nobody who has little", async () => {
    const limits = { heldBytesPerCaller: 4 * mebibyte, heldBytes: 6 * mebibyte };
    await using front = await openFront(tell, { ...byUser, limits });
    const { port, ledger } = front;
    const fill = async (user: string, params: object) => {
      const session = await initialize(port, "2025-11-25", { "x-user": user });
      await post(port, legacy(session, { id: 1, method: "tell", params }, { "x-user": user }));
      return session;
    };
    const small = await fill("bob", { bytes: 1_000 });
    for (let count = 0; count < 4; count++) await fill("ada", { bytes: mebibyte, times: 60 });
    expect(ledger.held("messages", "ada").bytes).toBeLessThanOrEqual(4 * mebibyte);
    for (const user of ["eve", "dan"]) await fill(user, { bytes: mebibyte, times: 60 });
    expect(ledger.held("messages").bytes).toBeLessThanOrEqual(6 * mebibyte);
    const stream = await listen(port, small, { "x-user": "bob" });
    let text = "";
    stream.on("data", (chunk) => (text += String(chunk)));
    await until(() => text.includes("x".repeat(1_000)));
    stream.destroy();
  });
});

describe("what is kept for streams that may be resumed", () => {
  it("makes room at the cost of the caller that has the most", async () => {
    await using front = await openFront(tell, { ...byUser, limits: { replayBytes: mebibyte } });
    const { port, ledger } = front;
    const open = async (user: string, params: object) => {
      const session = await initialize(port, "2025-11-25", { "x-user": user });
      const stream = await listen(port, session, { "x-user": user });
      stream.resume();
      await post(port, legacy(session, { id: 1, method: "tell", params }, { "x-user": user }));
      return stream;
    };
    const streams = [await open("bob", { bytes: 10_000 }), await open("ada", { bytes: 100_000, times: 50 })];
    expect(ledger.held("replay", "bob").bytes).toBeGreaterThan(10_000);
    expect(ledger.held("replay").bytes).toBeLessThanOrEqual(mebibyte);
    for (const stream of streams) stream.destroy();
  });
});

describe("an answer that is kept for a stream", () => {
  it("keeps nothing else of the message that it came in", async () => {
    const answer = async (exchange: Exchange) => {
      exchange.notify("notifications/message", { level: "info", data: "first" });
      return rawResult(Buffer.alloc(mebibyte, '{"content":[]}').subarray(0, 14));
    };
    await using front = await openFront(answer, byUser);
    const { port, ledger } = front;
    const session = await initialize(port, "2025-11-25", { "x-user": "ada" });
    const ask = () => post(port, legacy(session, { id: 1, method: "x" }, { "x-user": "ada" }));
    await ask();
    const before = bytesHeld();
    for (let count = 0; count < 30; count++) expect((await ask()).text).toContain('"result":{"content":[]}');
    expect(ledger.held("replay", "ada").bytes).toBeGreaterThan(0);
    // The engine gives memory of buffers back in the background.
    await vi.waitFor(() => expect(bytesHeld() - before).toBeLessThan(10 * mebibyte));
  });
});

describe("one caller with more idle streams than there may be connections", () => {
  it("keeps nobody out: neither other callers, nor signs of life, nor itself", async () => {
    const limits = { connections: 40, streamsPerSession: 1_000 };
    await using front = await openFront(tell, { ...byUser, limits });
    const { port, ledger } = front;
    const session = await initialize(port, "2025-11-25", { "x-user": "ada" });
    const quiet = await initialize(port, "2025-11-25", { "x-user": "bob" });
    const stream = await listen(port, quiet, { "x-user": "bob" });
    const streams = [];
    for (let count = 0; count < 100; count++) {
      const one = await listen(port, session, { "x-user": "ada" });
      one.on("error", () => undefined);
      streams.push(one);
    }
    expect(streams[0]?.destroyed).toBe(true);
    expect(ledger.held("connections", "ada").count).toBeLessThanOrEqual(30);
    expect(stream.destroyed).toBe(false);
    expect((await post(port, { method: "GET", path: "/healthz" })).status).toBe(200);
    for (const user of ["ada", "bob", "eve"])
      expect((await post(port, modern("tell", {}, { "x-user": user }))).status).toBe(200);
    for (const one of [...streams, stream]) one.destroy();
    await until(() => front.front.held.streams === 0);
  });

  it("as little as one whose connections have sent nothing", async () => {
    await using front = await openFront(tell, { limits: { connections: 20 } });
    const silent: Socket[] = [];
    for (let count = 0; count < 60; count++) {
      const socket = connect(front.port, "127.0.0.1").on("error", () => undefined);
      silent.push(socket);
      await new Promise((resolve) => socket.once("connect", resolve));
    }
    expect((await post(front.port, modern("tell"))).status).toBe(200);
    for (const socket of silent) socket.destroy();
  });
});

/** A request as it is written on a connection. */
function textOf(port: number, { method = "POST", path = "/mcp", headers = {}, body = "" }: Sending): string {
  const head = [
    `${method} ${path} HTTP/1.1`,
    `Host: 127.0.0.1:${port}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    ...Object.entries({ ...usual, ...headers }).map(([name, value]) => `${name}: ${value}`),
  ];
  return `${head.join("\r\n")}\r\n\r\n${String(body)}`;
}

/** Requests that are written at once on one connection, whose answers are not read. */
function pipeline(port: number, count: number): Socket {
  const socket = connect(port, "127.0.0.1").on("error", () => undefined);
  socket.pause();
  socket.write(textOf(port, modern("x", {}, { "x-user": "ada" })).repeat(count));
  return socket;
}

describe("clients that close their connections before it is known who they are", () => {
  it("keep their places, so that no one has any number of requests authenticated at once", async () => {
    const known = Promise.withResolvers<void>();
    let now = 0;
    let most = 0;
    const authenticate = async () => {
      most = Math.max(most, ++now);
      await known.promise;
      now--;
      return "ada";
    };
    await using front = await openFront(tell, { authenticate, limits: { connections: 20 } });
    const { port, ledger } = front;
    const text = textOf(port, modern("tell"));
    for (let count = 0; count < 100; count++) {
      const asked = now;
      const socket = connect(port, "127.0.0.1")
        .on("error", () => undefined)
        .resume();
      const closed = new Promise((resolve) => socket.once("close", resolve));
      socket.write(text);
      await until(() => now > asked || socket.closed);
      socket.destroy();
      await closed;
    }
    expect(most).toBeLessThanOrEqual(30);
    known.resolve();
    await until(() => ledger.held("connections").count === 0);
    expect((await post(port, modern("tell"))).status).toBe(200);
  });
});

describe("clients that do not read", () => {
  it("are dropped after a while although their answers are short, those that are refused included", async () => {
    const long = "x".repeat(10_000);
    const answer = async () => ({ result: { long } });
    await using front = await openFront(answer, { ...byUser, limits: { stalledMs: 100 } });
    const { port, ledger } = front;
    for (const sending of [modern("x", {}, { "x-user": "ada" }), { method: "GET", path: "/healthz" }]) {
      const text = textOf(port, sending).repeat(50);
      const socket = connect(port, "127.0.0.1").on("error", () => undefined);
      socket.pause();
      // As long as they are taken: what the kernel holds differs.
      const more = (error?: Error | null) => void (error ?? socket.write(text, more));
      more();
      await until(() => ledger.held("connections").count === 1);
      await until(() => ledger.held("connections").count === 0);
      socket.destroy();
    }
  });

  it("have streams that make room for others also when these have grown little by little", async () => {
    const limits = { stalledMs: 600_000, waitingBytes: 64 * mebibyte, allWaitingBytes: 16 * mebibyte };
    await using front = await openFront(tell, { ...byUser, limits });
    const { port } = front;
    const sessions: string[] = [];
    const streams: Socket[] = [];
    for (let count = 0; count < 6; count++) {
      const session = await initialize(port, "2025-11-25", { "x-user": "ada" });
      const stream = connect(port, "127.0.0.1").on("error", () => undefined);
      stream.pause();
      const headers = { "mcp-session-id": session, "x-user": "ada" };
      stream.write(textOf(port, { method: "GET", headers }));
      sessions.push(session);
      streams.push(stream);
    }
    await until(() => front.front.held.streams === 6);
    const params = { bytes: mebibyte, times: 1 };
    for (let round = 0; round < 16; round++)
      for (const session of sessions)
        await post(port, legacy(session, { id: 1, method: "tell", params }, { "x-user": "ada" }));
    // Each was sent 16 MiB, of which the kernel has taken a part.
    await until(() => front.front.held.streams <= 3);
    for (const stream of streams) stream.destroy();
  });
});

describe("one connection with many requests that were sent at once", () => {
  it("is authenticated for one at a time", async () => {
    let most = 0;
    let now = 0;
    let seen = 0;
    const authenticate = async () => {
      most = Math.max(most, ++now);
      seen++;
      await new Promise((resolve) => setImmediate(resolve));
      now--;
      return "ada";
    };
    await using front = await openFront(async () => ({ result: {} }), { authenticate });
    const socket = pipeline(front.port, 5_000).resume();
    await until(() => seen > 20);
    expect(most).toBe(1);
    socket.destroy();
  });

  it("holds one answer while its client reads none", async () => {
    const large = "x".repeat(mebibyte);
    let answered = 0;
    const answer = async () => {
      answered++;
      return { result: { large } };
    };
    await using front = await openFront(answer, byUser);
    const socket = pipeline(front.port, 60);
    await until(() => answered > 0);
    // Another connection gets its answer, so this one had its turn.
    await post(front.port, modern("x", {}, { "x-user": "bob" }));
    await post(front.port, modern("x", {}, { "x-user": "bob" }));
    // What the kernel takes is out of our hands: a few answers at most.
    expect(answered - 2).toBeLessThan(12);
    socket.destroy();
  });

  it("is refused what is more than a few dozen, after the answers to those before", async () => {
    const go = Promise.withResolvers<void>();
    const answer = async () => {
      await go.promise;
      return { result: {} };
    };
    await using front = await openFront(answer, byUser);
    const socket = pipeline(front.port, 100).resume();
    let text = "";
    socket.on("data", (chunk) => (text += String(chunk)));
    await until(() => front.front.held.requests === 1);
    go.resolve();
    await new Promise((resolve) => socket.once("close", resolve));
    const statuses = [...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status);
    expect(statuses).toEqual([...Array.from({ length: 65 }, () => "200"), "429"]);
  });
});

describe("a client that asks whether it may send its body", () => {
  const expecting = (authorization: string) => ({
    ...modern("x", {}, { authorization, expect: "100-continue" }),
  });
  /** Sends the header only, and reads what comes. */
  async function ask(port: number, authorization: string) {
    const { body, headers } = expecting(authorization);
    const lines = Object.entries({ ...headers, "content-type": "application/json" });
    const head = [
      "POST /mcp HTTP/1.1",
      `Host: 127.0.0.1:${port}`,
      `Content-Length: ${Buffer.byteLength(String(body))}`,
      ...lines.map(([name, value]) => `${name}: ${value}`),
    ];
    const socket = connect(port, "127.0.0.1").on("error", () => undefined);
    const client = { socket, text: "", body: String(body), isClosed: false };
    socket.on("data", (chunk) => (client.text += String(chunk)));
    socket.on("close", () => (client.isClosed = true));
    socket.write(`${head.join("\r\n")}\r\n\r\n`);
    await until(() => client.text.includes("\r\n\r\n"));
    return client;
  }

  it("is told to go on only when it may come in", async () => {
    await using front = await openFront(async () => ({ result: {} }));
    const refused = await ask(front.port, "Bearer wrong");
    await until(() => refused.isClosed);
    expect(refused.text).toMatch(/^HTTP\/1\.1 401 /);
    const welcome = await ask(front.port, `Bearer ${token}`);
    expect(welcome.text).toBe("HTTP/1.1 100 Continue\r\n\r\n");
    welcome.socket.write(welcome.body);
    await until(() => welcome.text.includes('"result"'));
    welcome.socket.destroy();
    const usual = await readReply(await send(front.port, modern("x")));
    expect(usual.status).toBe(200);
  });
});

describe("what clients say about themselves", () => {
  const limits = { heldBytesPerCaller: 4 * mebibyte };
  const long = "x".repeat(mebibyte);

  it("is counted with their sessions, of which the oldest idle one goes", async () => {
    await using front = await openFront(tell, { ...byUser, limits });
    const { port, ledger } = front;
    const open = async (user: string, name: string) => {
      const params = {
        protocolVersion: "2025-11-25",
        capabilities: {},
        clientInfo: { name, version: "1" },
      };
      const sending = legacy(undefined, { id: 0, method: "initialize", params }, { "x-user": user });
      return String((await post(port, sending)).headers["mcp-session-id"]);
    };
    const his = await open("bob", "short");
    const hers = [];
    for (let count = 0; count < 8; count++) hers.push(await open("ada", long));
    expect(ledger.held("sessions", "ada").count).toBe(3);
    const statusOf = async (session: string | undefined, user: string) =>
      (await post(port, legacy(session, { id: 1, method: "tell" }, { "x-user": user }))).status;
    expect(await statusOf(hers.at(-1), "ada")).toBe(200);
    expect(await statusOf(hers[0], "ada")).toBe(404);
    expect(await statusOf(his, "bob")).toBe(200);
  });

  it("is counted as what it takes once it is read: an object of two bytes takes dozens", async () => {
    await using front = await openFront(listening, { ...byUser, limits });
    const { port, ledger } = front;
    const objects = Array.from({ length: 200_000 }, () => ({}));
    const params = { protocolVersion: "2025-11-25", capabilities: { objects }, clientInfo: {} };
    const sending = legacy(undefined, { id: 0, method: "initialize", params }, { "x-user": "ada" });
    expect((await post(port, sending)).status).toBe(503);
    const listen = modern("subscriptions/listen", { notifications: {}, objects }, { "x-user": "ada" });
    expect((await post(port, listen)).status).toBe(429);
    expect([ledger.held("sessions").count, ledger.held("streams").count]).toEqual([0, 0]);
  });

  it("is all that is kept of the request that opened a stream, however much came with it", async () => {
    await using front = await openFront(listening, byUser);
    const { port, ledger } = front;
    const { headers, body } = modern("subscriptions/listen", { notifications: {} }, { "x-user": "ada" });
    const padded = (count: number) =>
      count % 2 === 0
        ? `${" ".repeat(mebibyte)}${String(body)}`
        : String(body).replace("{", `{"unknown":"${"x".repeat(mebibyte)}",`);
    const sending = (count: number) => ({
      headers: { ...headers, accept: usual.accept },
      body: padded(count),
    });
    const streams: Promise<IncomingMessage>[] = [];
    const open = async (count: number) => {
      streams.push(send(port, sending(count)));
      await until(() => ledger.held("streams").count === streams.length);
    };
    await open(0);
    const before = bytesHeld();
    for (let count = 0; count < 40; count++) await open(count);
    // The engine gives memory of buffers back in the background.
    await vi.waitFor(() => expect(bytesHeld() - before).toBeLessThan(10 * mebibyte));
    await front.close();
    for (const stream of streams) stream.catch(() => undefined);
  });

  it("is counted with the streams that listen, and is refused when it is too much", async () => {
    await using front = await openFront(listening, { ...byUser, limits });
    const { port, ledger } = front;
    const open = (user: string) =>
      send(port, modern("subscriptions/listen", { notifications: {}, long }, { "x-user": user }));
    const streams = ["ada", "ada", "ada", "bob"].map((user) => open(user));
    await until(() => ledger.held("streams").count === 4);
    expect((await open("ada")).statusCode).toBe(429);
    expect(ledger.held("streams", "ada").bytes).toBeGreaterThan(3 * mebibyte);
    await front.close();
    for (const stream of streams)
      void stream.then(
        (one) => one.destroy(),
        () => undefined,
      );
  });
});
