import type { IncomingMessage } from "node:http";
import { describe, expect, test } from "vitest";
import { HttpClient } from "../../src/servers/transports/http/client.ts";
import { createHttpFetch } from "../../src/servers/transports/http/fetch.ts";
import { SseTransport } from "../../src/servers/transports/sse.ts";
import { fakeHttp, open, openBare, plainHttp } from "./http-fixture.ts";
import { deaf, failure } from "./rpc-fixture.ts";

const statuses = [301, 302, 303, 307, 308];
const secrets = { authorization: "Bearer sesame", "x-api-key": "sesame" };

/** A server that redirects everything, and another origin that records its requests. */
async function redirecting(status: number, path = "/stolen") {
  const visits: IncomingMessage[] = [];
  const elsewhere = await plainHttp((request, response) => {
    visits.push(request);
    response.end();
  });
  const { origin } = await plainHttp((_request, response) => {
    response.writeHead(status, { location: elsewhere.origin + path }).end();
  });
  return { url: `${origin}/mcp`, elsewhere: elsewhere.origin, visits };
}

describe("M20 redirects never leave the origin", () => {
  test.each(statuses)("HTTP %d: a call fails and names the target", async (status) => {
    const { url, elsewhere, visits } = await redirecting(status, "/stolen?token=sesame");
    const { request: ask } = await openBare(url, { headers: secrets });
    const error = await failure(ask("tools/call", { name: "pay", arguments: { card: "4711" } }));
    expect(error).toMatchObject({
      code: "unexpected-response",
      data: { status, location: `${elsewhere}/stolen` },
    });
    expect(error.message).toContain(`${elsewhere}/stolen`);
    expect(JSON.stringify(error)).not.toContain("sesame");
    expect(visits).toEqual([]);
  });

  test.each(statuses)("HTTP %d: the handshake fails", async (status) => {
    const { url, elsewhere, visits } = await redirecting(status);
    const error = await failure(open(url, "legacy", { headers: secrets }));
    expect(error).toMatchObject({
      code: "unexpected-response",
      data: { location: `${elsewhere}/stolen` },
    });
    expect(visits).toEqual([]);
  });

  test.each(statuses)("HTTP %d: a stream and a token request are not followed either", async (status) => {
    const { url, visits } = await redirecting(status);
    const client = new HttpClient({ server: "remote", url: new URL(url), headers: secrets });
    const fetch = createHttpFetch(client);
    const stream = new SseTransport({ server: "remote", url: new URL(url), headers: secrets });
    expect(await failure(stream.start(deaf))).toMatchObject({ code: "unexpected-response" });
    const token = await fetch(new URL("/token", url), {
      method: "POST",
      body: new URLSearchParams({ code: "sesame" }),
    });
    expect(token.status).toBe(status);
    expect(visits).toEqual([]);
    await client.close();
  });

  test.each([
    ["the machine's own metadata", "http://169.254.169.254/latest"],
    ["another port", "http://127.0.0.1:1/mcp"],
    ["a script", "javascript:alert(1)"],
    ["other credentials", "http://evil@HOST/mcp"],
  ])("not to %s", async (_name, location) => {
    const { origin } = await plainHttp((request, response) => {
      response.writeHead(307, { location: location.replace("HOST", request.headers.host ?? "") }).end();
    });
    const { request: ask } = await openBare(`${origin}/mcp`);
    expect((await failure(ask("tools/list"))).code).toBe("unexpected-response");
  });

  test("a redirect loop ends", async () => {
    let visits = 0;
    const { origin } = await plainHttp((request, response) => {
      visits++;
      response.writeHead(307, { location: request.url ?? "" }).end();
    });
    const { request: ask } = await openBare(`${origin}/mcp`);
    const error = await failure(ask("tools/list"));
    expect(error).toMatchObject({
      code: "unexpected-response",
      message: expect.stringMatching(/too many/) as string,
    });
    expect(visits).toBe(6);
  });

  test.each([301, 302, 303])(
    "HTTP %d on the same origin would turn a call into a GET, so it is not followed",
    async (status) => {
      const methods: unknown[] = [];
      const { origin } = await plainHttp((request, response) => {
        methods.push(request.method);
        response.writeHead(status, { location: "/mcp/" }).end();
      });
      const { request: ask } = await openBare(`${origin}/mcp`);
      expect((await failure(ask("tools/list"))).code).toBe("unexpected-response");
      expect(methods).toEqual(["POST"]);
    },
  );

  test.each([307, 308])("HTTP %d within the origin is followed with body and headers", async (status) => {
    const fake = await fakeHttp({ versions: "legacy" });
    const target = new URL(fake.url);
    const seen: unknown[] = [];
    const { origin } = await plainHttp((request, response) => {
      if (request.url === "/old") return void response.writeHead(status, { location: "/new" }).end("moved");
      seen.push(request.headers["x-api-key"]);
      let body = "";
      request.on("data", (chunk: Buffer) => (body += chunk.toString()));
      request.on("end", () => {
        const { id } = JSON.parse(body) as { id: string };
        response
          .setHeader("content-type", "application/json")
          .end(JSON.stringify({ jsonrpc: "2.0", id, result: { at: request.url } }));
      });
    });
    expect(target.origin).not.toBe(origin);
    const { request: ask } = await openBare(`${origin}/old`, { headers: secrets });
    expect(await ask("tools/list")).toEqual({ result: { at: "/new" } });
    expect(seen).toEqual(["sesame"]);
  });

  test("configured headers are only ever sent to the server's origin", async () => {
    const headers: unknown[] = [];
    const own = await plainHttp((request, response) => {
      headers.push(request.headers["x-api-key"]);
      response.end("{}");
    });
    const other = await plainHttp((request, response) => {
      headers.push(request.headers["x-api-key"], request.headers.authorization);
      response.end("{}");
    });
    const client = new HttpClient({ server: "remote", url: new URL(`${own.origin}/mcp`), headers: secrets });
    const fetch = createHttpFetch(client);
    expect(await (await fetch(`${own.origin}/.well-known/x`)).json()).toEqual({});
    expect(await (await fetch(`${other.origin}/.well-known/x`)).json()).toEqual({});
    expect(headers).toEqual(["sesame", undefined, undefined]);
    await client.close();
  });
});
