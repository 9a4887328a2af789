import { describe, expect, it } from "vitest";
import { echo, modern, openFront, post, send, token } from "./open-front.ts";

const page = "https://app.example.com";

describe("M80 hosts and pages that may use the gateway", () => {
  it("accepts the names of this machine with the port that it listens on", async () => {
    await using front = await openFront();
    const status = async (headers: Record<string, string>) =>
      (await post(front.port, modern("tools/list", {}, headers))).status;
    for (const name of ["localhost", "LOCALHOST", "127.0.0.1", "[::1]"]) {
      expect(await status({ host: `${name}:${front.port}` })).toBe(200);
      expect(await status({ host: `${name}:1` })).toBe(403);
    }
    for (const host of ["localhost.evil.com", `evil.com:${front.port}`, "127.0.0.1.nip.io", "a@localhost"])
      expect(await status({ host })).toBe(403);
    expect(await status({ origin: `http://localhost:${front.port}` })).toBe(200);
    expect(await status({ origin: `http://localhost:${front.port}.evil.com` })).toBe(403);
    expect(await status({ origin: `http://user@localhost:${front.port}` })).toBe(403);
  });

  it("accepts a first line with the whole address, as proxies send it, if it names the same host", async () => {
    await using front = await openFront();
    const status = async (target: string) =>
      (await post(front.port, { method: "GET", path: target, headers: { host: `localhost:${front.port}` } }))
        .status;
    expect(await status(`http://LOCALHOST:${front.port}/healthz?now`)).toBe(200);
    expect(await status(`http://127.0.0.1:${front.port}/healthz`)).toBe(400);
    expect(await status(`http://evil.com/healthz`)).toBe(400);
  });

  it("accepts allowed hosts, with any port or with one", async () => {
    await using front = await openFront(echo, {
      allowedHosts: ["gate.example.com", "other.example.com:8443"],
    });
    const status = async (host: string) =>
      (await post(front.port, modern("tools/list", {}, { host }))).status;
    expect(await status("gate.example.com")).toBe(200);
    expect(await status("Gate.example.com:1234")).toBe(200);
    expect(await status("other.example.com:8443")).toBe(200);
    expect(await status("other.example.com")).toBe(403);
  });

  it("lets pages of an allowed origin read its answers, and only them", async () => {
    await using front = await openFront(echo, { allowedOrigins: [page] });
    const allowed = await post(front.port, modern("tools/list", {}, { origin: page }));
    expect(allowed.status).toBe(200);
    expect(allowed.headers).toMatchObject({ "access-control-allow-origin": page, vary: "Origin" });
    const refused = await post(
      front.port,
      modern("tools/list", {}, { origin: page, authorization: undefined }),
    );
    expect(refused.headers["access-control-expose-headers"]).toContain("WWW-Authenticate");
    const own = await post(
      front.port,
      modern("tools/list", {}, { origin: `http://localhost:${front.port}` }),
    );
    expect(own.headers["access-control-allow-origin"]).toBeUndefined();
    const foreign = await post(front.port, modern("tools/list", {}, { origin: "https://evil.example.com" }));
    expect([foreign.status, foreign.headers["access-control-allow-origin"]]).toEqual([403, undefined]);
  });

  it("tells a browser beforehand what an allowed page may send, without a token", async () => {
    await using front = await openFront(echo, { allowedOrigins: [page] });
    const ask = (origin: string) =>
      post(front.port, {
        method: "OPTIONS",
        headers: {
          authorization: undefined,
          origin,
          "access-control-request-method": "POST",
          "access-control-request-headers": "authorization, mcp-param-region, x-secret",
        },
      });
    const answer = await ask(page);
    expect([answer.status, answer.text]).toEqual([204, ""]);
    expect(answer.headers).toMatchObject({
      "access-control-allow-origin": page,
      "access-control-allow-methods": "GET, POST, DELETE",
      "access-control-allow-headers": "authorization, mcp-param-region",
    });
    expect(answer.headers["access-control-allow-credentials"]).toBeUndefined();
    expect((await ask("https://evil.example.com")).status).toBe(403);
  });

  it("says that it is healthy, without a token and without anything else", async () => {
    await using front = await openFront();
    const sending = { method: "GET", path: "/healthz", headers: { authorization: undefined } };
    expect(await post(front.port, sending)).toMatchObject({ status: 200, json: { status: "ok" } });
    expect((await post(front.port, { ...sending, method: "HEAD" })).status).toBe(200);
    const wrong = await post(front.port, { ...sending, method: "POST" });
    expect([wrong.status, wrong.headers.allow]).toEqual([405, "GET, HEAD"]);
  });

  it("takes the token whatever the case of its scheme, and no part of it", async () => {
    await using front = await openFront();
    const status = async (authorization: string) =>
      (await post(front.port, modern("tools/list", {}, { authorization }))).status;
    expect(await status(`bearer ${token}`)).toBe(200);
    expect(await status(`Bearer ${token.slice(0, -1)}`)).toBe(401);
    expect(await status(`Bearer ${token}x`)).toBe(401);
    expect(await status(`Bearer ${token}, Bearer x`)).toBe(401);
    expect(await status("Bearer ")).toBe(401);
  });

  it("tells nothing about an authenticate that fails", async () => {
    const lines: string[] = [];
    const authenticate = () => {
      throw new Error("secret database at /var/lib is down");
    };
    await using front = await openFront(echo, { authenticate, onLog: (line) => lines.push(line) });
    const reply = await post(front.port, modern("tools/list"));
    expect([reply.status, reply.json.error?.code]).toEqual([500, -32_603]);
    expect(reply.text).not.toContain("secret");
    expect(lines.join()).toContain("secret database");
  });

  it("decodes names in headers", async () => {
    await using front = await openFront();
    const name = "größe\n";
    const encoded = `=?base64?${Buffer.from(name).toString("base64")}?=`;
    const status = async (headers: Record<string, string>, sent = name) =>
      (await post(front.port, modern("prompts/get", { name: sent }, headers))).status;
    expect(await status({ "mcp-name": encoded })).toBe(200);
    expect(await status({ "mcp-name": encoded.replace("base64", "BASE64") })).toBe(400);
    expect(await status({ "mcp-name": "=?base64?gr!!!==?=" })).toBe(400);
    expect(await status({ "mcp-name": "=?base64?/w==?=" }, "\ufffd")).toBe(400);
    expect(await status({ "mcp-name": "=?base64?SGVsbG8" }, "=?base64?SGVsbG8")).toBe(200);
    expect(await status({ "mcp-name": "  plain  " }, "plain")).toBe(200);
  });

  it("ignores what means nothing to a modern request", async () => {
    await using front = await openFront();
    const headers = { "mcp-session-id": "made-up", "last-event-id": "nothing" };
    const response = await send(front.port, modern("tools/list", {}, headers));
    expect([response.statusCode, response.headers["mcp-session-id"]]).toEqual([200, undefined]);
    response.resume();
  });
});
