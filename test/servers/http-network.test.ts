import { createServer, type Socket } from "node:net";
import type { AddressInfo } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { isPlugboardError } from "../../src/errors.ts";
import { HttpClient } from "../../src/servers/transports/http/client.ts";
import { createHttpFetch } from "../../src/servers/transports/http/fetch.ts";
import { proxyFor } from "../../src/servers/transports/http/proxy.ts";
import { createTransport, fakeHttp, open, openBare, plainHttp, supplied } from "./http-fixture.ts";
import { failure } from "./rpc-fixture.ts";

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

describe("M44 the error for an unreachable server says what to do", () => {
  test("nothing listens", async () => {
    const { call } = await openBare("http://127.0.0.1:1/mcp");
    const error = await failure(call("echo"));
    expect(error).toMatchObject({
      code: "not-responding",
      message: '"remote" cannot be reached: nothing accepts connections at 127.0.0.1:1.',
      hint: "Start the server, or check the host and port in its `url`.",
      executed: "no",
      data: { sent: false, cause: "ECONNREFUSED" },
    });
  });

  test("the name does not exist", async () => {
    const { call } = await openBare("http://no-such-host.invalid/mcp");
    const error = await failure(call("echo"));
    expect(error).toMatchObject({ code: "not-responding", data: { sent: false } });
    expect(error.message).toContain("no-such-host.invalid");
  });

  test("the handshake says the same", async () => {
    const error = await failure(open("http://127.0.0.1:1/mcp"));
    expect(isPlugboardError(error, "not-responding")).toBe(true);
  });

  test("a TLS handshake that never completes hits the connect timeout", async () => {
    const port = await silentPort();
    const { call } = await openBare(`https://127.0.0.1:${port}/mcp`, { limits: { connectTimeoutMs: 100 } });
    expect(await failure(call("echo"))).toMatchObject({
      code: "not-responding",
      data: { sent: false, cause: "UND_ERR_CONNECT_TIMEOUT" },
    });
  });

  test("missing headers and a stalled body time out", async () => {
    const { origin } = await plainHttp((request, response) => {
      if (request.url === "/silent") return;
      response.setHeader("content-type", "application/json").write("{");
    });
    const limits = { headersTimeoutMs: 80, bodyIdleMs: 80 };
    const client = new HttpClient({ server: "remote", url: new URL(`${origin}/mcp`), limits });
    const fetch = createHttpFetch(client);
    expect(await failure(fetch(`${origin}/silent`))).toMatchObject({
      name: "TypeError",
      cause: { code: "not-responding", message: '"remote" sent no response within 80 ms.' },
    });
    expect(await failure(fetch(`${origin}/mcp`, { method: "POST", body: "{}" }))).toMatchObject({
      name: "TypeError",
      cause: {
        code: "not-responding",
        message: '"remote" sent nothing for 80 ms in the middle of its response.',
      },
    });
    await client.close();
  });

  test("an event stream may pause for longer than a response", async () => {
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
  ])("a URL with %s is rejected immediately", (_name, url) => {
    expect(() => createTransport(url)).toThrow(expect.objectContaining({ code: "config-invalid" }) as Error);
  });

  test("a header with a line break is rejected without showing its value", async () => {
    const { call } = await openBare("http://127.0.0.1:1/mcp", { headers: { "x-key": "a\r\nsesame: 1" } });
    const error = await failure(call("echo"));
    expect(error.code).toBe("config-invalid");
    expect(JSON.stringify([error, error.message])).not.toContain("sesame");
  });

  test.each(["a\nb", "tök", "a b"])(
    "a token that is not valid in a header is rejected: %j",
    async (token) => {
      const url = "http://127.0.0.1:1/mcp";
      const { call } = await openBare(url, { auth: supplied({ token: async () => token }, url) });
      const error = await failure(call("echo"));
      expect(error).toMatchObject({ code: "auth-failed", executed: "no" });
    },
  );
});

describe("M20 credentials from the host program", () => {
  const echoes = (fake: Awaited<ReturnType<typeof fakeHttp>>) =>
    fake.received
      .filter(({ message }) => message?.["method"] === "tools/call")
      .map(({ headers }) => headers["authorization"]);

  test("a 401 causes one renewal and one retry, and later calls use the new credentials", async () => {
    const tokens = ["old"];
    const challenges: unknown[] = [];
    const fake = await fakeHttp({ versions: "legacy" });
    const provider = {
      token: async () => tokens.at(-1),
      onUnauthorized: async ({ response, serverUrl }: { response: Response; serverUrl: URL }) => {
        challenges.push([response.status, response.headers.get("www-authenticate"), serverUrl.href]);
        tokens.push("new");
      },
    };
    const { call } = await open(fake.url, "legacy", { auth: supplied(provider, fake.url) });
    const headers = { "www-authenticate": 'Bearer error="invalid_token"' };
    fake.set({ on: [{ when: { tool: "echo", nth: 1 }, do: [{ http: { status: 401, headers } }] }] });
    expect(await call("echo", { a: 1 })).toMatchObject({ result: { structuredContent: { a: 1 } } });
    expect(await call("echo", { a: 2 })).toMatchObject({ result: { structuredContent: { a: 2 } } });
    expect(echoes(fake)).toEqual(["Bearer old", "Bearer new", "Bearer new"]);
    expect(challenges).toEqual([[401, 'Bearer error="invalid_token"', fake.url]]);
  });

  test.each([
    ["a refused token", 401, 2],
    ["a refusal", 403, 1],
  ] as const)("%s is final (HTTP %d after %d requests)", async (_name, status, count) => {
    const fake = await fakeHttp({ versions: "modern" });
    const provider = { token: async () => "t", onUnauthorized: async () => {} };
    const { call } = await open(fake.url, "modern", { auth: supplied(provider, fake.url) });
    fake.set({ on: [{ when: { tool: "echo" }, do: [{ http: { status } }] }] });
    expect(await failure(call("echo"))).toMatchObject({
      code: "auth-failed",
      executed: "no",
      data: { status },
    });
    expect(echoes(fake)).toHaveLength(count);
  });

  test("without a way to renew credentials, their source is named", async () => {
    const fake = await fakeHttp({ versions: "modern" });
    const auth = supplied({ token: async () => "t" }, fake.url);
    const { call } = await open(fake.url, "modern", { auth });
    fake.set({ on: [{ when: { tool: "echo" }, do: [{ http: { status: 401 } }] }] });
    expect(await failure(call("echo"))).toMatchObject({
      code: "auth-failed",
      executed: "no",
      hint: expect.stringContaining('"mine"') as string,
    });
    expect(echoes(fake)).toHaveLength(1);
  });

  test("rejected configured credentials are an error, not a request for a login", async () => {
    const fake = await fakeHttp({ versions: "modern" });
    const { call } = await open(fake.url, "modern", { headers: { "X-Api-Key": "sesame" } });
    fake.set({ on: [{ when: { tool: "echo" }, do: [{ http: { status: 401 } }] }] });
    expect(await failure(call("echo"))).toMatchObject({ code: "auth-failed", data: { status: 401 } });
  });

  test("missing scopes are named", async () => {
    const fake = await fakeHttp({ versions: "modern" });
    const { call } = await open(fake.url, "modern", {});
    const headers = { "www-authenticate": 'Bearer error="insufficient_scope", scope="read write"' };
    fake.set({ on: [{ when: { tool: "echo" }, do: [{ http: { status: 403, headers } }] }] });
    expect(await failure(call("echo"))).toMatchObject({
      code: "auth-failed",
      missingScopes: ["read", "write"],
      data: { reason: "insufficient-scope", scopes: ["read", "write"] },
    });
  });

  test.each([
    ["a source of tokens", "token"],
    ["headers", "headers"],
  ])("a failure of %s is reported, and nothing is sent", async (_name, kind) => {
    const fake = await fakeHttp({ versions: "modern" });
    const fails = () => Promise.reject(new Error("no keychain"));
    const auth = kind === "token" ? supplied({ token: fails }, fake.url) : { headers: fails };
    const { request } = await openBare(fake.url, { auth });
    expect(await failure(request("tools/list"))).toMatchObject({
      code: "auth-failed",
      executed: "no",
      cause: { message: "no keychain" },
    });
    expect(fake.received).toEqual([]);
  });

  test("a call that is cancelled while its token is fetched is never sent", async () => {
    const fake = await fakeHttp({ versions: "legacy" });
    const waiting: ((token: string) => void)[] = [];
    const token = () => new Promise<string>((resolve) => waiting.push(resolve));
    const { call, request } = await openBare(fake.url, { auth: supplied({ token }, fake.url) });
    const stop = new AbortController();
    const pending = failure(call("echo", {}, { signal: stop.signal }));
    stop.abort();
    expect((await pending).code).toBe("call-cancelled");
    const next = request("ping").catch(() => undefined);
    while (waiting.length < 2) await new Promise((resolve) => setImmediate(resolve));
    for (const resolve of waiting) resolve("late");
    await next;
    expect(fake.received.map(({ message }) => message?.["method"])).toEqual(["ping"]);
  });

  test("a call that is cancelled while its token is renewed is not repeated", async () => {
    const fake = await fakeHttp({ versions: "legacy" });
    const asked = Promise.withResolvers<void>();
    const renewed = Promise.withResolvers<void>();
    const provider = {
      token: async () => "t",
      onUnauthorized: () => {
        asked.resolve();
        return renewed.promise;
      },
    };
    const { call } = await open(fake.url, "legacy", { auth: supplied(provider, fake.url) });
    fake.set({ on: [{ when: { tool: "fail" }, do: [{ http: { status: 401 } }] }] });
    const stop = new AbortController();
    const pending = failure(call("fail", {}, { signal: stop.signal }));
    await asked.promise;
    stop.abort();
    expect((await pending).code).toBe("call-cancelled");
    renewed.resolve();
    expect(await call("echo", { a: 1 })).toMatchObject({ result: { structuredContent: { a: 1 } } });
    const methods = fake.received.map(({ message }) => message?.["method"]);
    expect(methods.filter((method) => method === "tools/call")).toHaveLength(2);
    expect(methods).not.toContain("notifications/cancelled");
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
