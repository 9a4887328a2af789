import { connect } from "node:net";
import type { Socket } from "node:net";
import { describe, expect, it } from "vitest";
import type { Exchange } from "../../../src/gateway/exchange.ts";
import { initialize, legacy, modern, openFront, post, readReply, send, token, until } from "./open-front.ts";
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

/** Requests that are written at once on one connection, whose answers are not read. */
function pipeline(port: number, count: number): Socket {
  const { body, headers } = modern("x");
  const lines = Object.entries({ ...headers, authorization: `Bearer ${token}`, "x-user": "ada" });
  const head = [
    "POST /mcp HTTP/1.1",
    `Host: 127.0.0.1:${port}`,
    "Content-Type: application/json",
    `Content-Length: ${Buffer.byteLength(String(body))}`,
    ...lines.map(([name, value]) => `${name}: ${value}`),
  ];
  const socket = connect(port, "127.0.0.1").on("error", () => undefined);
  socket.pause();
  socket.write(`${head.join("\r\n")}\r\n\r\n${String(body)}`.repeat(count));
  return socket;
}

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

  it("is counted with the streams that listen, and is refused when it is too much", async () => {
    await using front = await openFront(
      ({ signal }) => {
        const { promise, resolve } = Promise.withResolvers<{ result: object }>();
        signal.addEventListener("abort", () => resolve({ result: {} }), { once: true });
        return promise as Promise<{ result: Record<string, unknown> }>;
      },
      { ...byUser, limits },
    );
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
