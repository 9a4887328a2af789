import { describe, expect, it } from "vitest";
import type { AuthOptions, AuthReceived, ProtectedOptions } from "../fixtures/auth/index.ts";
import { add, browser, keptToken, openScene, refusal, requestsOf, tokenRequests } from "./oauth-fixture.ts";
import type { Scene } from "./oauth-fixture.ts";

interface Proof {
  header: { jwk: { x: string; y: string } & Record<string, unknown> };
  claims: { jti: string; nonce?: string; ath?: string; htm: string; htu: string };
}

function proofOf({ headers }: AuthReceived): Proof | undefined {
  const [head, body] = String(headers["dpop"] ?? "").split(".");
  if (head === undefined || body === undefined) return undefined;
  const read = (part: string): unknown => JSON.parse(Buffer.from(part, "base64url").toString());
  return { header: read(head), claims: read(body) } as Proof;
}

function schemeOf({ headers }: AuthReceived): string | undefined {
  return headers["authorization"]?.toString().split(" ")[0];
}

/** The requests that came with a token, at the server. */
function withToken({ server }: Scene): AuthReceived[] {
  return server.received.filter(({ headers }) => headers["authorization"] !== undefined);
}

function proofs(requests: AuthReceived[]): Proof[] {
  return requests.map((request) => proofOf(request) ?? expect.fail("there is no proof"));
}

function keysOf(requests: AuthReceived[]): string[] {
  return [...new Set(proofs(requests).map(({ header }) => header.jwk.x))];
}

async function openBound(
  options: AuthOptions = {},
  protect: ProtectedOptions = {},
  entry: object = {},
): Promise<Scene & { now: { ms: number }; login: Awaited<ReturnType<Scene["hub"]>> }> {
  const scene = await openScene({ dpop: "supported", ...options }, { dpop: "required", ...protect });
  const now = { ms: Date.now() };
  const login = await scene.hub(entry, { clock: () => now.ms });
  await login.login("issues", browser());
  return { ...scene, now, login };
}

describe("a login whose tokens are bound to a key", () => {
  it("is made where the server asks for it, and every request carries a proof of its own", async () => {
    const scene = await openBound();
    for (let calls = 0; calls < 3; calls++) expect(await add(scene.login)).toEqual({ sum: 3 });
    const sent = withToken(scene);
    expect(new Set(sent.map(schemeOf))).toEqual(new Set(["DPoP"]));
    const all = proofs([...tokenRequests(scene.auth), ...sent]);
    expect(new Set(all.map(({ claims }) => claims.jti)).size).toBe(all.length);
    expect(keysOf([...tokenRequests(scene.auth), ...sent])).toHaveLength(1);
    for (const { header } of all) expect(header.jwk).not.toHaveProperty("d");
    for (const { claims } of proofs(sent)) expect(claims).toMatchObject({ htu: scene.server.url });
    expect([scene.auth.errors, scene.server.errors]).toEqual([[], []]);
  });

  it("cannot be used with a stolen token alone", async () => {
    const scene = await openBound();
    await add(scene.login);
    const token = await keptToken(scene);
    const [last] = withToken(scene).slice(-1);
    const ask = (headers: Record<string, string>) =>
      fetch(scene.server.url, {
        method: "POST",
        headers: {
          "content-type": "application/json",
          accept: "application/json, text/event-stream",
          ...headers,
        },
        body: last?.body ?? "",
      });
    const proof = String(last?.headers["dpop"]);
    const stolen = [
      { authorization: `Bearer ${token}` },
      { authorization: `DPoP ${token}` },
      { authorization: `DPoP ${token}`, dpop: proof },
    ];
    for (const headers of stolen) {
      const response = await ask(headers);
      await response.text();
      expect(response.status).toBe(401);
    }
  });

  it("is renewed with the same key", async () => {
    const scene = await openBound();
    await add(scene.login);
    scene.auth.expireAccessTokens();
    expect(await add(scene.login)).toEqual({ sum: 3 });
    expect(scene.auth.stats).toMatchObject({ refreshes: 1, reuses: 0 });
    expect(keysOf([...tokenRequests(scene.auth), ...withToken(scene)])).toHaveLength(1);
  });

  it("sends a proof when it asks for the user's name", async () => {
    const scene = await openBound();
    expect(await scene.login.account("issues")).toMatchObject({ user: "ada" });
    const asked = scene.auth.received.filter(({ endpoint }) => endpoint === "userinfo");
    expect(asked.map(schemeOf)).toEqual(["DPoP"]);
  });

  it("goes on without proofs where a renewal says that the new token is bound to nothing", async () => {
    let isBound = true;
    const token = (answer: Record<string, unknown>) =>
      isBound ? answer : { ...answer, token_type: "Bearer" };
    const scene = await openBound({ alter: { token } });
    await add(scene.login);
    isBound = false;
    scene.auth.expireAccessTokens();
    await add(scene.login).catch(() => undefined);
    expect(schemeOf(withToken(scene).at(-1) ?? expect.fail("nothing was sent"))).toBe("Bearer");
  });

  it("is used and renewed with the same key by other programs that share the vault", async () => {
    const scene = await openBound();
    const others = await Promise.all([scene.hub(), scene.hub()]);
    expect(await Promise.all(others.map(add))).toEqual([{ sum: 3 }, { sum: 3 }]);
    scene.auth.expireAccessTokens();
    const all = [scene.login, ...others];
    expect(await Promise.all(all.map(add))).toEqual(all.map(() => ({ sum: 3 })));
    expect(scene.auth.stats).toMatchObject({ refreshes: 1, reuses: 0 });
    expect(keysOf([...tokenRequests(scene.auth), ...withToken(scene)])).toHaveLength(1);
  });

  it("is made with another key the next time", async () => {
    const scene = await openBound();
    await add(scene.login);
    await scene.login.login("issues", browser());
    expect(await add(scene.login)).toEqual({ sum: 3 });
    expect(keysOf(tokenRequests(scene.auth))).toHaveLength(2);
    const used = proofs(requestsOf(scene.server, "tools/call")).map(({ header }) => header.jwk.x);
    expect(new Set(used.slice(-2)).size).toBe(2);
  });

  it("brings the nonce that the authorization server wants, also a new one", async () => {
    const { auth, login } = await openBound({ dpop: "nonce" });
    expect(proofs(tokenRequests(auth)).map(({ claims }) => claims.nonce !== undefined)).toEqual([
      false,
      true,
    ]);
    expect(await add(login)).toEqual({ sum: 3 });
    auth.rotateNonce();
    auth.expireAccessTokens();
    expect(await add(login)).toEqual({ sum: 3 });
    expect(auth.stats).toMatchObject({ refreshes: 1, reuses: 0 });
  });

  it("brings the nonce that the server wants, and a new one without a renewal", async () => {
    const scene = await openBound({}, { dpop: "nonce" });
    expect(await add(scene.login)).toEqual({ sum: 3 });
    const before = requestsOf(scene.server, "tools/call").length;
    expect(await add(scene.login)).toEqual({ sum: 3 });
    expect(requestsOf(scene.server, "tools/call")).toHaveLength(before + 1);
    scene.server.rotateNonce();
    expect(await add(scene.login)).toEqual({ sum: 3 });
    expect(requestsOf(scene.server, "tools/call")).toHaveLength(before + 3);
    expect(scene.auth.stats).toMatchObject({ tokens: 1, refreshes: 0 });
    const nonces = proofs(requestsOf(scene.server, "tools/call")).map(({ claims }) => claims.nonce);
    expect(new Set(nonces.slice(-2)).size).toBe(2);
  });

  it("works over the older transport, too", async () => {
    const scene = await openScene({ dpop: "supported" }, { dpop: "required" });
    scene.server.set({ resource: `${new URL(scene.server.url).origin}/` });
    const hub = await scene.hub({ type: "sse", url: scene.server.sseUrl });
    await hub.login("issues", browser());
    expect(await add(hub)).toEqual({ sum: 3 });
    scene.auth.expireAccessTokens();
    expect(await add(hub)).toEqual({ sum: 3 });
    expect(new Set(withToken(scene).map(schemeOf))).toEqual(new Set(["DPoP"]));
    expect(scene.auth.stats).toMatchObject({ refreshes: 1, reuses: 0 });
  });

  it("needs no person where the grant needs none", async () => {
    const scene = await openScene(
      { dpop: "nonce", clients: [{ client_id: "robot", client_secret: "s3cret-of-mine" }] },
      { dpop: "nonce" },
    );
    const oauth = { grant: "client-credentials", clientId: "robot", clientSecret: "s3cret-of-mine" };
    const hub = await scene.hub({ oauth });
    expect(await add(hub)).toEqual({ sum: 3 });
    expect(schemeOf(requestsOf(scene.server, "tools/call").at(-1) ?? expect.fail())).toBe("DPoP");
    expect(scene.auth.stats.tokens).toBe(1);
  });

  it("never reveals its key", async () => {
    const scene = await openBound();
    await add(scene.login);
    const record = await (await scene.credentials.vault()).get(`tokens/${scene.server.url}|default`);
    const { dpop } = record as { dpop: { d: string } };
    scene.server.set({ faults: { mcp: { answer: { status: 403, body: `no: ${dpop.d}` } } } });
    const error = await refusal(add(scene.login));
    expect(`${String(error)} ${JSON.stringify(error)} ${JSON.stringify(scene.events)}`).not.toContain(dpop.d);
    const sent = JSON.stringify(
      [...scene.server.received, ...scene.auth.received].map(({ headers, body }) => [headers, body]),
    );
    expect(sent).not.toContain(dpop.d);
  });
});

describe("whether tokens are bound", () => {
  const bound = { scheme: "DPoP", isBound: true };
  const free = { scheme: "Bearer", isBound: false };
  it.each<{
    when: string;
    dpop?: boolean;
    options: AuthOptions;
    protect?: ProtectedOptions;
    is: typeof free;
  }>([
    { when: "nobody asks for it", options: { dpop: "supported" }, is: free },
    {
      when: "the server asks for it",
      options: { dpop: "supported" },
      protect: { dpop: "required" },
      is: bound,
    },
    { when: "it is configured", dpop: true, options: { dpop: "supported" }, is: bound },
    { when: "it is configured against", dpop: false, options: { dpop: "supported" }, is: free },
    {
      when: "the server asks for it, and the authorization server answers with another kind",
      options: {
        dpop: "off",
        alter: { metadata: (own) => ({ ...own, dpop_signing_alg_values_supported: ["ES256"] }) },
      },
      protect: { metadata: (own) => ({ ...own, dpop_bound_access_tokens_required: true }) },
      is: free,
    },
  ])("$when: $is.scheme", async ({ dpop, options, protect, is }) => {
    const scene = await openScene(options, protect);
    const hub = await scene.hub(dpop === undefined ? {} : { oauth: { dpop } });
    await hub.login("issues", browser());
    expect(await add(hub)).toEqual({ sum: 3 });
    expect(new Set(withToken(scene).map(schemeOf))).toEqual(new Set([is.scheme]));
    expect(withToken(scene).every((request) => (proofOf(request) !== undefined) === is.isBound)).toBe(true);
    scene.auth.expireAccessTokens();
    expect(await add(hub)).toEqual({ sum: 3 });
    expect(scene.auth.stats).toMatchObject({ refreshes: 1, reuses: 0 });
  });

  it("is not decided by an answer where it is configured: a token that is not bound is refused", async () => {
    const scene = await openScene({ dpop: "off" });
    const hub = await scene.hub({ oauth: { dpop: true } });
    const error = await refusal(hub.login("issues", browser()));
    expect(error).toMatchObject({ code: "auth-failed", data: { reason: "token" } });
    expect(error.message).toContain("not bound to a key (token_type), which `oauth.dpop` requires");
    expect(await hub.account("issues")).toBeUndefined();
  });

  it("is demanded of an earlier login as well: it is not renewed, and not used up", async () => {
    const scene = await openScene({ dpop: "supported" });
    await (await scene.hub()).login("issues", browser());
    scene.auth.expireAccessTokens();
    const hub = await scene.hub({ oauth: { dpop: true } });
    const error = await refusal(add(hub));
    expect(error).toMatchObject({ code: "auth-failed", hint: "Log in again: `plugboard login issues`." });
    expect(scene.auth.stats.refreshes).toBe(0);
    await hub.login("issues", browser());
    expect(await add(hub)).toEqual({ sum: 3 });
    expect(schemeOf(withToken(scene).at(-1) ?? expect.fail())).toBe("DPoP");
  });

  it("is not left to a server that wants none of it: the login does not help there", async () => {
    const scene = await openScene({ dpop: "supported" }, { dpop: "required" });
    const hub = await scene.hub({ oauth: { dpop: false } });
    await hub.login("issues", browser());
    expect(await refusal(add(hub))).toMatchObject({ code: "auth-failed" });
  });

  it("is not decided by an answer: a bound token that nobody asked for is refused", async () => {
    const alter = { token: (answer: object) => ({ ...answer, token_type: "DPoP" }) };
    const scene = await openScene({ alter });
    const hub = await scene.hub();
    const error = await refusal(hub.login("issues", browser()));
    expect(error).toMatchObject({ code: "auth-failed", data: { reason: "token" } });
    expect(error.message).toContain("(token_type)");
    expect(await hub.account("issues")).toBeUndefined();
  });
});
