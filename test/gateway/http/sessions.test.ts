import { describe, expect, it } from "vitest";
import type { Exchange } from "../../../src/gateway/exchange.ts";
import { Agent } from "node:http";
import { echo, events, initialize, legacy, openFront, post, send, until } from "./open-front.ts";

const nothing = { sessions: 0, streams: 0, requests: 0, callers: 0, replayBytes: 0 };
const list = { id: 1, method: "tools/list" };

describe("M80 a legacy session", () => {
  it("belongs to its caller and its path, and ends with DELETE", async () => {
    const authenticate = ({ headers }: { headers: Headers }) => headers.get("x-user") ?? undefined;
    await using front = await openFront(echo, { authenticate });
    const [ada, bob] = [{ "x-user": "ada" }, { "x-user": "bob" }];
    const session = await initialize(front.port, "2025-11-25", ada);
    expect(session).toMatch(/^[\x21-\x7e]{40,}$/);
    expect((await post(front.port, legacy(session, list, ada))).status).toBe(200);
    expect((await post(front.port, legacy(session, list, bob))).status).toBe(404);
    expect((await post(front.port, legacy(session, list))).status).toBe(401);
    expect((await post(front.port, { ...legacy(session, list, ada), path: "/mcp/other" })).status).toBe(404);
    const remove = (headers: object) =>
      post(front.port, { method: "DELETE", headers: { "mcp-session-id": session, ...headers } });
    expect((await remove(bob)).status).toBe(404);
    expect((await post(front.port, legacy(session, list, ada))).status).toBe(200);
    expect((await remove(ada)).status).toBe(204);
    expect((await post(front.port, legacy(session, list, ada))).status).toBe(404);
    expect(front.front.held).toEqual(nothing);
  });

  it("is not needed twice: `initialize` with a session does not open another", async () => {
    await using front = await openFront();
    const session = await initialize(front.port);
    await post(front.port, legacy(session, { id: 1, method: "initialize", params: {} }));
    expect(front.front.held.sessions).toBe(1);
    const made = await post(front.port, legacy("made-up", { id: 1, method: "initialize", params: {} }));
    expect(made.status).toBe(404);
  });

  it("accepts notifications and answers with 202 and nothing else", async () => {
    await using front = await openFront();
    const session = await initialize(front.port);
    const messages = [{ method: "notifications/initialized" }, { id: "q1", result: {} }];
    for (const message of messages) {
      const reply = await post(front.port, legacy(session, message));
      expect([reply.status, reply.text]).toEqual([202, ""]);
    }
    expect(front.heard).toEqual(["notifications/initialized"]);
  });

  it("answers batches where its revision has them", async () => {
    await using front = await openFront();
    const batch = [{ id: 1, method: "a" }, { method: "notifications/x" }, { id: "two", method: "b" }];
    const old = await initialize(front.port, "2025-03-26");
    const reply = await post(front.port, legacy(old, batch));
    expect(reply.json).toMatchObject([
      { id: 1, result: { method: "a" } },
      { id: "two", result: { method: "b" } },
    ]);
    const quiet = await post(front.port, legacy(old, [{ method: "notifications/x" }]));
    expect([quiet.status, quiet.text]).toEqual([202, ""]);
    const recent = await initialize(front.port, "2025-06-18");
    const refused = await post(front.port, legacy(recent, batch));
    expect([refused.status, refused.json.error?.code]).toEqual([400, -32_600]);
    const long = Array.from({ length: 101 }, (_, id) => ({ id, method: "a" }));
    const tooMany = await post(front.port, legacy(old, long));
    expect([tooMany.status, tooMany.json.error?.message]).toEqual([
      400,
      expect.stringContaining("at most 100"),
    ]);
  });

  it("takes the messages of a batch as they came", async () => {
    const seen: string[] = [];
    await using front = await openFront(async ({ params }) => {
      seen.push(params.bytes.toString("utf8"));
      return { result: {} };
    });
    const session = await initialize(front.port, "2025-03-26");
    const sending = legacy(session, {});
    const message = '{"jsonrpc":"2.0","id":1,"method":"a","params":{"n":9007199254740993,"x":"],["}}';
    const reply = await post(front.port, {
      ...sending,
      body: `[ ${message} , ${message.replace("1,", "2,")}\n]`,
    });
    expect([reply.status, reply.json]).toMatchObject([200, [{ id: 1 }, { id: 2 }]]);
    expect(seen).toEqual(Array(2).fill('{"n":9007199254740993,"x":"],["}'));
    const wrong = [`[${message},]`, `[${message}`, "[,]", `[${message} ${message}]`, `[${message}]x`];
    for (const body of wrong) {
      const refused = await post(front.port, { ...sending, body });
      expect([body, refused.status, refused.json.error?.code]).toEqual([body, 400, -32_700]);
    }
    const twice = await post(front.port, { ...sending, body: `[${message.replace("{", '{"id":3,')}]` });
    expect([twice.status, twice.json.error?.code]).toEqual([400, -32_600]);
  });

  it("streams the answers of a batch once something comes before the last one", async () => {
    await using front = await openFront(async (exchange) => {
      if (exchange.method === "b") exchange.notify("n", {});
      return { result: { method: exchange.method } };
    });
    const session = await initialize(front.port, "2025-03-26");
    const batch = [
      { id: 1, method: "a" },
      { id: 2, method: "b" },
    ];
    const found: object[] = [];
    for await (const { data } of events(await send(front.port, legacy(session, batch))))
      found.push(JSON.parse(data) as object);
    expect(found).toHaveLength(3);
    expect(found).toContainEqual({ jsonrpc: "2.0", id: 1, result: { method: "a" } });
    expect(found).toContainEqual({ jsonrpc: "2.0", id: 2, result: { method: "b" } });
  });

  it("gives no answer to a request that its client cancelled", async () => {
    const arrived = Promise.withResolvers<void>();
    await using front = await openFront(async ({ signal }) => {
      arrived.resolve();
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      return { result: { late: true } };
    });
    const session = await initialize(front.port);
    const call = post(front.port, legacy(session, { id: 9, method: "slow" }));
    await arrived.promise;
    await post(front.port, legacy(session, { method: "notifications/cancelled", params: { requestId: 9 } }));
    expect(await call).toMatchObject({ status: 202, text: "" });
  });

  it.each(["12345678901234567890", "1.0"])("finds the request %s that its client cancelled", async (id) => {
    const arrived = Promise.withResolvers<void>();
    await using front = await openFront(async ({ signal }) => {
      arrived.resolve();
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      return { result: {} };
    });
    const headers = { "mcp-session-id": await initialize(front.port) };
    const call = post(front.port, { headers, body: `{"jsonrpc":"2.0","id":${id},"method":"slow"}` });
    await arrived.promise;
    const params = `{"requestId":${id}}`;
    const body = `{"jsonrpc":"2.0","method":"notifications/cancelled","params":${params}}`;
    await post(front.port, { headers, body });
    expect(await call).toMatchObject({ status: 202, text: "" });
  });

  it("expires when nothing uses it, but not while a stream is open or a request under way", async () => {
    const finish = Promise.withResolvers<void>();
    const slow = async ({ method }: Exchange) => {
      if (method === "slow") await finish.promise;
      return { result: {} };
    };
    const limits = { keepAliveMs: 5, sessionIdleMs: 1_000 };
    await using front = await openFront(slow, { limits });
    const listening = await initialize(front.port);
    const stream = await send(front.port, { method: "GET", headers: { "mcp-session-id": listening } });
    const busy = await initialize(front.port);
    const call = send(front.port, legacy(busy, { id: 1, method: "slow" }));
    const idle = await initialize(front.port);
    // Looking at it would be use, so the count of sessions is looked at.
    await until(() => front.front.held.sessions === 2);
    expect((await post(front.port, legacy(idle, list))).status).toBe(404);
    expect((await post(front.port, legacy(listening, list))).status).toBe(200);
    expect((await post(front.port, legacy(busy, list))).status).toBe(200);
    stream.destroy();
    finish.resolve();
    (await call).resume();
    await until(() => front.front.held.sessions === 0);
    expect(front.front.held.callers).toBe(0);
  });

  it("is limited in number, for one caller and for all: the oldest idle one of who has the most goes", async () => {
    const authenticate = ({ headers }: { headers: Headers }) => headers.get("x-user") ?? undefined;
    const limits = { sessions: 3, sessionsPerCaller: 2 };
    await using front = await openFront(echo, { authenticate, limits });
    const { port } = front;
    const open = (user: string) => initialize(port, "2025-11-25", { "x-user": user });
    const status = async (user: string, session: string) =>
      (await post(port, legacy(session, list, { "x-user": user }))).status;
    const [first, second] = [await open("ada"), await open("ada")];
    const other = await open("bob");
    expect(await status("ada", first)).toBe(200);
    const third = await open("ada");
    expect([await status("ada", second), await status("ada", third)]).toEqual([404, 200]);
    const newcomer = await open("eve");
    expect([await status("ada", first), await status("ada", third)]).toEqual([404, 200]);
    expect([await status("bob", other), await status("eve", newcomer)]).toEqual([200, 200]);
  });

  it("stays while it is in use, however many its caller wants", async () => {
    await using front = await openFront(echo, { limits: { sessionsPerCaller: 1 } });
    const session = await initialize(front.port);
    const headers = { "mcp-session-id": session, "content-type": undefined };
    const stream = await send(front.port, { method: "GET", headers });
    const params = { protocolVersion: "2025-11-25" };
    const refused = await post(front.port, legacy(undefined, { id: 0, method: "initialize", params }));
    expect([refused.status, refused.headers["retry-after"]]).toEqual([429, "1"]);
    stream.destroy();
    await until(() => front.front.held.streams === 0);
    expect((await post(front.port, legacy(session, list))).status).toBe(200);
  });

  it("needs a revision to be asked for", async () => {
    await using front = await openFront();
    const reply = await post(front.port, legacy(undefined, { id: 3, method: "initialize", params: {} }));
    expect([reply.status, reply.json.error?.code, reply.json["id"]]).toEqual([400, -32_602, 3]);
    expect(front.front.held).toEqual(nothing);
  });

  it("leaves nothing behind, a thousand times in a row", { timeout: 60_000 }, async () => {
    await using front = await openFront(async (exchange) => {
      exchange.notify("n", {});
      return { result: {} };
    });
    const agent = new Agent({ keepAlive: true });
    for (let i = 0; i < 1_000; i++) {
      const session = await initialize(front.port, "2025-11-25", {}, agent);
      await post(front.port, { ...legacy(session, list), agent });
      await post(front.port, { method: "DELETE", headers: { "mcp-session-id": session }, agent });
    }
    agent.destroy();
    expect(front.front.held).toEqual(nothing);
  });
});
