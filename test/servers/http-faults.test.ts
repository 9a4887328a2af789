import { deflateSync, gzipSync, brotliCompressSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import type { ErrorCode } from "../../src/errors.ts";
import type { Executed } from "../../src/errors.ts";
import { shouldFallBackToSse } from "../../src/servers/http-evidence.ts";
import { sessionLost } from "../../src/servers/transports/http/session-lost.ts";
import type { Script, Step } from "../fixtures/fake/index.ts";
import { fakeHttp, open, openBare, plainHttp } from "./http-fixture.ts";
import { failure, until, type Era } from "./rpc-fixture.ts";

const answer = '{"jsonrpc":"2.0","id":$id,"result":{"content":[]}}';
const event = `data: ${answer}\n\n`;

interface Fault {
  name: string;
  do: Step[];
  code: ErrorCode;
  says?: RegExp;
  data?: Record<string, unknown>;
  executed?: Executed;
  era?: Era;
}

const faults: Fault[] = [
  {
    name: "an HTML page",
    do: [
      { http: { contentType: "text/html; charset=utf-8", body: "\n <title>Log in\u001b[31m</title>\n<p>" } },
    ],
    code: "unexpected-response",
    says: /HTTP 200, text\/html; charset=utf-8: <title>Log in\\u\{1b\}\[31m<\/title>\)/,
    data: { status: 200 },
  },
  { name: "no content type", do: [{ http: { body: "ok" } }], code: "unexpected-response", says: /HTTP 200/ },
  {
    name: "JSON that is cut",
    do: [{ http: { contentType: "application/json", body: '{"jsonrpc":' } }],
    code: "protocol-error",
  },
  {
    name: "an answer to nobody",
    do: [{ message: { jsonrpc: "2.0", id: 999, result: {} } }],
    code: "protocol-error",
  },
  {
    name: "both result and error",
    do: [{ message: { jsonrpc: "2.0", id: "$id", result: {}, error: {} } }],
    code: "protocol-error",
  },
  {
    name: "429, seconds",
    do: [limited(429, "2")],
    code: "rate-limited",
    data: { status: 429, retryAfterMs: 2000 },
    executed: "no",
  },
  {
    name: "429, a billion",
    do: [limited(429, "1000000000")],
    code: "rate-limited",
    data: { retryAfterMs: 60_000 },
  },
  { name: "429, 1e9", do: [limited(429, "1e9")], code: "rate-limited", data: { retryAfterMs: 60_000 } },
  { name: "429, negative", do: [limited(429, "-1")], code: "rate-limited", data: { retryAfterMs: 1000 } },
  { name: "429, garbage", do: [limited(429, "soon")], code: "rate-limited", data: { retryAfterMs: 1000 } },
  {
    name: "429, a date gone by",
    do: [limited(429, "Wed, 21 Oct 2015 07:28:00 GMT")],
    code: "rate-limited",
    data: { retryAfterMs: 1000 },
  },
  { name: "429 without a time", do: [{ http: { status: 429 } }], code: "rate-limited" },
  {
    name: "503 with a time",
    do: [limited(503, "5")],
    code: "rate-limited",
    data: { status: 503, retryAfterMs: 5000 },
    executed: "maybe",
  },
  {
    name: "500",
    do: [{ http: { status: 500, body: "boom" } }],
    code: "unexpected-response",
    says: /HTTP 500.*boom/,
  },
  {
    name: "502",
    do: [{ http: { status: 502 } }],
    code: "not-responding",
    data: { status: 502 },
    executed: "maybe",
  },
  { name: "504", do: [{ http: { status: 504 } }], code: "not-responding" },
  { name: "401 without sign-in code", do: [{ http: { status: 401 } }], code: "auth-failed" },
  { name: "403 without sign-in code", do: [{ http: { status: 403 } }], code: "auth-failed" },
  { name: "405", do: [{ http: { status: 405 } }], code: "unexpected-response", data: { status: 405 } },
  {
    name: "404 with a session",
    do: [{ http: { status: 404 } }],
    code: "connection-lost",
    data: { reason: "session-lost", status: 404 },
    executed: "no",
  },
  {
    name: "400, no valid session",
    do: [
      {
        http: {
          status: 400,
          json: {
            jsonrpc: "2.0",
            id: null,
            error: { code: -32000, message: "Bad Request: No valid session ID provided" },
          },
        },
      },
    ],
    code: "connection-lost",
    data: { reason: "session-lost", status: 400 },
    executed: "no",
  },
  {
    name: "-32001, session not found",
    do: [{ error: { code: -32001, message: "Session not found" } }],
    code: "connection-lost",
    data: { reason: "session-lost" },
  },
  {
    name: "404 without a session",
    era: "modern",
    do: [{ http: { status: 404 } }],
    code: "unexpected-response",
    data: { status: 404 },
  },
  {
    name: "a connection closed before the answer",
    do: [{ drop: "fin" }],
    code: "connection-lost",
    data: { sent: true },
    executed: "maybe",
  },
  { name: "a connection reset before the answer", do: [{ drop: "reset" }], code: "connection-lost" },
  { name: "a body cut at half", do: [{ default: true, cut: 0.5 }, { drop: "fin" }], code: "connection-lost" },
  {
    name: "a reset inside the body",
    do: [{ default: true, cut: 0.5 }, { drop: "reset" }],
    code: "connection-lost",
  },
  {
    name: "a body shorter than its length",
    do: [
      {
        raw: "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 900\r\n\r\n{}",
        to: "socket",
      },
      { drop: "fin" },
    ],
    code: "connection-lost",
  },
  {
    name: "a body longer than its length",
    do: [
      {
        raw: 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 5\r\n\r\n{"jsonrpc"',
        to: "socket",
      },
    ],
    code: "protocol-error",
  },
  {
    name: "something that is not HTTP",
    do: [{ raw: "220 mail ESMTP\r\n", to: "socket" }, { drop: "fin" }],
    code: "unexpected-response",
    says: /not HTTP/,
  },
  {
    name: "100 kB of headers",
    do: [{ raw: `HTTP/1.1 200 OK\r\nwww-authenticate: ${"x".repeat(100_000)}\r\n\r\n`, to: "socket" }],
    code: "unexpected-response",
    says: /headers/,
  },
  { name: "a gzip bomb", do: [bomb("gzip")], code: "output-too-large" },
  { name: "a brotli bomb", do: [bomb("br")], code: "output-too-large" },
  {
    name: "a body that is too large",
    do: [{ http: { contentType: "application/json", body: { repeat: " ", times: 200_000 } } }],
    code: "output-too-large",
  },
  {
    name: "an event that is too large",
    do: [sse({ repeat: "data: xxxxxxxxxxxxxxxxxxxxxxxx\n", times: 20_000 })],
    code: "output-too-large",
  },
  { name: "an endless line", do: [sse({ repeat: "x", times: 200_000 })], code: "output-too-large" },
  {
    name: "an unknown compression",
    do: [{ http: { headers: { "content-encoding": "lzma" }, contentType: "application/json", body: "x" } }],
    code: "unexpected-response",
    says: /lzma/,
  },
  {
    name: "gzip that is not",
    do: [{ http: { headers: { "content-encoding": "gzip" }, contentType: "application/json", body: "{}" } }],
    code: "connection-lost",
  },
  {
    name: "a stream that ends without an answer",
    do: [sse(": hello\n\n")],
    code: "connection-lost",
    data: { sent: true },
  },
  { name: "half an event and the end", do: [sse(`data: ${answer}\n`)], code: "connection-lost" },
  {
    name: "a modern stream with event ids that breaks",
    era: "modern",
    do: [sse(`id: 7\ndata:\n\n`)],
    code: "connection-lost",
  },
];

function limited(status: number, value: string): Step {
  return { http: { status, headers: { "retry-after": value } } };
}

function sse(body: NonNullable<Extract<Step, { http: unknown }>["http"]["body"]>): Step {
  return { http: { contentType: "text/event-stream", body } };
}

function bomb(kind: "gzip" | "br"): Step {
  return {
    http: {
      headers: { "content-encoding": kind },
      contentType: "application/json",
      body: { bomb: kind, bytes: 50_000_000 },
    },
  };
}

describe("M44 a fault is reported once with its cause, and the next call works", () => {
  test.each(faults)("$name", async ({ do: steps, code, says, data, executed, era = "legacy" }) => {
    const script: Script = { versions: era, on: [{ when: { tool: "echo", nth: 1 }, do: steps }] };
    const fake = await fakeHttp(script);
    const { call } = await open(fake.url, era, { limits: { maxBodyBytes: 100_000 } });
    const error = await failure(call("echo"));
    expect(error).toMatchObject({ name: "PlugboardError", code, server: "remote" });
    expect(error.message).toMatch(says ?? /"remote"/);
    expect(error.data ?? {}).toMatchObject(data ?? {});
    if (executed) expect(error.executed).toBe(executed);
    const { retryAfterMs } = error.data ?? {};
    expect(error.retryAfterMs).toBe(retryAfterMs);
    expect(fake.received.filter(({ message }) => message?.["method"] === "tools/call")).toHaveLength(1);
    expect(await call("echo", { again: true })).toMatchObject({
      result: { structuredContent: { again: true } },
    });
    expect(fake.errors).toEqual([]);
  });

  test("a JSON-RPC error with an error status is the modern server's answer", async () => {
    const error = { code: -32601, message: "no such method" };
    const json = { jsonrpc: "2.0", id: "$id", error };
    const on = [{ when: { tool: "echo" }, do: [{ http: { status: 404, json } }] }];
    const fake = await fakeHttp({ versions: "modern", on });
    const { call } = await open(fake.url, "modern");
    expect(await call("echo")).toEqual({ error });
  });

  test("-32001 with another message, or a 400 about something else, is not a lost session", async () => {
    const on = [
      { when: { tool: "echo", nth: 1 }, do: [{ error: { code: -32001, message: "Request timed out" } }] },
      { when: { tool: "echo", nth: 2 }, do: [{ http: { status: 400, body: "Bad Request: no name" } }] },
    ];
    const fake = await fakeHttp({ versions: "legacy", on });
    const { call } = await open(fake.url);
    expect(await call("echo")).toMatchObject({ error: { code: -32001 } });
    expect(await failure(call("echo"))).toMatchObject({ code: "unexpected-response", data: { status: 400 } });
  });
});

describe("M20 event streams", () => {
  const spellings: [string, string, (number | number[])?][] = [
    ["cut after every byte", `: ping\nid: ä\n${event.replace("[]", '[{"type":"text","text":"ü€😀"}]')}`, 1],
    ["CR only", `event: message\r${event.replaceAll("\n", "\r")}`],
    ["CRLF cut inside", event.replaceAll("\n", "\r\n"), 1],
    [
      "data over several lines",
      'data: {"jsonrpc":"2.0",\ndata:"id":$id,\ndata: "result":{"content":[]}}\n\n',
    ],
    ["a byte order mark", `\uFEFF${event}`],
    [
      "other events, comments, garbage and retries around it",
      `retry: 0\nretry: x\n: c\n\nevent: ping\ndata: 1\n\ndata: {nonsense\n\nid: a\u0000b\nfoo\n${event}`,
    ],
    [
      "a batch",
      'data: [{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}},{"jsonrpc":"2.0","id":$id,"result":{"content":[]}}]\n\n',
    ],
  ];
  test.each(spellings)("%s", async (_name, body, chunkBytes) => {
    const step: Step = { ...sse(body), ...(chunkBytes !== undefined && { chunkBytes }) };
    const fake = await fakeHttp({ versions: "legacy", on: [{ when: { tool: "echo" }, do: [step] }] });
    const { call } = await open(fake.url);
    expect(await call("echo")).toMatchObject({ result: { content: expect.any(Array) as unknown[] } });
  });

  test("a broken legacy stream is resumed after its last event, and the call is not repeated", async () => {
    const on = [
      {
        when: { tool: "echo" },
        do: [{ progress: 1 }, { drop: "reset" as const }, { default: true as const }],
      },
    ];
    const fake = await fakeHttp({ versions: "legacy", responses: "sse", resumable: true, retryMs: 20, on });
    const { call } = await open(fake.url);
    expect(await call("echo", { x: 1 })).toMatchObject({ result: { structuredContent: { x: 1 } } });
    const resumed = fake.received.filter(
      ({ method, headers }) => method === "GET" && headers["last-event-id"] !== undefined,
    );
    expect(resumed.length).toBeGreaterThan(0);
    expect(fake.received.filter(({ message }) => message?.["method"] === "tools/call")).toHaveLength(1);
  });

  test("a stream that cannot be resumed ends the call, not its session", async () => {
    const on = [
      { when: { tool: "echo" }, do: [sse("id: 1\nretry: 10\ndata:\n\n")] },
      { when: { http: "GET" as const, from: 2 }, do: [{ http: { status: 404 } }] },
    ];
    const fake = await fakeHttp({ versions: "legacy", on });
    const { call } = await open(fake.url);
    const error = await failure(call("echo"));
    expect(error.code).toBe("connection-lost");
    expect(error.data).toEqual({ sent: true });
  });

  test("a cancelled call stops resuming", async () => {
    const on = [
      { when: { tool: "echo" }, do: [sse("id: 1\nretry: 0\ndata:\n\n")] },
      { when: { http: "GET" as const, from: 2 }, do: [sse(": nothing yet\n\n")] },
    ];
    const fake = await fakeHttp({ versions: "legacy", on });
    const { call, transport } = await open(fake.url);
    const resumes = () => fake.received.filter(({ headers }) => headers["last-event-id"] === "1").length;
    const controller = new AbortController();
    const pending = failure(call("echo", {}, { signal: controller.signal }));
    await until(() => resumes() >= 2);
    controller.abort();
    expect((await pending).code).toBe("call-cancelled");
    await transport.close();
    const after = resumes();
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(resumes()).toBe(after);
  });
});

describe("M20 compressed answers", () => {
  const kinds = { gzip: gzipSync, br: brotliCompressSync, deflate: deflateSync };
  test.each(Object.keys(kinds) as (keyof typeof kinds)[])("%s", async (encoding) => {
    const { origin } = await plainHttp((request, response) => {
      let body = "";
      request.on("data", (chunk: Buffer) => (body += chunk.toString()));
      request.on("end", () => {
        const { id } = JSON.parse(body) as { id: string };
        response.writeHead(200, { "content-type": "application/json", "content-encoding": encoding });
        response.end(kinds[encoding](JSON.stringify({ jsonrpc: "2.0", id, result: { encoding } })));
      });
    });
    const { request: ask } = await openBare(`${origin}/mcp`);
    expect(await ask("tools/list")).toEqual({
      result: { encoding },
    });
  });
});

describe("M20 the handshake", () => {
  test.each([
    ["with a space", "a b"],
    ["of 8 kB", "x".repeat(8192)],
    ["beyond ASCII", "s\u00e9ance"],
  ])("a session id %s is refused", async (_name, id) => {
    const fake = await fakeHttp({ versions: "legacy", sessions: [id] });
    const error = await failure(open(fake.url));
    expect(error).toMatchObject({
      code: "protocol-error",
      message: expect.stringMatching(/session id/) as string,
    });
    expect(fake.received.every(({ headers }) => headers["mcp-session-id"] === undefined)).toBe(true);
  });

  test("an HTML page instead of a handshake is quoted in the error", async () => {
    const { origin } = await plainHttp((_request, response) =>
      response.setHeader("content-type", "text/html").end("<h1>Hi</h1>\n"),
    );
    const error = await failure(open(`${origin}/mcp`));
    expect(error).toMatchObject({
      code: "unexpected-response",
      message: expect.stringMatching(/HTTP 200, text\/html: <h1>Hi<\/h1>/) as string,
    });
    expect(shouldFallBackToSse(error)).toBe(false);
  });

  test.each([
    [400, true],
    [404, true],
    [405, true],
    [406, true],
    [415, true],
    [401, false],
    [403, false],
    [500, false],
    [503, false],
  ])("HTTP %d to the first request: older transport %s", async (status, expected) => {
    const { origin } = await plainHttp((_request, response) => response.writeHead(status).end("no"));
    expect(shouldFallBackToSse(await failure(open(`${origin}/mcp`)))).toBe(expected);
    const { request: ask } = await openBare(`${origin}/mcp`);
    const error = await failure(ask("tools/list"));
    expect(shouldFallBackToSse(error)).toBe(expected);
  });

  test("a lost session does not cause a fallback to the older transport", () => {
    expect(shouldFallBackToSse(sessionLost("remote", 404))).toBe(false);
    expect(shouldFallBackToSse(undefined)).toBe(false);
  });
});
