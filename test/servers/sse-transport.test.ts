import { describe, expect, test } from "vitest";
import type { Listener } from "../../src/servers/rpc/inbound.ts";
import { SseTransport, type SseTransportOptions } from "../../src/servers/transports/sse.ts";
import { fakeHttp, plainHttp, supplied } from "./http-fixture.ts";
import { deaf, failure, openRpc, result, until } from "./rpc-fixture.ts";

function createSse(url: string, options: Partial<SseTransportOptions> = {}): SseTransport {
  return new SseTransport({ server: "old", url: new URL(url), ...options });
}

function openSse(url: string, options: Partial<SseTransportOptions> = {}, otherwise: Listener = {}) {
  return openRpc(createSse(url, options), { era: "legacy", otherwise });
}

/** A server whose stream sends exactly this, and stays open. */
function saying(text: string, contentType = "text/event-stream") {
  return plainHttp(
    (_request, response) => void response.writeHead(200, { "content-type": contentType }).write(text),
  );
}

describe("M20 the older SSE transport", () => {
  test("30 concurrent calls are sent as POSTs and answered on the stream", async () => {
    const fake = await fakeHttp({ versions: ["2024-11-05"] });
    const { call, request } = await openSse(fake.sseUrl, { headers: { "x-api-key": "k" } });
    const answers = await Promise.all(Array.from({ length: 30 }, (_, n) => call("add", { a: n, b: 1 })));
    expect(answers.map((answer) => "result" in answer && answer.result["structuredContent"])).toEqual(
      Array.from({ length: 30 }, (_, n) => ({ sum: n + 1 })),
    );
    expect((await result(request("tools/list")))["tools"]).not.toHaveLength(0);
    expect(fake.received.every(({ headers }) => headers["x-api-key"] === "k")).toBe(true);
  });

  test("a question asked during a call is answered", async () => {
    const fake = await fakeHttp({ versions: ["2025-06-18"] });
    const onQuestion = async () => ({ action: "decline" });
    const { call } = await openSse(fake.sseUrl, {}, { onQuestion });
    expect(await call("elicit")).toMatchObject({
      result: { structuredContent: { answers: [{ action: "decline" }] } },
    });
  });

  test("cancellation reaches the server", async () => {
    const fake = await fakeHttp({ versions: ["2024-11-05"] });
    const { call } = await openSse(fake.sseUrl);
    const controller = new AbortController();
    const pending = failure(call("sleep", { ms: 60_000 }, { signal: controller.signal }));
    await until(() => fake.received.some(({ message }) => message?.["method"] === "tools/call"));
    controller.abort();
    expect((await pending).code).toBe("call-cancelled");
    await until(() => fake.received.some(({ message }) => message?.["method"] === "notifications/cancelled"));
  });

  test.each([
    ["another origin", "https://evil.example/messages", "https://evil.example"],
    ["another port", "http://127.0.0.1:1/messages", "http://127.0.0.1:1"],
    ["a protocol-relative one", "//evil.example/x", "http://evil.example"],
    ["a script", "javascript:alert(1)", "javascript:alert(1)"],
    ["nonsense", "http://[", "http://["],
  ])("an endpoint on %s is refused", async (_name, endpoint, shown) => {
    const { origin } = await saying(`event: endpoint\ndata: ${endpoint}\n\n`);
    const error = await failure(openSse(`${origin}/sse`));
    expect(error).toMatchObject({ code: "unexpected-response", data: { endpoint: shown } });
  });

  test("an endpoint that moves to another origin ends the connection before anything is sent there", async () => {
    const visits: unknown[] = [];
    const elsewhere = await plainHttp((request, response) => {
      visits.push(request.url);
      response.end();
    });
    let move = () => {};
    const { origin } = await plainHttp((request, response) => {
      if (request.method === "POST") return void response.writeHead(202).end();
      response
        .writeHead(200, { "content-type": "text/event-stream" })
        .write("event: endpoint\ndata: /messages\n\n");
      move = () => response.write(`event: endpoint\ndata: ${elsewhere.origin}/messages\n\n`);
    });
    const { transport, call, closed } = await openRpc(createSse(`${origin}/sse`));
    const pending = failure(call("echo"));
    move();
    await closed;
    expect(await pending).toMatchObject({
      code: "unexpected-response",
      data: { endpoint: elsewhere.origin },
    });
    expect((await failure(call("echo"))).code).toBe("unexpected-response");
    const notice = { jsonrpc: "2.0", method: "notifications/initialized", params: {} } as const;
    expect(await failure(transport.send(notice))).toMatchObject({ executed: "no" });
    expect(visits).toEqual([]);
  });

  test("a page instead of a stream is quoted in the error", async () => {
    const { origin } = await plainHttp((_request, response) =>
      response.setHeader("content-type", "text/html").end("<h1>Hi</h1>"),
    );
    expect(await failure(openSse(`${origin}/sse`))).toMatchObject({
      code: "unexpected-response",
      message: expect.stringMatching(/HTTP 200, text\/html: <h1>Hi<\/h1>/) as string,
    });
  });

  test.each([
    [404, "unexpected-response"],
    [502, "not-responding"],
    [429, "rate-limited"],
  ])("HTTP %d to the first request: %s, without hidden retries", async (status, code) => {
    let visits = 0;
    const { origin } = await plainHttp((_request, response) => {
      visits++;
      response.writeHead(status).end();
    });
    expect(await failure(openSse(`${origin}/sse`))).toMatchObject({ code });
    expect(visits).toBe(1);
  });

  test("the end of the stream ends the connection: calls fail, the close is reported, sockets are closed", async () => {
    const fake = await fakeHttp({
      versions: ["2024-11-05"],
      on: [{ when: { tool: "echo" }, do: [{ silent: true }] }],
    });
    const { call, closed } = await openSse(fake.sseUrl);
    const pending = failure(call("echo"));
    await until(() => fake.received.some(({ message }) => message?.["method"] === "tools/call"));
    await fake.restart();
    await closed;
    expect((await pending).code).toBe("connection-lost");
    expect((await failure(call("echo"))).code).toBe("connection-lost");
    await until(() => fake.connections === 0);
  });

  test("a session that the server has forgotten is reported as such", async () => {
    const fake = await fakeHttp({
      versions: ["2024-11-05"],
      on: [{ when: { tool: "echo" }, do: [{ http: { status: 404, body: "Session not found" } }] }],
    });
    const { call } = await openSse(fake.sseUrl);
    expect(await failure(call("echo"))).toMatchObject({
      code: "connection-lost",
      executed: "no",
      data: { reason: "session-lost", status: 404 },
    });
  });

  test("an event that is too large ends the connection", async () => {
    const fake = await fakeHttp({ versions: ["2024-11-05"] });
    const { call } = await openSse(fake.sseUrl, { limits: { maxBodyBytes: 20_000 } });
    expect((await failure(call("big", { bytes: 50_000 }))).code).toBe("output-too-large");
  });

  test("closing before the endpoint is known aborts the start", async () => {
    const { origin, server } = await saying(": hello\n\n");
    const transport = createSse(`${origin}/sse`);
    const connected = new Promise((resolve) => server.once("connection", resolve));
    const start = failure(transport.start(deaf));
    await connected;
    await transport.close();
    expect((await start).code).toBe("connection-lost");
  });

  test("a rejected token is renewed once for the stream and once for a message", async () => {
    let token = 0;
    const provider = { token: async () => `t${token}`, onUnauthorized: async () => void token++ };
    const on = [
      { when: { http: "GET" as const, nth: 1 }, do: [{ http: { status: 401 } }] },
      { when: { tool: "echo", nth: 1 }, do: [{ http: { status: 401 } }] },
    ];
    const fake = await fakeHttp({ versions: ["2024-11-05"], on });
    const { call } = await openSse(fake.sseUrl, { auth: supplied(provider, fake.sseUrl) });
    expect(await call("echo", { a: 1 })).toMatchObject({ result: { structuredContent: { a: 1 } } });
    const sent = (method: string) =>
      fake.received
        .filter(({ method: verb, message }) => (message?.["method"] ?? verb) === method)
        .map(({ headers }) => headers["authorization"]);
    expect(sent("GET")).toEqual(["Bearer t0", "Bearer t1"]);
    expect(sent("tools/call")).toEqual(["Bearer t1", "Bearer t2"]);
  });

  test("a call that is cancelled while its token is fetched is never sent", async () => {
    const fake = await fakeHttp({ versions: ["2024-11-05"] });
    let hold: Promise<void> | undefined;
    const token = async () => {
      await hold;
      return "t";
    };
    const { call, request } = await openSse(fake.sseUrl, { auth: supplied({ token }, fake.sseUrl) });
    const { promise, resolve } = Promise.withResolvers<void>();
    hold = promise;
    const stop = new AbortController();
    const pending = failure(call("echo", {}, { signal: stop.signal }));
    stop.abort();
    expect((await pending).code).toBe("call-cancelled");
    resolve();
    await request("tools/list");
    const methods = fake.received.map(({ message }) => message?.["method"]);
    expect(
      methods.filter((method) => method === "tools/call" || method === "notifications/cancelled"),
    ).toEqual([]);
  });
});
