import { Client } from "@modelcontextprotocol/client";
import { describe, expect, onTestFinished, test } from "vitest";
import { SseTransport, type SseTransportOptions } from "../../src/servers/transports/sse.ts";
import { callTool, fakeHttp, failure, plainHttp, until } from "./http-fixture.ts";

function createSse(url: string, options: Partial<SseTransportOptions> = {}): SseTransport {
  const transport = new SseTransport({ server: "old", url: new URL(url), ...options });
  onTestFinished(() => transport.close());
  return transport;
}

async function openSse(url: string, options: Partial<SseTransportOptions> = {}) {
  const transport = createSse(url, options);
  const client = new Client({ name: "test", version: "1" }, { capabilities: { elicitation: {} } });
  await client.connect(transport);
  const call = (...args: [string, Record<string, unknown>?, { signal?: AbortSignal }?]) =>
    callTool(transport.lane, "legacy", ...args);
  return { transport, client, call };
}

/** A server whose stream says exactly this, and stays open. */
function saying(text: string, contentType = "text/event-stream") {
  return plainHttp(
    (_request, response) => void response.writeHead(200, { "content-type": contentType }).write(text),
  );
}

describe("M20 the older SSE transport", () => {
  test("calls go out as POSTs and come back on the stream, 30 at once", async () => {
    const fake = await fakeHttp({ versions: ["2024-11-05"] });
    const { call, client } = await openSse(fake.sseUrl, { headers: { "x-api-key": "k" } });
    const answers = await Promise.all(Array.from({ length: 30 }, (_, n) => call("add", { a: n, b: 1 })));
    expect(answers.map((answer) => "result" in answer && answer.result["structuredContent"])).toEqual(
      Array.from({ length: 30 }, (_, n) => ({ sum: n + 1 })),
    );
    expect((await client.listTools()).tools.length).toBeGreaterThan(3);
    expect(fake.received.every(({ headers }) => headers["x-api-key"] === "k")).toBe(true);
  });

  test("a question asked during a call is answered", async () => {
    const fake = await fakeHttp({ versions: ["2025-06-18"] });
    const { call, client } = await openSse(fake.sseUrl);
    client.setRequestHandler("elicitation/create", () => ({ action: "decline" }));
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

  test("an endpoint that moves away later ends the connection before anything is sent there", async () => {
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
    const transport = createSse(`${origin}/sse`);
    await transport.start();
    const pending = failure(callTool(transport.lane, "legacy", "echo"));
    const closed = new Promise<void>((resolve) => Object.assign(transport, { onclose: resolve }));
    move();
    await closed;
    expect(await pending).toMatchObject({
      code: "unexpected-response",
      data: { endpoint: elsewhere.origin },
    });
    expect((await failure(callTool(transport.lane, "legacy", "echo"))).code).toBe("unexpected-response");
    await failure(transport.send({ jsonrpc: "2.0", method: "notifications/initialized" }));
    expect(visits).toEqual([]);
  });

  test("a page in place of a stream is quoted", async () => {
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
  ])("HTTP %d to the first request: %s, and nobody tries again behind our back", async (status, code) => {
    let visits = 0;
    const { origin } = await plainHttp((_request, response) => {
      visits++;
      response.writeHead(status).end();
    });
    expect(await failure(openSse(`${origin}/sse`))).toMatchObject({ code });
    expect(visits).toBe(1);
  });

  test("a stream that ends is the end of the connection: calls fail, the close is told, sockets are gone", async () => {
    const fake = await fakeHttp({
      versions: ["2024-11-05"],
      on: [{ when: { tool: "echo" }, do: [{ silent: true }] }],
    });
    const { transport, call } = await openSse(fake.sseUrl);
    const pending = failure(call("echo"));
    await until(() => fake.received.some(({ message }) => message?.["method"] === "tools/call"));
    const closed = new Promise<void>((resolve) => Object.assign(transport, { onclose: resolve }));
    await fake.restart();
    await closed;
    expect((await pending).code).toBe("connection-lost");
    expect((await failure(call("echo"))).code).toBe("connection-lost");
    await until(() => fake.connections === 0);
  });

  test("a session the server has forgotten is named as such", async () => {
    const fake = await fakeHttp({
      versions: ["2024-11-05"],
      on: [{ when: { tool: "echo" }, do: [{ http: { status: 404, body: "Session not found" } }] }],
    });
    const { call } = await openSse(fake.sseUrl);
    expect(await failure(call("echo"))).toMatchObject({
      code: "connection-lost",
      data: { reason: "session-lost", status: 404 },
    });
  });

  test("an event that is too large ends the connection", async () => {
    const fake = await fakeHttp({ versions: ["2024-11-05"] });
    const { call } = await openSse(fake.sseUrl, { limits: { maxBodyBytes: 20_000 } });
    expect((await failure(call("big", { bytes: 50_000 }))).code).toBe("output-too-large");
  });

  test("closing before the endpoint is known ends the start", async () => {
    const { origin, server } = await saying(": hello\n\n");
    const transport = createSse(`${origin}/sse`);
    const connected = new Promise((resolve) => server.once("connection", resolve));
    const start = failure(transport.start());
    await connected;
    await transport.close();
    expect((await start).code).toBe("connection-lost");
  });
});
