import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client, SSEClientTransport, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import { afterEach, describe, expect, test } from "vitest";
import {
  type FakeHttp,
  fakeStdio,
  LEGACY_REVISIONS,
  MODERN_REVISIONS,
  readFakeLog,
  type Revision,
  type Script,
  startFakeHttp,
  type Step,
} from "./fake/index.ts";

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** For what must happen, however busy the machine is. */
const patience = { timeout: 20_000 };

type Way = "stdio" | "http" | "sse";
type Mode = "legacy" | "modern" | "auto";

async function startHttp(script: Script = {}): Promise<FakeHttp> {
  const fake = await startFakeHttp(script);
  closing.push(async () => {
    await fake.close();
    expect(fake.errors).toEqual([]);
  });
  return fake;
}

async function connect(way: Way, script: Script, mode: Mode, fake?: FakeHttp): Promise<Client> {
  const client = new Client(
    { name: "test", version: "1" },
    {
      capabilities: { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} },
      versionNegotiation: { mode: mode === "modern" ? { pin: "2026-07-28" } : mode },
    },
  );
  client.setRequestHandler("elicitation/create", async () => ({
    action: "accept",
    content: { name: "Ada" },
  }));
  client.setRequestHandler("sampling/createMessage", async () => ({
    model: "m",
    role: "assistant",
    content: { type: "text", text: "hi" },
  }));
  client.setRequestHandler("roots/list", async () => ({ roots: [{ uri: "file:///here" }] }));
  if (way === "stdio") {
    await client.connect(new StdioClientTransport(fakeStdio(script)));
  } else {
    const { url, sseUrl } = fake ?? (await startHttp(script));
    await client.connect(
      way === "http"
        ? new StreamableHTTPClientTransport(new URL(url))
        : new SSEClientTransport(new URL(sseUrl)),
    );
  }
  closing.push(() => client.close());
  return client;
}

async function streamIsOpen(fake: FakeHttp): Promise<void> {
  await expect.poll(() => fake.received.filter(({ method }) => method === "GET"), patience).toHaveLength(1);
}

async function call(client: Client, name: string, args: Record<string, unknown> = {}): Promise<unknown> {
  const { structuredContent, content } = await client.callTool({ name, arguments: args });
  return structuredContent ?? content;
}

const revisions: Revision[] = [...LEGACY_REVISIONS, ...MODERN_REVISIONS];
const ways: { way: Way; mode: Mode; script: Script }[] = revisions.flatMap((revision) => {
  const mode: Mode = revision === "2026-07-28" ? "modern" : "legacy";
  const script: Script = { versions: [revision] };
  return [
    { way: "stdio" as const, mode, script },
    { way: "http" as const, mode, script },
    { way: "http" as const, mode, script: { ...script, responses: "sse" as const } },
    { way: "http" as const, mode, script: { ...script, sessions: false } },
    ...(mode === "legacy" ? [{ way: "sse" as const, mode, script }] : []),
  ];
});

/** One way into each transport and era. */
const doors: { way: Way; mode: Mode }[] = [
  { way: "stdio", mode: "legacy" },
  { way: "stdio", mode: "modern" },
  { way: "http", mode: "legacy" },
  { way: "http", mode: "modern" },
  { way: "sse", mode: "legacy" },
];

describe("M20 M21 the official client understands the fake", () => {
  test.each(ways)("$way $script", async ({ way, mode, script }) => {
    const client = await connect(way, script, mode);
    expect(client.getNegotiatedProtocolVersion()).toBe(script.versions?.[0]);
    expect(client.getServerVersion()).toMatchObject({ name: "fake" });
    const { tools } = await client.listTools();
    expect(tools.map((tool) => tool.name)).toContain("echo");
    expect(await call(client, "echo", { text: "héllo" })).toEqual({ text: "héllo" });
    expect(await call(client, "add", { a: 1, b: 2 })).toEqual({ sum: 3 });
    expect(await client.callTool({ name: "fail", arguments: {} })).toMatchObject({ isError: true });
    await expect(client.callTool({ name: "nothing", arguments: {} })).rejects.toThrow("not found");
    if (mode === "legacy") await client.ping();
  });

  test.each([
    { way: "stdio" as const, versions: "both" as const, era: "modern" },
    { way: "stdio" as const, versions: "legacy" as const, era: "legacy" },
    { way: "http" as const, versions: "both" as const, era: "modern" },
    { way: "http" as const, versions: "legacy" as const, era: "legacy" },
    { way: "sse" as const, versions: "legacy" as const, era: "legacy" },
  ])("a client that probes finds $versions over $way", async ({ way, versions, era }) => {
    const client = await connect(way, { versions }, "auto");
    expect(client.getProtocolEra()).toBe(era);
    expect(await call(client, "add", { a: 2, b: 2 })).toEqual({ sum: 4 });
  });

  test.each(["stdio", "http"] as const)("a modern server refuses initialize over %s", async (way) => {
    await expect(connect(way, { versions: "modern" }, "legacy")).rejects.toThrow(
      "Unsupported protocol version",
    );
  });
});

describe.each(doors)("the fake over $way, $mode", ({ way, mode }) => {
  test("asks the client", async () => {
    const client = await connect(way, {}, mode);
    const answer = { action: "accept", content: { name: "Ada" } };
    expect(await call(client, "elicit", { rounds: 2 })).toEqual({ answers: [answer, answer] });
    expect(await call(client, "sample")).toMatchObject({ content: { text: "hi" } });
    expect(await call(client, "roots")).toMatchObject({ roots: [{ uri: "file:///here" }] });
  });

  test("reports progress, hears cancellation and counts calls", async () => {
    // The official client loses progress that arrives in one piece with the answer, so the answer waits.
    const steps: Step[] = [{ progress: 3 }, { waitFor: { tool: "echo" } }, { default: true }];
    const client = await connect(way, { on: [{ when: { tool: "add" }, do: steps }] }, mode);
    const seen: number[] = [];
    const onprogress = ({ progress }: { progress: number }): number => seen.push(progress);
    const added = client.callTool({ name: "add", arguments: { a: 1, b: 2 } }, { onprogress });
    await expect.poll(() => seen, patience).toEqual([1, 2, 3]);
    await call(client, "echo");
    expect((await added).structuredContent).toEqual({ sum: 3 });
    await call(client, "progress", { steps: 2 });
    const stop = new AbortController();
    const slow = client.callTool({ name: "sleep", arguments: { ms: 600_000 } }, { signal: stop.signal });
    await expect
      .poll(() => call(client, "count"), patience)
      .toMatchObject({ tools: { sleep: 1, progress: 1, add: 1 } });
    stop.abort();
    await expect(slow).rejects.toThrow("abort");
    await expect.poll(() => call(client, "cancelled"), patience).toMatchObject({ ids: [expect.anything()] });
  });

  test("has resources, prompts, completion and pages", async () => {
    const client = await connect(way, { pageSize: 2, instructions: "Be kind" }, mode);
    expect(client.getInstructions()).toBe("Be kind");
    expect((await client.listTools()).tools.length).toBeGreaterThan(10);
    expect((await client.listResources()).resources).toHaveLength(1);
    expect((await client.listResourceTemplates()).resourceTemplates).toHaveLength(1);
    expect(await client.readResource({ uri: "fake://readme" })).toMatchObject({ contents: [{}] });
    await expect(client.readResource({ uri: "fake://none" })).rejects.toThrow("not found");
    expect((await client.listPrompts()).prompts).toHaveLength(1);
    expect(await client.getPrompt({ name: "greet", arguments: { who: "you" } })).toMatchObject({
      messages: [{}],
    });
    const ref = { type: "ref/prompt" as const, name: "greet" };
    const { completion } = await client.complete({ ref, argument: { name: "who", value: "am" } });
    expect(completion.values).toEqual(["amber", "amethyst"]);
  });

  test("tells of changes to those who listen", async () => {
    const fake = way === "stdio" ? undefined : await startHttp();
    const client = await connect(way, {}, mode, fake);
    const heard: string[] = [];
    for (const what of ["tools/list_changed", "resources/updated"] as const) {
      client.setNotificationHandler(`notifications/${what}`, () => void heard.push(what));
    }
    if (mode === "legacy") await client.subscribeResource({ uri: "fake://readme" });
    else await client.listen({ toolsListChanged: true, resourceSubscriptions: ["fake://readme"] });
    if (fake !== undefined && way === "http" && mode === "legacy") await streamIsOpen(fake);
    await call(client, "change", { what: "tools" });
    await call(client, "change", { what: "fake://other" });
    await call(client, "change", { what: "fake://readme" });
    await expect.poll(() => heard, patience).toEqual(["tools/list_changed", "resources/updated"]);
  });

  test("follows its rules", async () => {
    const text = (value: string): { content: object[] } => ({ content: [{ type: "text", text: value }] });
    const on: Script["on"] = [
      { when: { tool: "add", nth: 1 }, do: [{ delayMs: 1 }, { answer: text("scripted") }] },
      { when: { tool: "add", nth: [2] }, do: [{ error: { code: -32050, message: "no" } }] },
      {
        when: { tool: "echo" },
        do: [
          { answer: text("stray"), id: "stray" },
          { default: true, times: 2 },
        ],
      },
      { when: { tool: "late" }, do: [{ waitFor: { tool: "echo" } }, { answer: text("late") }] },
      { when: { tool: "swap" }, do: [{ set: { tools: [] } }, { answer: text("swapped") }] },
    ];
    const client = await connect(way, { on }, mode);
    expect(await call(client, "add", { a: 1, b: 1 })).toMatchObject([{ text: "scripted" }]);
    await expect(call(client, "add", { a: 1, b: 1 })).rejects.toThrow("no");
    expect(await call(client, "add", { a: 1, b: 1 })).toEqual({ sum: 2 });
    const late = call(client, "late");
    expect(await call(client, "echo", { n: 1 })).toEqual({ n: 1 });
    expect(await late).toMatchObject([{ text: "late" }]);
    await call(client, "swap");
    expect((await client.listTools()).tools).toEqual([]);
  });
});

/** Sends lines to a stdio fake and returns what came back until it left. */
async function talk(script: Script, ...lines: object[]): Promise<{ out: string; err: string; end: unknown }> {
  const { command, args, env } = fakeStdio(script);
  const child = spawn(command, args, { env, stdio: "pipe" });
  const out: Buffer[] = [];
  const err: Buffer[] = [];
  child.stdout.on("data", (chunk: Buffer) => out.push(chunk));
  child.stderr.on("data", (chunk: Buffer) => err.push(chunk));
  child.stdin.on("error", () => {});
  child.stdin.write(lines.map((line) => `${JSON.stringify({ jsonrpc: "2.0", ...line })}\n`).join(""));
  const [code, signal] = (await once(child, "close")) as [number | null, string | null];
  return { out: Buffer.concat(out).toString(), err: Buffer.concat(err).toString(), end: code ?? signal };
}

describe("faults over stdio", () => {
  const ping = { id: 1, method: "ping" };
  const bye = { id: 2, method: "bye" };
  const onPing = (...steps: Step[]): Script => ({
    on: [
      { when: { method: "ping" }, do: steps },
      { when: { method: "bye" }, do: [{ exit: 9 }] },
    ],
  });
  const pong = '{"jsonrpc":"2.0","id":1,"result":{}}';
  const end = { exit: 0 };

  test.each<[string, Script, string, unknown]>([
    ["leaves at once", { start: [{ raw: "boom\n", to: "stderr" }, { exit: 3 }] }, "", 3],
    ["dies by a signal", { start: [{ exit: "SIGKILL" }] }, "", "SIGKILL"],
    [
      "shows a banner",
      { start: [{ raw: "hello\n", times: 2 }], ...onPing({ default: true }, end) },
      `hello\nhello\n${pong}\n`,
      0,
    ],
    ["says half and dies", onPing({ default: true, cut: 0.5 }, { exit: 1 }), pong.slice(0, 18), 1],
    [
      "answers under another id",
      onPing({ default: true, id: { flip: true } }, end),
      `${pong.replace("1", '"1"')}\n`,
      0,
    ],
    [
      "says both result and error",
      onPing({ message: { id: "$id", result: {}, error: {} } }, end),
      '{"id":1,"result":{},"error":{}}\n',
      0,
    ],
    [
      "writes bytes in pieces",
      onPing({ raw: '\ufeff{"id":$id}\r\n', chunkBytes: 1 }, end),
      '\ufeff{"id":1}\r\n',
      0,
    ],
    [
      "closes stdout and lives",
      onPing({ raw: "x" }, { close: "output" }, { default: true }, { exit: 4 }),
      "x",
      4,
    ],
    ["ends lines its own way", { lineEnd: "\r\n", ...onPing({ default: true }, end) }, `${pong}\r\n`, 0],
  ])("%s", async (_name, script, out, end) => {
    expect(await talk({ versions: "legacy", ...script }, ping)).toMatchObject({ out, end });
  });

  test("stays silent", async () => {
    expect(await talk(onPing(), ping, bye)).toEqual({ out: "", err: "", end: 9 });
  });

  test("floods end at the limits", async () => {
    const flood = onPing({ raw: "0123456789\n", to: "stderr", times: "forever" }, { exit: 0 });
    const { err } = await talk({ ...flood, limits: { bytes: 1100 } }, ping);
    expect(err.length).toBe(1100);
  });

  test("a log keeps what was received", async () => {
    const folder = await mkdtemp(join(tmpdir(), "fake-"));
    closing.push(() => rm(folder, { recursive: true }));
    const log = join(folder, "log.jsonl");
    await talk({ log, ...onPing() }, ping, bye);
    expect(readFakeLog(log).map(({ event }) => event)).toEqual(["start", "received", "received", "exit"]);
  });

  test("a misspelt step is refused", async () => {
    await expect(startFakeHttp({ start: [{ anwser: {} } as never] })).rejects.toThrow("not understood");
  });
});

/** Posts one message without any client. */
function post(fake: FakeHttp, message: object, headers: object = {}): Promise<Response> {
  return fetch(fake.url, requestOf(message, headers));
}

function requestOf(message: object, headers: object): RequestInit {
  const accept = "application/json, text/event-stream";
  const all = { "content-type": "application/json", accept, connection: "close", ...headers };
  const given = Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return {
    method: "POST",
    headers: given,
    body: JSON.stringify({ jsonrpc: "2.0", ...message }),
    redirect: "manual",
  };
}

describe("HTTP as the official server speaks it", () => {
  test("legacy: sessions begin, are asked for, end and are lost", async () => {
    const fake = await startHttp({ versions: "legacy", sessions: ["first"] });
    const hello = { id: 1, method: "initialize", params: { protocolVersion: "2025-06-18" } };
    const first = await post(fake, hello);
    expect(first.headers.get("mcp-session-id")).toBe("first");
    const other = (await post(fake, hello)).headers.get("mcp-session-id") ?? "";
    const ping = { id: 2, method: "ping" };
    expect((await post(fake, ping)).status).toBe(400);
    expect((await post(fake, ping, { "mcp-session-id": "unknown" })).status).toBe(404);
    expect((await post(fake, ping, { "mcp-session-id": "first" })).status).toBe(200);
    expect((await post(fake, ping, { "mcp-session-id": "first", accept: "*/*" })).status).toBe(406);
    expect(
      (await post(fake, ping, { "mcp-session-id": "first", "mcp-protocol-version": "1999-01-01" })).status,
    ).toBe(400);
    await fetch(fake.url, { method: "DELETE", headers: { "mcp-session-id": "first" } });
    expect((await post(fake, ping, { "mcp-session-id": "first" })).status).toBe(404);
    expect(fake.sessions).toEqual([other]);
    await fake.restart();
    // A pooled socket of before may be found dead only when it is used.
    const again = () => post(fake, ping, { "mcp-session-id": other });
    expect((await again().catch(again)).status).toBe(404);
    expect(fake.received.map(({ method }) => method)).toContain("DELETE");
  });

  test("modern: answers are those of the official server, down to the error data", async () => {
    const fake = await startHttp({ versions: "modern" });
    const official = createMcpHandler(officialServer, { legacy: "reject" });
    closing.push(() => official.close());
    const version = "io.modelcontextprotocol/protocolVersion";
    const _meta = { [version]: "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {} };
    const future = { ..._meta, [version]: "2027-01-01" };
    const fail = { name: "fail", arguments: {}, _meta };
    const hello = {
      protocolVersion: "2025-06-18",
      capabilities: {},
      clientInfo: { name: "a", version: "1" },
    };
    const listen = { notifications: {}, _meta };
    const cases: [method: string | undefined, params: object | undefined, headers?: object, id?: number][] = [
      ["server/discover", { _meta }],
      ["tools/call", fail, { "mcp-name": "fail" }],
      ["tools/call", fail, { "mcp-name": "=?base64?ZmFpbA==?=" }],
      ["tools/call", fail, { "mcp-name": "=?base64?ZmFpbA?=" }],
      ["tools/call", fail, { "mcp-name": "other" }],
      ["tools/call", fail],
      ["tools/call", { ...fail, name: "none" }, { "mcp-name": "none" }],
      ["tools/list", { _meta }, { "mcp-protocol-version": undefined }],
      ["tools/list", { _meta }, { "mcp-protocol-version": "2027-01-01" }],
      ["tools/list", { _meta: future }, { "mcp-protocol-version": "2027-01-01" }],
      ["tools/list", { _meta }, { "mcp-method": undefined }],
      ["tools/list", { _meta }, { "mcp-method": "tools/call" }],
      ["tools/list", { _meta: { [version]: "2026-07-28" } }],
      ["tools/list", { _meta: {} }],
      ["tools/list", {}],
      ["tools/list", undefined, { "mcp-protocol-version": undefined }],
      ["initialize", hello],
      ["initialize", hello, { "mcp-protocol-version": undefined }],
      ["ping", { _meta }],
      ["subscriptions/listen", listen],
      ["subscriptions/listen", { _meta }],
      ["notifications/cancelled", { requestId: 7 }, {}, 0],
      [undefined, undefined],
    ];
    for (const [method, params, headers, id = 1] of cases) {
      const message = { ...(id > 0 && { id }), method, params, ...(method === undefined && { result: {} }) };
      const all = { "mcp-protocol-version": "2026-07-28", "mcp-method": method, ...headers };
      const theirs = await official.fetch(new Request(fake.url, requestOf(message, all)));
      const ours = await post(fake, message, all);
      expect(await told(ours), `${method} ${JSON.stringify(headers)}`).toEqual(await told(theirs));
    }
    expect((await fetch(fake.url)).status).toBe(405);
    expect((await fetch(fake.sseUrl, { method: "POST" })).status).toBe(405);
  });
});

function officialServer(): McpServer {
  const listChanged = true;
  const lists = {
    tools: { listChanged },
    resources: { listChanged, subscribe: true },
    prompts: { listChanged },
  };
  const server = new McpServer(
    { name: "fake", version: "1.0.0" },
    { capabilities: { ...lists, completions: {}, logging: {} } },
  );
  const content = [{ type: "text" as const, text: "failed on purpose" }];
  server.registerTool("fail", {}, async () => ({ content, isError: true }));
  return server;
}

async function told(response: Response): Promise<unknown> {
  const type = response.headers.get("content-type")?.split(";")[0];
  const lines = (await response.text()).split("\n").filter((line) => line.includes("{"));
  const messages = lines.map((line): unknown => JSON.parse(line.replace("data: ", "")));
  return { status: response.status, type, messages };
}

describe("faults over HTTP", () => {
  const ping = { id: 1, method: "ping" };
  const onPing = (...steps: Step[]): Promise<FakeHttp> =>
    startHttp({ versions: "legacy", sessions: false, on: [{ when: { method: "ping" }, do: steps }] });

  test("answers anything", async () => {
    const headers = { location: "http://127.0.0.1:1/", "retry-after": "2" };
    const fake = await onPing({ http: { status: 307, headers, json: { id: "$id" } } });
    const response = await post(fake, ping);
    expect([response.status, response.headers.get("retry-after")]).toEqual([307, "2"]);
    expect(await response.json()).toEqual({ id: 1 });
    fake.set({
      on: [
        { when: { http: "POST" }, do: [{ raw: "HTTP/1.1 418 Tea\r\n\r\n", to: "socket" }, { drop: "fin" }] },
      ],
    });
    expect((await post(fake, ping)).status).toBe(418);
  });

  test.each<[string, Step[]]>([
    ["cuts a body", [{ default: true, cut: 0.5 }, { drop: "fin" }]],
    ["resets the connection", [{ default: true, cut: 0.5 }, { drop: "reset" }]],
    ["promises too much", [{ http: { headers: { "content-length": "99" }, body: "short" } }]],
    ["goes away", [{ exit: 0 }]],
  ])("%s", async (_name, steps) => {
    const fake = await onPing(...steps);
    await expect(post(fake, ping).then((response) => response.text())).rejects.toThrow(
      /fetch failed|terminated/,
    );
    await fake.restart();
    fake.set({ on: [] });
    expect((await post(fake, ping)).status).toBe(200);
  });

  test("sends a small body that is large inside", async () => {
    const fake = await onPing({ http: { body: { bomb: "gzip", bytes: 5_000_000 } } });
    const response = await post(fake, ping);
    expect(Number(response.headers.get("content-length"))).toBeLessThan(10_000);
    expect((await response.arrayBuffer()).byteLength).toBe(5_000_000);
  });

  test("writes event streams byte by byte", async () => {
    const head: Step = { http: { contentType: "text/event-stream", open: true } };
    const event = 'data: {"id":$id,\rdata: "result":{}}\r\r';
    const fake = await onPing(head, { raw: `: hi\r${event}`, chunkBytes: 1 }, { close: "output" });
    expect(await (await post(fake, ping)).text()).toBe(`: hi\r${event.replace("$id", "1")}`);
  });

  test("a dropped stream can be resumed", async () => {
    const fake = await startHttp({
      versions: "legacy",
      resumable: true,
      retryMs: 1,
      on: [
        {
          when: { tool: "add" },
          do: [{ progress: 1 }, { drop: "fin" }, { waitFor: { http: "GET", nth: 2 } }, { default: true }],
        },
      ],
    });
    const client = await connect("http", {}, "legacy", fake);
    await streamIsOpen(fake);
    const seen: unknown[] = [];
    const params = { name: "add", arguments: { a: 1, b: 2 } };
    const result = await client.callTool(params, { onprogress: (progress) => seen.push(progress) });
    expect(result.structuredContent).toEqual({ sum: 3 });
    expect(seen).toHaveLength(1);
    expect(fake.received.at(-1)?.headers["last-event-id"]).toMatch(/:1$/);
  });

  test("HTTP+SSE: posts fail, and the stream says anything", async () => {
    const garbage: Step = { raw: "data: garbage\n\n" };
    const fake = await startHttp({
      on: [
        { when: { http: "GET", path: "/sse" }, do: [{ default: true }, garbage] },
        { when: { tool: "add", nth: 1 }, do: [{ http: { status: 500, body: "oh" } }] },
        { when: { tool: "add", nth: 2 }, do: [garbage, { default: true }] },
      ],
    });
    const client = await connect("sse", {}, "legacy", fake);
    await expect(call(client, "add")).rejects.toThrow("500");
    expect(await call(client, "add", { a: 1, b: 2 })).toEqual({ sum: 3 });
  });

  test("a request may ask anything, and hears the answer", async () => {
    const ask: Step = { request: { method: "ping" } };
    const fake = await startHttp({ on: [{ when: { tool: "add" }, do: [ask, { default: true }] }] });
    const client = await connect("http", {}, "legacy", fake);
    expect(await call(client, "add", { a: 1, b: 2 })).toEqual({ sum: 3 });
    expect(fake.received.map(({ message }) => message)).toContainEqual({
      jsonrpc: "2.0",
      id: "fake-1",
      result: {},
    });
  });

  test("a closed fake leaves no connection", async () => {
    const fake = await startFakeHttp();
    const client = await connect("http", {}, "legacy", fake);
    expect(fake.connections).toBeGreaterThan(0);
    await fake.close();
    await expect.poll(() => fake.connections, patience).toBe(0);
    await expect(call(client, "add")).rejects.toThrow("fetch failed");
  });
});
