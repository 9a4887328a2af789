import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { chmod, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ErrorCode, Hub, PlugboardError, ServerConfig } from "../../src/index.ts";
import { type FakeHttp, fakeStdio, type Script, type Step, type When } from "../fixtures/fake/index.ts";
import {
  add,
  call,
  type CallOptions,
  failure,
  openFake,
  openFolder,
  openHub,
  openLogged,
  report,
  sum,
  toolNames,
} from "./hub-fixture.ts";
import { selfSigned } from "../fixtures/self-signed.ts";
import { isAlive, until } from "./stdio-fixture.ts";

/** What a row may use. `it` is the faulty server. */
interface Stage {
  hub: Hub;
  fake: FakeHttp;
  pids(): number[];
}

interface Fault {
  /** The row of the fault table, and the fault in words. */
  row: string;
  over?: "stdio" | "http" | "sse";
  script?: Script;
  config?: ServerConfig;
  options?: Parameters<typeof openHub>[1];
  /** The action that triggers the fault. Default: `add`. */
  act?(stage: Stage): Promise<unknown>;
  /** The expected error code; without one the action must succeed. */
  code?: ErrorCode | ErrorCode[];
  says?: RegExp;
  /** Checks afterwards. */
  after?(stage: Stage): unknown;
  /** False if the fault is in the configuration. */
  heals?: false;
  /** A flood: how much memory may be in use afterwards. Such rows run alone. */
  growthMb?: number;
}

const on = (when: When, ...steps: Step[]): Script => ({ on: [{ when, do: steps }] });
const legacyOn = (when: When, ...steps: Step[]): Script => ({ versions: "legacy", ...on(when, ...steps) });
const first = { tool: "add", nth: 1 };
const ok: Step = { default: true };
const text = (value: string) => ({ content: [{ type: "text", text: value }] });
const quick: CallOptions = { timeoutMs: 400, maxTimeoutMs: 400 };

async function play(fault: Fault): Promise<void> {
  const { script = {}, over = "stdio", config, code, says } = fault;
  await using fake = await openFake(over === "stdio" ? {} : script);
  await using folder = await openFolder();
  const path = join(folder.path, "script.json");
  await using logged = await openLogged();
  const { args = [], ...program } = logged.entry as ServerConfig;
  const log = (JSON.parse(args[1] ?? "{}") as Script).log ?? "";
  const write = (next: Script) => writeFile(path, JSON.stringify({ ...next, log }));
  await write(script);
  const entries: Record<string, ServerConfig> = {
    stdio: { ...program, args: [args[0] ?? "", path] },
    http: { url: fake.url },
    sse: { type: "sse", url: fake.sseUrl },
  };
  const replaced = config?.command !== undefined || config?.url !== undefined;
  const entry = replaced ? config : { ...entries[over], ...config };
  await using hub = await openHub({ it: entry, healthy: { url: healthy.url } }, fault.options);
  const stage = { hub, fake, pids: logged.pids };

  expect(await add(hub, "healthy")).toBe(sum);
  const before = await memory();
  const act = (fault.act ?? (({ hub }) => add(hub, "it").then((answer) => expect(answer).toBe(sum))))(stage);
  const outcome = (code === undefined ? act.then(() => undefined) : failure(act)) as Promise<PlugboardError>;
  const settled = outcome.then(
    () => false,
    () => false,
  );
  do expect(await add(hub, "healthy")).toBe(sum);
  while (await Promise.race([settled, new Promise((resolve) => setTimeout(resolve, 20, true))]));
  const error = await outcome;
  if (code !== undefined) {
    expect([code].flat(), error.stack ?? String(error)).toContain(error.code);
    expect(error.server).toBe("it");
    if (says) expect(error.message).toMatch(says);
  }
  const { state, message = "", hint } = report(hub, "it");
  if (!["connected", "degraded", "ready", "connecting"].includes(state)) {
    expect(message).toContain('"it"');
    expect(hint).toBeTruthy();
  }
  await fault.after?.(stage);
  if (fault.growthMb !== undefined)
    expect((await memory()) - before).toBeLessThan(fault.growthMb * 1024 * 1024);
  expect(await add(hub, "healthy")).toBe(sum);

  if (fault.heals === false) return;
  await write({});
  fake.set({ on: [], start: [], responses: "json", sessions: true, versions: "both" });
  await hub.reconnect({ failedOnly: true });
  expect(await add(hub, "it")).toBe(sum);
  expect(report(hub, "it").state).toBe("connected");
}

/** Without it, the result on a busy machine depends on when garbage is collected. */
function collectGarbage(): void {
  setFlagsFromString("--expose-gc");
  (runInNewContext("gc") as () => void)();
}

/** The memory in use, without garbage. */
async function memory(): Promise<number> {
  await new Promise((resolve) => setImmediate(resolve));
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

let healthy: FakeHttp & AsyncDisposable;
let files: { path: string } & AsyncDisposable;
let self: FakeHttp & AsyncDisposable;

beforeAll(async () => {
  healthy = await openFake();
  files = await openFolder();
  await writeFile(join(files.path, "plain"), "#!/bin/sh\n");
  await writeFile(join(files.path, "lost"), "#!/nonexistent/interpreter\n");
  await chmod(join(files.path, "lost"), 0o755);
  self = await openFake({}, { tls: selfSigned });
});

afterAll(async () => {
  for (const one of [healthy, files, self]) await one[Symbol.asyncDispose]();
});

const initialize = (result: unknown): Script =>
  legacyOn({ method: "initialize" }, { message: { jsonrpc: "2.0", id: "$id", result } });
const decent = { protocolVersion: "2025-06-18", capabilities: {}, serverInfo: { name: "x", version: "1" } };

const starts: Fault[] = [
  {
    row: "A1 command not found",
    config: { command: "plugboard-no-such-program" },
    code: "spawn-failed",
    says: /plugboard-no-such-program/,
    heals: false,
  },
  {
    row: "A2 not executable",
    config: { command: "$FILES/plain" },
    code: "spawn-failed",
    says: /plain/,
    heals: false,
  },
  {
    row: "A2 bad interpreter",
    config: { command: "$FILES/lost" },
    code: "spawn-failed",
    says: /lost/,
    heals: false,
  },
  {
    row: "A3 exits 0 at once",
    script: { start: [{ raw: "no licence here\n", to: "stderr" }, { exit: 0 }] },
    code: "server-exited",
    says: /code 0.*no licence here/,
  },
  {
    row: "A5 killed by a signal at the start",
    script: { start: [{ exit: "SIGSEGV" }] },
    code: "server-exited",
    says: /SIGSEGV/,
  },
  {
    row: "A6 hangs",
    script: { start: [{ raw: "waiting for a door\n", to: "stderr" }, { silent: true }] },
    config: { startupTimeoutMs: 4_000 },
    code: "start-timeout",
    says: /4 s/,
    after: ({ pids }) => until(() => !pids().some(isAlive), "the group is gone"),
  },
  {
    row: "A7 silence on the probe, then a refusal",
    script: {
      on: [
        { when: { method: "server/discover" }, do: [] },
        { when: { method: "initialize" }, do: [{ error: { code: -32000, message: "go away" } }] },
      ],
    },
    config: { startupTimeoutMs: 5_000 },
    code: "protocol-error",
    says: /go away/,
  },
  {
    row: "A9 initialize without capabilities",
    script: initialize({ ...decent, capabilities: undefined }),
    code: "protocol-error",
  },
  {
    row: "A9 initialize with a null serverInfo",
    script: initialize({ ...decent, serverInfo: null }),
    code: "protocol-error",
  },
  {
    row: "A9 initialize with a number for a version",
    script: initialize({ ...decent, protocolVersion: 1 }),
    code: "protocol-error",
  },
  { row: "A9 initialize with a string for a result", script: initialize("hello"), code: "protocol-error" },
  {
    row: "A9 initialize with a version of nobody",
    script: initialize({ ...decent, protocolVersion: "1999-01-01" }),
    code: "version-unsupported",
    says: /1999-01-01/,
  },
];

const proto =
  '{"jsonrpc":"2.0","id":$id,"result":{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"content":[{"type":"text","text":"odd"}],"content":[{"type":"text","text":"twice"}]}}\n';
const broken = Buffer.concat([
  Buffer.from('{"jsonrpc":"2.0","id":"p4","result":{"content":[{"type":"text","text":"a'),
  Buffer.from([0xff, 0xc3]),
  Buffer.from('z"}]}}\n'),
]).toString("base64");

const bytes: Fault[] = [
  {
    row: "B14 a banner before the first message",
    script: { start: [{ raw: "Welcome!\n{ not json\n[1,2\n" }] },
    after: ({ hub }) => expect(report(hub, "it").skippedLines).toMatchObject({ count: 3 }),
  },
  {
    row: "B15 garbage between messages",
    script: on({ tool: "add" }, { raw: "debug: adding\n" }, ok, { raw: "}{\n" }),
    after: ({ hub }) => until(() => report(hub, "it").skippedLines?.count === 2, "both are counted"),
  },
  {
    row: "B17 a line beyond the cap",
    config: { maxLineBytes: 100_000 },
    act: ({ hub }) => call(hub, "it", "big", { bytes: 1_000_000 }),
    code: "output-too-large",
    says: /100000 bytes/,
  },
  {
    row: "B17 the same with the limit raised",
    config: { maxLineBytes: 2_000_000 },
    act: async ({ hub }) =>
      expect(await call(hub, "it", "big", { bytes: 1_000_000 })).toHaveLength(1_000_000),
  },
  {
    row: "B17 100 MB without a line end",
    script: on(first, { raw: { repeat: "x", times: 1_000_000 }, times: 100 }),
    code: "output-too-large",
    growthMb: 160,
  },
  {
    row: "B18 a result of 9.9 MB",
    act: async ({ hub }) =>
      expect(await call(hub, "it", "big", { bytes: 9_900_000 })).toHaveLength(9_900_000),
    growthMb: 160,
  },
  {
    row: "B19 invalid UTF-8 inside a string",
    script: legacyOn(first, { raw: { base64: broken } }),
    act: async ({ hub }) => {
      expect(await add(hub, "it")).toMatch(/^a\ufffd+z$/);
      expect(await add(hub, "it")).toBe(sum);
    },
  },
  {
    row: "B21 CRLF, blank lines, a BOM, NUL",
    script: { lineEnd: "\r\n", start: [{ raw: "\ufeff\r\n\r\n\n\0\n" }] },
  },
  {
    row: "B21 U+2028 inside a string",
    act: async ({ hub }) =>
      expect(await call(hub, "it", "echo", { t: "a\u2028b\u2029" })).toBe(
        JSON.stringify({ t: "a\u2028b\u2029" }),
      ),
  },
  {
    row: "B22 half a message, then exit",
    script: on(first, { default: true, cut: 0.5 }, { exit: 3 }),
    code: "server-exited",
    says: /code 3/,
  },
  {
    row: "B23 a batch",
    script: on(first, { message: [{ jsonrpc: "2.0", id: "$id", result: text("x") }] }),
    act: async ({ hub }) => expect(await add(hub, "it")).toBe("x"),
  },
  {
    row: "B25 __proto__, constructor and duplicate keys",
    script: on(first, { raw: proto }),
    act: async ({ hub }) => expect(await add(hub, "it")).toBe("twice"),
    after: () => expect(({} as { polluted?: number }).polluted).toBeUndefined(),
  },
  {
    row: "B26 an id as a number",
    script: on(first, { default: true, id: { flip: true } }),
    act: ({ hub }) => add(hub, "it", quick),
    code: "call-timeout",
    after: ({ hub }) => expect(report(hub, "it").counts.ignoredMessages).toBeGreaterThan(0),
  },
  {
    row: "B26 numbers that JavaScript cannot hold",
    script: on(first, {
      raw: '{"jsonrpc":"2.0","id":$id,"result":{"n":123456789012345678901234567890,"e":1e400,"content":[{"type":"text","text":"n"}]}}\n',
    }),
    act: async ({ hub }) => expect(await add(hub, "it")).toBe("n"),
  },
  {
    row: "B27 a flood on stderr: a million lines",
    growthMb: 64,
    script: on(first, { raw: "x\n", to: "stderr", times: 1_000_000 }, ok),
  },
  {
    row: "B27 a flood on stderr: 100 MB in one line",
    growthMb: 64,
    script: on(first, { raw: { repeat: "x", times: 1_000_000 }, to: "stderr", times: 100 }, ok),
  },
  {
    row: "B29 closes its output and lives",
    script: { ignores: ["eof"], ...on(first, { close: "output" }) },
    code: "connection-lost",
    says: /closed its output/,
    after: ({ pids }) => until(() => !pids().some(isAlive), "it is ended"),
  },
  {
    row: "B30 asks us something in the modern era",
    script: {
      versions: "modern",
      ...on(first, { request: { method: "sampling/createMessage", params: {} }, wait: false }, ok),
    },
    after: ({ hub }) => expect(report(hub, "it").counts.ignoredMessages).toBe(1),
  },
];

const inOrder = Array.from({ length: 1_000 }, (_, index) => (index * 7) % 50);

const semantics: Fault[] = [
  { row: "C31 the same answer twice", script: on(first, { default: true, times: 2 }) },
  {
    row: "C33 both result and error",
    script: on(first, {
      message: { jsonrpc: "2.0", id: "$id", result: {}, error: { code: 1, message: "x" } },
    }),
    code: "protocol-error",
    says: /tools\/call/,
  },
  {
    row: "C33 neither result nor error",
    script: on(first, { message: { jsonrpc: "2.0", id: "$id" } }),
    code: "protocol-error",
  },
  {
    row: "C33 an error without a code",
    script: on(first, { message: { jsonrpc: "2.0", id: "$id", error: "no" } }),
    code: "protocol-error",
  },
  {
    row: "C33 a result that is a list",
    script: on(first, { message: { jsonrpc: "2.0", id: "$id", result: [] } }),
    code: "protocol-error",
  },
  {
    row: "C35 a thousand answers out of order",
    act: async ({ hub }) =>
      expect(await Promise.all(inOrder.map((ms) => call(hub, "it", "sleep", { ms })))).toEqual(
        inOrder.map((ms) => `slept ${ms} ms`),
      ),
  },
  {
    row: "C37 an answer after the timeout",
    script: on(first, { waitFor: { method: "notifications/cancelled" } }, { answer: text("late") }),
    act: ({ hub }) => add(hub, "it", quick),
    code: "call-timeout",
    after: ({ hub }) => until(() => report(hub, "it").counts.lateAnswers === 1, "the late answer is counted"),
  },
  {
    row: "C38 never answers: told so, and the slot is free",
    script: on(first),
    act: ({ hub }) => add(hub, "it", quick),
    code: "call-timeout",
    says: /400 ms/,
    after: async ({ hub }) => {
      expect(report(hub, "it").counts.inFlight).toBe(0);
      expect(await call(hub, "it", "cancelled")).toMatch(/"p\d+"/);
    },
  },
  {
    row: "C39 progress for ever",
    script: on(first, { progress: "forever", everyMs: 20 }),
    act: ({ hub }) => add(hub, "it", { timeoutMs: 1_000, maxTimeoutMs: 2_000 }),
    code: "call-timeout",
    says: /longest time/,
  },
  {
    row: "C39 progress extends the deadline",
    act: async ({ hub }) =>
      expect(
        await call(
          hub,
          "it",
          "progress",
          { steps: 12, everyMs: 150 },
          { timeoutMs: 1_500, maxTimeoutMs: 60_000 },
        ),
      ).toBe("12 steps"),
  },
  {
    row: "C41 a flood of notifications",
    growthMb: 64,
    script: on(
      first,
      { notify: { method: "notifications/message", params: { level: "info", data: "x" } }, times: 20_000 },
      { notify: { method: "notifications/unheard-of" }, times: 20_000 },
      ok,
    ),
  },
  {
    row: "C42 every list says that it changed",
    script: legacyOn(
      { method: "tools/list" },
      { notify: { method: "notifications/tools/list_changed" } },
      ok,
    ),
    act: async ({ hub }) => {
      for (let turn = 0; turn < 20; turn++) expect(await toolNames(hub, "it")).toContain("add");
    },
  },
  {
    row: "C43 cancels what nobody asked",
    script: legacyOn(
      first,
      { notify: { method: "notifications/cancelled", params: { requestId: "nope" } } },
      { notify: { method: "notifications/cancelled" } },
      ok,
    ),
  },
  {
    row: "C43 a cancellation that races with the answer",
    act: async ({ hub }) => {
      for (let turn = 0; turn < 60; turn++) {
        const abort = new AbortController();
        const answer = add(hub, "it", { signal: abort.signal }).catch((error: PlugboardError) => error.code);
        setTimeout(() => abort.abort(), turn % 4);
        expect([sum, "call-cancelled"]).toContain(await answer);
      }
      expect(report(hub, "it").counts.inFlight).toBe(0);
    },
  },
  {
    row: "C45 wants input that nobody here can give",
    script: { versions: "modern" },
    act: async ({ hub }) =>
      expect(await hub.forwardCall("it.elicit", { arguments: {} })).toMatchObject({
        error: { code: -32021 },
      }),
  },
];

const midCall: Fault[] = [
  {
    row: "E71 exits in the middle of a call",
    act: async ({ hub }) => {
      const other = failure(call(hub, "it", "sleep", { ms: 60_000 }));
      await add(hub, "it");
      const crash = call(hub, "it", "crash", { code: 5 });
      expect((await other).code).toBe("server-exited");
      return crash;
    },
    code: "server-exited",
    says: /code 5/,
  },
  {
    row: "E73 hangs in the middle of a call, others go on",
    script: on({ tool: "echo" }),
    act: async ({ hub }) => {
      const hung = failure(call(hub, "it", "echo", {}, quick));
      for (let turn = 0; turn < 20; turn++) expect(await add(hub, "it")).toBe(sum);
      expect(await hung).toMatchObject({ code: "call-timeout" });
    },
  },
  {
    row: "E74 a child holds its output after it died",
    script: on(first, { child: { ms: 600_000 } }, { exit: 4 }),
    code: "server-exited",
    says: /code 4/,
  },
  {
    row: "E79 is stopped and goes on",
    act: async ({ hub, pids }) => {
      await add(hub, "it");
      const [pid = 0] = pids();
      process.kill(pid, "SIGSTOP");
      const stopped = await failure(add(hub, "it", quick));
      process.kill(pid, "SIGCONT");
      expect(await add(hub, "it")).toBe(sum);
      throw stopped;
    },
    code: "call-timeout",
  },
];

const http = (status: number, headers: Record<string, string> = {}, body = "no"): Step => ({
  http: { status, headers, body },
});
const always = (...steps: Step[]): Script => on({ http: "POST" }, ...steps);
const counted =
  (expected: number) =>
  ({ fake }: Stage) =>
    expect(fake.received.filter(({ message }) => message?.["method"] === "tools/call")).toHaveLength(
      expected,
    );
const soon = ({ hub }: Stage) => expect(report(hub, "it").state).toBe("connected");
const limited = (value: string): Fault => ({
  row: `F89 429 with Retry-After: ${value}`,
  over: "http",
  script: on(first, http(429, { "retry-after": value })),
  act: async ({ hub }) => {
    const error = await failure(add(hub, "it"));
    const wait = error.data?.["retryAfterMs"] as number;
    expect(wait).toBeGreaterThan(0);
    expect(wait).toBeLessThanOrEqual(60_000);
    throw error;
  },
  code: "rate-limited",
  after: counted(1),
});
const stream = (...steps: Step[]): Script => ({
  on: [
    {
      when: { http: "GET", path: "/sse" },
      do: [{ http: { contentType: "text/event-stream", open: true } }, ...steps],
    },
  ],
});

const remote: Fault[] = [
  {
    row: "F81 connection refused",
    config: { url: "http://127.0.0.1:9/mcp" },
    code: "not-responding",
    says: /127\.0\.0\.1:9/,
    heals: false,
  },
  {
    row: "F81 no such name",
    config: { url: "http://no-such-host.invalid/mcp" },
    code: "not-responding",
    says: /cannot be resolved/,
    heals: false,
  },
  {
    row: "F81 a black hole",
    config: { url: "http://192.0.2.1/mcp", startupTimeoutMs: 1_000 },
    code: ["start-timeout", "not-responding"],
    heals: false,
  },
  {
    row: "F82 a self-signed certificate",
    config: { url: "$SELF" },
    code: "unexpected-response",
    says: /self-signed/,
    heals: false,
  },
  {
    row: "F83 401 without a challenge",
    over: "http",
    script: always(http(401)),
    code: "auth-required",
    after: ({ hub }) => expect(report(hub, "it").state).toBe("needs-auth"),
  },
  {
    row: "F83 401 with a challenge nobody can read",
    over: "http",
    script: always(http(401, { "www-authenticate": 'Bearer ,,,="' })),
    code: "auth-required",
  },
  {
    row: "F83 401 during a call",
    over: "http",
    script: on({ tool: "add" }, http(401)),
    code: "auth-required",
    after: ({ hub }) => expect(report(hub, "it").state).toBe("needs-auth"),
  },
  {
    row: "F83 a header of 100 kB",
    over: "http",
    script: always(http(401, { "www-authenticate": `Bearer x="${"y".repeat(100_000)}"` })),
    code: ["unexpected-response", "auth-required"],
  },
  {
    row: "F85 403 for ever",
    over: "http",
    script: always(http(403, { "www-authenticate": 'Bearer error="insufficient_scope"' })),
    code: "auth-failed",
  },
  {
    row: "F87 404 always",
    over: "http",
    script: { on: [{ when: {}, do: [http(404)] }] },
    code: "unexpected-response",
    says: /404/,
  },
  {
    row: "F87 405 always",
    over: "http",
    script: { on: [{ when: {}, do: [http(405)] }] },
    code: "unexpected-response",
    says: /405/,
  },
  {
    row: "F87 405 for GET is normal",
    over: "http",
    script: legacyOn({ http: "GET" }, http(405)),
    after: soon,
  },
  {
    row: "F87 a web page",
    over: "http",
    script: {
      on: [{ when: {}, do: [{ http: { status: 200, contentType: "text/html", body: "<h1>Hello</h1>" } }] }],
    },
    code: "unexpected-response",
    says: /text\/html/,
  },
  ...["2", "Wed, 21 Oct 2099 07:28:00 GMT", "1e9", "-1", "soon"].map(limited),
  {
    row: "F89 429 at the start",
    over: "http",
    script: always(http(429, { "retry-after": "7" })),
    code: "rate-limited",
    after: ({ hub }) => {
      const { state, retryAt = 0 } = report(hub, "it");
      expect(state).toBe("waiting");
      expect(retryAt - Date.now()).toBeGreaterThan(1_000);
    },
  },
  ...[500, 502, 503, 504].map((status): Fault => ({
    row: `F90 ${status} for a call: not repeated`,
    over: "http",
    script: on(first, http(status)),
    code: ["not-responding", "unexpected-response"],
    says: new RegExp(String(status)),
    after: counted(1),
  })),
  ...[301, 302, 303, 307, 308].map((status): Fault => ({
    row: `F91 ${status} to another origin`,
    over: "http",
    script: on(first, http(status, { location: "$HEALTHY" })),
    code: "unexpected-response",
    after: counted(1),
  })),
  {
    row: "F91 a redirect to the metadata service",
    over: "http",
    script: always(http(307, { location: "http://169.254.169.254/latest" })),
    code: "unexpected-response",
  },
  {
    row: "F91 a redirect in circles",
    over: "http",
    script: always(http(307, { location: "/mcp" })),
    code: "unexpected-response",
  },
  {
    row: "F93 a body cut at half",
    over: "http",
    script: on(first, { default: true, cut: 0.5 }, { drop: "fin" }),
    code: "connection-lost",
    after: counted(1),
  },
  {
    row: "F93 a reset before the answer",
    over: "http",
    script: on(first, { drop: "reset" }),
    code: "connection-lost",
    after: counted(1),
  },
  {
    row: "F93 a wrong length",
    over: "http",
    script: on(
      first,
      {
        http: {
          status: 200,
          contentType: "application/json",
          headers: { "content-length": "500" },
          body: "{}",
        },
        cut: 1,
      },
      { drop: "fin" },
    ),
    code: "connection-lost",
  },
  ...(["gzip", "br"] as const).map((bomb): Fault => ({
    row: `F94 a ${bomb} bomb`,
    growthMb: 64,
    over: "http",
    config: { maxLineBytes: 1_000_000 },
    script: on(first, {
      http: { status: 200, contentType: "application/json", body: { bomb, bytes: 100_000_000 } },
    }),
    code: "output-too-large",
  })),
  {
    row: "F95 events byte by byte",
    over: "http",
    script: { responses: "sse", ...on(first, { default: true, chunkBytes: 1 }) },
  },
  {
    row: "F95 events with CR only and many data lines",
    over: "http",
    script: on(
      first,
      {
        raw: 'data: {"jsonrpc":"2.0","id":$id,\rdata: "result":{"content":[{"type":"text","text":"cr"}]}}\r\r',
      },
      { close: "output" },
    ),
    act: async ({ hub }) => expect(await add(hub, "it")).toBe("cr"),
  },
  {
    row: "F95 a dropped stream in the modern era: not repeated",
    over: "http",
    script: { versions: "modern", responses: "sse", ...on(first, { progress: 1 }, { drop: "reset" }) },
    code: "connection-lost",
    after: counted(1),
  },
  {
    row: "F95 an endless event",
    growthMb: 64,
    over: "http",
    config: { maxLineBytes: 1_000_000 },
    script: on(first, { raw: "data: " }, { raw: { repeat: "x", times: 1_000_000 }, times: 50 }),
    code: "output-too-large",
  },
  ...[0, 1e12].map((retryMs): Fault => ({
    row: `F95 retry: ${retryMs}`,
    over: "http",
    script: { responses: "sse", retryMs },
  })),
  {
    row: "F97 nothing but comments for a while",
    over: "http",
    script: { responses: "sse", keepAliveMs: 10, ...on(first, { delayMs: 400 }, ok) },
  },
  {
    row: "F98 a session id with spaces",
    over: "http",
    script: { versions: "legacy", sessions: ["two words"] },
    code: ["protocol-error", "unexpected-response"],
    says: /session/,
  },
  {
    row: "F98 a session id of 8 kB",
    over: "http",
    script: { versions: "legacy", sessions: ["s".repeat(8_192)] },
    code: "protocol-error",
    says: /session id/,
  },
  {
    row: "F99 another session id in the middle",
    over: "http",
    script: { versions: "legacy", ...on(first, { headers: { "mcp-session-id": "second" } }, ok) },
    act: async ({ hub }) => {
      for (let turn = 0; turn < 3; turn++) expect(await add(hub, "it")).toBe(sum);
    },
  },
  {
    row: "F101 an endpoint on another origin",
    over: "sse",
    script: stream({ raw: "event: endpoint\ndata: http://evil.example/messages\n\n" }),
    code: "unexpected-response",
    says: /evil\.example/,
  },
  {
    row: "F101 an endpoint that is a script",
    over: "sse",
    script: stream({ raw: "event: endpoint\ndata: javascript:alert(1)\n\n" }),
    code: "unexpected-response",
  },
  {
    row: "F101 a stream that ends during the handshake",
    over: "sse",
    script: { versions: "legacy", ...on({ method: "initialize", nth: 1 }, { drop: "fin" }) },
    code: ["connection-lost", "not-responding", "unexpected-response"],
  },
  {
    row: "F97 a stream that never names its endpoint",
    over: "sse",
    config: { startupTimeoutMs: 3_000 },
    script: stream(),
    code: "start-timeout",
  },
];

/** Addresses that are known only at run time. */
function fill<T>(value: T): T {
  const texts = { $FILES: files.path, $SELF: self.url, $HEALTHY: healthy.url };
  const replace = (given: unknown): unknown => {
    if (typeof given === "string")
      return Object.entries(texts).reduce((all, [name, value]) => all.replaceAll(name, value), given);
    if (Array.isArray(given)) return given.map(replace);
    if (typeof given !== "object" || given === null || given instanceof RegExp) return given;
    return Object.fromEntries(Object.entries(given).map(([key, one]) => [key, replace(one)]));
  };
  return replace(value) as T;
}

const groups = {
  "M22 M23 faults at the start (A)": starts,
  "M20 faults in the bytes (B)": bytes,
  "M26 faults in the messages (C)": semantics,
  "M24 faults in the middle of a call (E)": midCall,
  "M20 M24 faults of remote servers (F)": remote,
};

for (const [name, faults] of Object.entries(groups)) {
  const rows = (isFlood: boolean) =>
    faults
      .filter(({ growthMb }) => (growthMb !== undefined) === isFlood)
      .map((one) => [one.row, one] as const);
  describe.concurrent(`${name}: there is exactly one clear outcome, and the other server is not affected`, () => {
    it.for(rows(false))("%s", async ([, fault]) => play(fill(fault)));
  });
  describe.runIf(rows(true).length > 0)(
    `${name}: floods change neither the outcome nor the memory use`,
    () => {
      it.for(rows(true))("%s", async ([, fault]) => play(fill(fault)));
    },
  );
}

describe("M24 the clock jumps (F103)", () => {
  it.for([-3_600_000, 3_600_000])("by %i ms while a server waits for its next attempt", async (jumpMs) => {
    await using changeable = await openFolder();
    const path = join(changeable.path, "script.json");
    await writeFile(path, JSON.stringify({ start: [{ exit: 1 }] }));
    let aheadMs = 0;
    const { args, ...program } = fakeStdio();
    await using hub = await openHub(
      { it: { ...program, args: [args[0] ?? "", path] } },
      { clock: () => Date.now() + aheadMs },
    );
    expect(await failure(add(hub, "it"))).toMatchObject({ code: "server-exited" });
    await writeFile(path, "{}");
    aheadMs = jumpMs;
    expect(await add(hub, "it")).toBe(sum);
  });
});
