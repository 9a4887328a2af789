import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { connect } from "node:net";
import { describe, expect, it, vi } from "vitest";
import { initialize, legacy, modern, openFront, post, send, usual } from "./open-front.ts";
import type { Sending } from "./open-front.ts";

const withoutMeta = (params: object): Partial<Sending> => ({
  body: JSON.stringify({ jsonrpc: "2.0", id: 7, method: "server/discover", params }),
});
const revisionKey = "io.modelcontextprotocol/protocolVersion";
const capabilitiesKey = "io.modelcontextprotocol/clientCapabilities";

describe("M80 a request that is not in order is refused with the protocol's own status and code", () => {
  const cases: [string, Sending, number, number | undefined][] = [
    ["broken JSON", { body: '{"jsonrpc":' }, 400, -32_700],
    [
      "invalid UTF-8",
      { body: Buffer.from('{"jsonrpc":"2.0","id":1,"method":"a","params":{"x":"\xff"}}', "latin1") },
      400,
      -32_700,
    ],
    ["no JSON-RPC", { body: '{"hello":1}' }, 400, -32_600],
    ["neither an object nor a batch", { body: "42" }, 400, -32_600],
    ["an empty batch", { body: "[]" }, 400, -32_600],
    ["a key that stands twice", { body: '{"jsonrpc":"2.0","id":1,"method":"a","method":"b"}' }, 400, -32_600],
    ["a key in another case", { body: '{"jsonrpc":"2.0","id":1,"Method":"a","method":"b"}' }, 400, -32_600],
    ["an unknown method", modern("unknown"), 404, -32_601],
    [
      "no MCP-Protocol-Version",
      modern("tools/list", {}, { "mcp-protocol-version": undefined }),
      400,
      -32_020,
    ],
    [
      "another MCP-Protocol-Version",
      modern("tools/list", {}, { "mcp-protocol-version": "2025-11-25" }),
      400,
      -32_020,
    ],
    ["no Mcp-Method", modern("tools/list", {}, { "mcp-method": undefined }), 400, -32_020],
    ["another Mcp-Method", modern("tools/list", {}, { "mcp-method": "tools/call" }), 400, -32_020],
    ["Mcp-Method in another case", modern("tools/list", {}, { "mcp-method": "TOOLS/LIST" }), 400, -32_020],
    ["no Mcp-Name", modern("prompts/get", { name: "a" }, { "mcp-name": undefined }), 400, -32_020],
    ["another Mcp-Name", modern("resources/read", { uri: "a:b" }, { "mcp-name": "a:c" }), 400, -32_020],
    [
      "an Mcp-Name with broken Base64",
      modern("prompts/get", { name: "Hello" }, { "mcp-name": "=?base64?SGVsbG8?=" }),
      400,
      -32_020,
    ],
    [
      "an unknown revision",
      {
        ...modern(
          "tools/list",
          { _meta: { [revisionKey]: "v999", [capabilitiesKey]: {} } },
          { "mcp-protocol-version": "v999" },
        ),
      },
      400,
      -32_022,
    ],
    ["no _meta", { ...modern("server/discover"), ...withoutMeta({}) }, 400, -32_602],
    [
      "no revision in _meta",
      { ...modern("server/discover"), ...withoutMeta({ _meta: { [capabilitiesKey]: {} } }) },
      400,
      -32_602,
    ],
    [
      "no capabilities in _meta",
      { ...modern("server/discover"), ...withoutMeta({ _meta: { [revisionKey]: "2026-07-28" } }) },
      400,
      -32_602,
    ],
    [
      "a modern batch",
      { ...modern("tools/list"), body: `[${String(modern("tools/list").body)}]` },
      400,
      undefined,
    ],
    [
      "an answer from a modern client",
      { ...modern("x"), body: '{"jsonrpc":"2.0","id":1,"result":{}}' },
      400,
      -32_600,
    ],
    ["a session that is missing", legacy(undefined, { id: 1, method: "tools/list" }), 400, -32_000],
    ["a session that is unknown", legacy("made-up", { id: 1, method: "tools/list" }), 404, -32_001],
    ["another media type", { ...modern("tools/list", {}, { "content-type": "text/plain" }) }, 415, -32_000],
    ["no media type", { ...modern("tools/list", {}, { "content-type": undefined }) }, 415, -32_000],
    [
      "another charset",
      { ...modern("tools/list", {}, { "content-type": "application/json; charset=latin1" }) },
      415,
      -32_000,
    ],
    ["a compressed body", { ...modern("tools/list", {}, { "content-encoding": "gzip" }) }, 415, -32_000],
    [
      "an Accept without streams",
      { ...modern("tools/list", {}, { accept: "application/json" }) },
      406,
      -32_000,
    ],
    [
      "an Accept that excludes JSON",
      { ...modern("tools/list", {}, { accept: "*/*;q=0, text/event-stream" }) },
      406,
      -32_000,
    ],
    [
      "a GET that does not accept streams",
      { method: "GET", headers: { accept: "application/json" } },
      406,
      -32_000,
    ],
    ["a GET without a session", { method: "GET" }, 400, -32_000],
    ["a DELETE without a session", { method: "DELETE" }, 400, -32_000],
    [
      "a GET of a modern client",
      { method: "GET", headers: { "mcp-protocol-version": "2026-07-28" } },
      405,
      -32_000,
    ],
    [
      "a DELETE of a modern client",
      { method: "DELETE", headers: { "mcp-protocol-version": "2026-07-28" } },
      405,
      -32_000,
    ],
    ["no token", { ...modern("tools/list", {}, { authorization: undefined }) }, 401, -32_000],
    ["another token", { ...modern("tools/list", {}, { authorization: "Bearer nothing" }) }, 401, -32_000],
    ["another scheme", { ...modern("tools/list", {}, { authorization: "Basic YTpi" }) }, 401, -32_000],
    [
      "a token in the URL",
      { ...modern("tools/list", {}, { authorization: undefined }), path: "/mcp?token=a-token-for-tests" },
      401,
      -32_000,
    ],
    ["a foreign Host", { ...modern("tools/list", {}, { host: "evil.example.com" }) }, 403, -32_000],
    [
      "a foreign Host on another route",
      { method: "GET", path: "/healthz", headers: { host: "evil.example.com" } },
      403,
      -32_000,
    ],
    [
      "a foreign Origin",
      { ...modern("tools/list", {}, { origin: "http://evil.example.com" }) },
      403,
      -32_000,
    ],
    ["the Origin null", { ...modern("tools/list", {}, { origin: "null" }) }, 403, -32_000],
    [
      "a page of another port",
      { ...modern("tools/list", {}, { origin: "http://localhost:1" }) },
      403,
      -32_000,
    ],
    ["an unknown bundle", { ...modern("tools/list"), path: "/mcp/nothing" }, 404, -32_000],
    ["an unknown path", { ...modern("tools/list"), path: "/register" }, 404, -32_000],
    ["a longer path", { ...modern("tools/list"), path: "/mcp/other/x" }, 404, -32_000],
    ["another verb", { method: "PUT" }, 405, -32_000],
    ["OPTIONS of a stranger", { method: "OPTIONS" }, 405, -32_000],
  ];

  it.each(cases)("%s", async (_name, sending, status, code) => {
    await using front = await openFront();
    const reply = await post(front.port, sending);
    expect([reply.status, reply.json.error?.code]).toEqual([status, code ?? reply.json.error?.code]);
    expect(reply.headers["access-control-allow-origin"]).toBeUndefined();
    expect(reply.text).not.toMatch(/node_modules|\/src\/|a-token-for-tests/);
  });

  it("says what would be right", async () => {
    await using front = await openFront();
    const sent = modern(
      "tools/list",
      { _meta: { [revisionKey]: "v999", [capabilitiesKey]: {} } },
      { "mcp-protocol-version": "v999" },
    );
    const wrongRevision = await post(front.port, sent);
    expect(wrongRevision.json.error?.data).toEqual({ supported: ["2026-07-28"], requested: "v999" });
    const noToken = await post(front.port, modern("tools/list", {}, { authorization: undefined }));
    expect(noToken.headers["www-authenticate"]).toBe("Bearer");
    const wrongToken = await post(front.port, modern("tools/list", {}, { authorization: "Bearer x" }));
    expect(wrongToken.headers["www-authenticate"]).toBe('Bearer error="invalid_token"');
    const wrongVerb = await post(front.port, { method: "PUT" });
    expect(wrongVerb.headers.allow).toBe("GET, POST, DELETE");
  });

  it("keeps the id of a request that is refused", async () => {
    await using front = await openFront();
    const sending = modern("tools/list", {}, { "mcp-method": "x" });
    const body = String(sending.body).replace('"id":1', '"id":12345678901234567890');
    const reply = await post(front.port, { ...sending, body });
    expect(reply.text).toContain('"id":12345678901234567890,"error"');
  });

  it("refuses a legacy revision that does not exist, and needs none", async () => {
    await using front = await openFront();
    const session = await initialize(front.port);
    const list = { id: 1, method: "tools/list" };
    const unknown = await post(front.port, legacy(session, list, { "mcp-protocol-version": "1999-01-01" }));
    expect(unknown.status).toBe(400);
    for (const version of [undefined, "2025-03-26", "2025-11-25"]) {
      const reply = await post(front.port, legacy(session, list, { "mcp-protocol-version": version }));
      expect(reply.status).toBe(200);
    }
  });
});

it.each([
  ["throws", () => fail()],
  ["rejects", async () => fail()],
] as const)(
  "M80 a dispatcher that %s takes one request down: its id can be used again",
  async (_, answer) => {
    await using front = await openFront(answer);
    const session = await initialize(front.port);
    for (let again = 0; again < 3; again++) {
      const { status } = await post(front.port, legacy(session, { id: 7, method: "tools/list" }));
      expect(status).toBe(500);
    }
    expect(front.front.held).toMatchObject({ requests: 0 });
  },
);

it("M80 a batch of which one answer cannot be written is refused once, and its other requests do no harm", async () => {
  const [first, other] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  await using front = await openFront(
    async ({ method }) => {
      if (method === "first") await first.promise;
      if (method === "other") await other.promise;
      return { result: method === "not JSON" ? { n: 1n } : {} };
    },
    { limits: { keepAliveMs: 20 } },
  );
  const session = await initialize(front.port, "2025-03-26");
  const stream = await send(front.port, {
    method: "GET",
    headers: { accept: "text/event-stream", "mcp-session-id": session },
  });
  // Behind another request on the same connection, so that the refusal has to wait for its turn.
  const pipelined = [
    legacy(session, { id: 1, method: "first" }),
    legacy(session, [
      { id: 2, method: "other" },
      { id: 3, method: "not JSON" },
    ]),
  ].map((sending) => raw(front.port, sending));
  const socket = connect(front.port, "127.0.0.1");
  let came = "";
  socket.on("data", (chunk) => (came += chunk.toString()));
  socket.write(pipelined.join(""));
  await beats(stream, 6);
  first.resolve();
  await vi.waitFor(() => expect(came.match(/HTTP\/1.1 \d+/g)).toEqual(["HTTP/1.1 200", "HTTP/1.1 500"]));
  await beats(stream, 3);
  other.resolve();
  const { status } = await post(front.port, legacy(session, { id: 4, method: "tools/list" }));
  expect(status).toBe(200);
  expect(front.front.held).toMatchObject({ requests: 0 });
  socket.destroy();
  stream.destroy();
});

/** A request as the text that is sent. */
function raw(port: number, { headers = {}, body = "" }: Sending): string {
  const all = { ...usual, ...headers, host: `127.0.0.1:${port}`, "content-length": String(body.length) };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
  return `POST /mcp HTTP/1.1\r\n${lines.join("\r\n")}\r\n\r\n${body.toString()}`;
}

/** Resolves when a stream has been kept alive so many times. */
async function beats(stream: IncomingMessage, count: number): Promise<void> {
  for (let left = count; left > 0; left--) await once(stream, "data");
}

function fail(): never {
  throw new Error("on purpose");
}
