import { createServer, type Socket } from "node:net";
import type { AddressInfo } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { isPlugboardError } from "../../src/errors.ts";
import { HttpClient } from "../../src/servers/transports/http/client.ts";
import { createHttpFetch } from "../../src/servers/transports/http/fetch.ts";
import { proxyFor } from "../../src/servers/transports/http/proxy.ts";
import { callTool, createTransport, fakeHttp, failure, open, plainHttp } from "./http-fixture.ts";

async function silentPort(): Promise<number> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => sockets.add(socket.on("error", () => {})));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return (server.address() as AddressInfo).port;
}

describe("M44 a server that cannot be reached is named with a next step", () => {
  test("nothing listens", async () => {
    const { lane } = createTransport("http://127.0.0.1:1/mcp");
    const error = await failure(callTool(lane, "legacy", "echo"));
    expect(error).toMatchObject({
      code: "not-responding",
      message: '"remote" cannot be reached: nothing accepts connections at 127.0.0.1:1.',
      hint: "Start the server, or check host and port of its `url`.",
      data: { sent: false, cause: "ECONNREFUSED" },
    });
  });

  test("the name does not exist", async () => {
    const { lane } = createTransport("http://no-such-host.invalid/mcp");
    const error = await failure(callTool(lane, "legacy", "echo"));
    expect(error).toMatchObject({ code: "not-responding", data: { sent: false } });
    expect(error.message).toContain("no-such-host.invalid");
  });

  test("the handshake of the SDK says the same", async () => {
    const error = await failure(open("http://127.0.0.1:1/mcp"));
    expect(isPlugboardError(error, "not-responding")).toBe(true);
  });

  test("a connection that TLS never completes runs into the connect timeout", async () => {
    const port = await silentPort();
    const { lane } = createTransport(`https://127.0.0.1:${port}/mcp`, { limits: { connectTimeoutMs: 100 } });
    expect(await failure(callTool(lane, "legacy", "echo"))).toMatchObject({
      code: "not-responding",
      data: { sent: false, cause: "UND_ERR_CONNECT_TIMEOUT" },
    });
  });

  test("headers that never come, and a body that falls silent", async () => {
    const { origin } = await plainHttp((request, response) => {
      if (request.url === "/silent") return;
      response.setHeader("content-type", "application/json").write("{");
    });
    const limits = { headersTimeoutMs: 80, answerTimeoutMs: 80, bodyIdleMs: 80 };
    const client = new HttpClient({ server: "remote", url: new URL(`${origin}/mcp`), limits });
    const fetch = createHttpFetch(client);
    expect(await failure(fetch(`${origin}/silent`))).toMatchObject({
      name: "TypeError",
      cause: { code: "not-responding", message: '"remote" did not begin to answer within 80 ms.' },
    });
    expect(await failure(fetch(`${origin}/mcp`, { method: "POST", body: "{}" }))).toMatchObject({
      code: "not-responding",
      message: '"remote" fell silent for 80 ms in the middle of its answer.',
    });
    await client.close();
  });

  test("an event stream may be silent for longer than an answer", async () => {
    const script = { versions: "legacy" as const, responses: "sse" as const };
    const fake = await fakeHttp({
      ...script,
      on: [{ when: { tool: "echo" }, do: [{ progress: 1 }, { delayMs: 300 }, { default: true }] }],
    });
    const { call } = await open(fake.url, "legacy", { limits: { bodyIdleMs: 50 } });
    expect(await call("echo", { a: 1 })).toMatchObject({ result: { structuredContent: { a: 1 } } });
  });

  test.each([
    ["not a URL of the web", "ftp://example.com/mcp"],
    ["credentials inside", "https://user:sesame@example.com/mcp"],
  ])("a URL with %s is refused at once", (_name, url) => {
    expect(() => createTransport(url)).toThrow(expect.objectContaining({ code: "config-invalid" }) as Error);
  });

  test("a header with a line break is refused and not shown", async () => {
    const { lane } = createTransport("http://127.0.0.1:1/mcp", { headers: { "x-key": "a\r\nsesame: 1" } });
    const error = await failure(callTool(lane, "legacy", "echo"));
    expect(error.code).toBe("config-invalid");
    expect(JSON.stringify([error, error.message])).not.toContain("sesame");
  });

  test.each(["a\nb", "tök", "a b"])("a token that no header can carry is refused: %j", async (token) => {
    const { lane } = createTransport("http://127.0.0.1:1/mcp", {
      authProvider: { token: async () => token },
    });
    const error = await failure(callTool(lane, "legacy", "echo"));
    expect(error.code).toBe("auth-failed");
  });
});

describe("M20 sign-in code of the SDK", () => {
  test("a 401 to the lane goes once through it, and the call gets its answer", async () => {
    const tokens = ["old"];
    const fake = await fakeHttp({ versions: "legacy" });
    const { call } = await open(fake.url, "legacy", {
      authProvider: {
        token: async () => tokens.at(-1),
        onUnauthorized: async () => void tokens.push("new"),
      },
    });
    fake.set({ on: [{ when: { tool: "echo", nth: [1, 2] }, do: [{ http: { status: 401 } }] }] });
    expect(await call("echo", { a: 1 })).toMatchObject({ result: { structuredContent: { a: 1 } } });
    const sent = fake.received.filter(({ message }) => message?.["method"] === "tools/call");
    expect(sent.map(({ headers }) => headers["authorization"])).toEqual([
      "Bearer old",
      "Bearer old",
      "Bearer new",
    ]);
    expect(await call("echo", { a: 2 })).toMatchObject({ result: { structuredContent: { a: 2 } } });
    expect(fake.received.at(-1)?.headers["authorization"]).toBe("Bearer new");
  });

  test.each([
    ["a refused token", 401, "auth-failed"],
    ["a refusal", 403, "auth-failed"],
  ] as const)("%s ends after one more attempt", async (_name, status, code) => {
    const fake = await fakeHttp({ versions: "modern" });
    const { call } = await open(fake.url, "modern", {
      authProvider: { token: async () => "t", onUnauthorized: async () => {} },
    });
    fake.set({ on: [{ when: { tool: "echo" }, do: [{ http: { status } }] }] });
    expect(await failure(call("echo"))).toMatchObject({ code });
  });

  test("without a way to sign in, a login is asked for", async () => {
    const fake = await fakeHttp({ versions: "modern" });
    const { call } = await open(fake.url, "modern", { authProvider: { token: async () => "t" } });
    fake.set({ on: [{ when: { tool: "echo" }, do: [{ http: { status: 401 } }] }] });
    expect(await failure(call("echo"))).toMatchObject({ code: "auth-required" });
  });
});

describe("M05 proxies", () => {
  const proxy = "http://proxy.example:3128";
  test.each<[string, string | undefined, Record<string, string>, string | undefined]>([
    ["https://a.example/", undefined, { HTTPS_PROXY: proxy }, proxy],
    ["https://a.example/", undefined, { https_proxy: "proxy.example:3128" }, proxy],
    ["http://a.example/", undefined, { HTTPS_PROXY: proxy }, undefined],
    ["http://a.example/", undefined, { HTTP_PROXY: proxy }, proxy],
    ["http://a.example/", undefined, { ALL_PROXY: proxy }, proxy],
    ["http://a.example/", "none", { HTTP_PROXY: proxy }, undefined],
    ["http://a.example/", "http://other:1", { HTTP_PROXY: proxy, NO_PROXY: "*" }, "http://other:1"],
    ["http://127.0.0.1/", undefined, { HTTP_PROXY: proxy }, undefined],
    ["http://localhost./", undefined, { HTTP_PROXY: proxy }, undefined],
    ["http://[::1]:80/", undefined, { HTTP_PROXY: proxy }, undefined],
    ["http://127.0.0.1/", proxy, {}, proxy],
    ["http://a.example/", undefined, { HTTP_PROXY: proxy, NO_PROXY: "*" }, undefined],
    ["http://a.example/", undefined, { HTTP_PROXY: proxy, no_proxy: "b.example, a.example" }, undefined],
    ["http://x.a.example/", undefined, { HTTP_PROXY: proxy, NO_PROXY: ".a.example" }, undefined],
    ["http://x.a.example/", undefined, { HTTP_PROXY: proxy, NO_PROXY: "*.a.example" }, undefined],
    ["http://xa.example/", undefined, { HTTP_PROXY: proxy, NO_PROXY: "a.example" }, proxy],
    ["http://a.example:81/", undefined, { HTTP_PROXY: proxy, NO_PROXY: "a.example:80" }, proxy],
    ["http://a.example/", undefined, { HTTP_PROXY: proxy, NO_PROXY: "a.example:80" }, undefined],
    ["http://10.1.2.3/", undefined, { HTTP_PROXY: proxy, NO_PROXY: "10.0.0.0/8" }, undefined],
    ["http://11.1.2.3/", undefined, { HTTP_PROXY: proxy, NO_PROXY: "10.0.0.0/8,10.0.0.0/99,/8" }, proxy],
    ["http://[fd00::1]/", undefined, { HTTP_PROXY: proxy, NO_PROXY: "fd00::/8" }, undefined],
    ["http://[fd00::1]/", undefined, { HTTP_PROXY: proxy, NO_PROXY: "[fd00::1]:80" }, undefined],
  ])("%s with %s and %j: %s", (url, setting, env, expected) => {
    expect(proxyFor(new URL(url), setting, env)).toBe(expected);
  });
});
