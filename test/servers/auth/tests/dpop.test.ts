import { createHash } from "node:crypto";
import { afterEach, describe, expect, test } from "vitest";
import { type AuthOptions, type AuthServer, createKey, GRANTS, type ProtectedMcp } from "../index.ts";
import { CALLBACK, ask, browse, closeAll, post, publicClient, start, verifier } from "./fixture.ts";

afterEach(closeAll);

const robot = {
  client_id: "robot",
  client_secret: "s",
  token_endpoint_auth_method: "client_secret_post",
} as const;
const form = { grant_type: GRANTS.client, client_id: "robot", client_secret: "s", scope: "read" };
const key = createKey();
/** Proofs carry the bare key. */
const { kid: _kid, ...jwk } = key.jwk;
const { thumbprint } = key;
const digest = (text: string): string => createHash("sha256").update(text).digest("base64url");

type Claims = Record<string, unknown>;

function proof(htm: string, htu: string, claims: Claims = {}, header: Claims = {}): string {
  const types = { typ: "dpop+jwt", kid: undefined, jwk };
  return key.sign({ htm, htu, exp: undefined, ...claims }, { ...types, ...header });
}

const begin = (options: AuthOptions = {}, dpop?: "required" | "nonce") =>
  start({ clients: [robot, publicClient], dpop: "supported", ...options }, dpop ? { dpop } : {});

async function token(auth: AuthServer, dpop: string | undefined, change: Record<string, string> = {}) {
  const headers = dpop === undefined ? {} : { dpop };
  return post(auth, "token", { ...form, ...change }, { headers });
}

/** What a protected server says about a token: the status, and the challenge. */
async function use(url: string, authorization: string, dpop?: string) {
  const headers = { authorization, ...(dpop !== undefined && { dpop }) };
  const response = await fetch(url, { method: "POST", headers });
  const challenge = response.headers.get("www-authenticate") ?? "";
  const nonce = response.headers.get("dpop-nonce") ?? "";
  return { status: response.status, error: /error="(\w+)"/.exec(challenge)?.[1], challenge, nonce };
}

/** The MCP server takes no empty message: with 400 the check is passed. */
const PASSED = { status: 400, error: undefined };

describe("the token endpoint", () => {
  test("binds tokens to the key of a proof, and only then", async () => {
    const { auth } = await begin();
    const { body } = await token(auth, proof("POST", `${auth.issuer}/token`));
    expect(body["token_type"]).toBe("DPoP");
    expect(auth.introspect(String(body["access_token"])).cnf).toEqual({ jkt: thumbprint });
    const bare = (await token(auth, undefined)).body;
    expect(bare["token_type"]).toBe("Bearer");
    expect(auth.introspect(String(bare["access_token"]))).not.toHaveProperty("cnf");
    auth.set({ dpop: "required" });
    expect((await token(auth, undefined)).body).toMatchObject({ error: "invalid_dpop_proof" });
    auth.set({ dpop: "off" });
    expect((await token(auth, proof("POST", `${auth.issuer}/token`))).body["token_type"]).toBe("Bearer");
  });

  const now = Math.floor(Date.now() / 1000);
  test.each<[string, Claims, Claims?]>([
    ["another method", { htm: "GET" }],
    ["another address", { htu: "https://other.example/token" }],
    ["no time", { iat: undefined }],
    ["an old time", { iat: now - 3600 }],
    ["a time to come", { iat: now + 3600 }],
    ["no jti", { jti: undefined }],
    ["another type", {}, { typ: "JWT" }],
    ["no algorithm", {}, { alg: "none" }],
    ["a symmetric algorithm", {}, { alg: "HS256" }],
    ["no key", {}, { jwk: undefined }],
    ["another key", {}, { jwk: createKey().jwk }],
    ["a private key", {}, { jwk: { ...jwk, d: "x" } }],
    ["a key that is none", {}, { jwk: { kty: "EC", crv: "P-256" } }],
  ])("refuses a proof with %s", async (_what, claims, header) => {
    const { auth } = await begin();
    const answer = await token(auth, proof("POST", `${auth.issuer}/token`, claims, header));
    expect(answer).toMatchObject({ status: 400, body: { error: "invalid_dpop_proof" } });
  });

  test("refuses a proof that was used before, and two at once", async () => {
    const { auth } = await begin();
    const good = (): string => proof("POST", `${auth.issuer}/token`);
    const once = good();
    expect((await token(auth, once)).status).toBe(200);
    expect((await token(auth, once)).body).toMatchObject({ error: "invalid_dpop_proof" });
    expect((await token(auth, `${good()}, ${good()}`)).body).toMatchObject({ error: "invalid_dpop_proof" });
  });

  test("wants its newest nonce, where that is switched on", async () => {
    const { auth } = await begin({ dpop: "nonce" });
    const send = async (nonce?: string | null) => {
      const headers = { dpop: proof("POST", `${auth.issuer}/token`, nonce ? { nonce } : {}) };
      const body = new URLSearchParams(form);
      const response = await fetch(`${auth.issuer}/token`, { method: "POST", body, headers });
      const { error } = (await response.json()) as { error?: string };
      return { status: response.status, error, nonce: response.headers.get("dpop-nonce") };
    };
    const first = await send();
    expect(first).toMatchObject({ status: 400, error: "use_dpop_nonce" });
    expect(await send("wrong")).toEqual(first);
    expect(await send(first.nonce)).toEqual({ status: 200, error: undefined, nonce: first.nonce });
    auth.rotateNonce();
    const second = await send(first.nonce);
    expect(second).toMatchObject({ status: 400, error: "use_dpop_nonce" });
    expect(await send(second.nonce)).toMatchObject({ status: 200 });
  });

  test("binds a code as it was asked to, and a public client's refresh token", async () => {
    const { auth } = await begin({ dpop: "required" });
    const redeem = async (dpop: string, dpop_jkt?: string) => {
      const code = (await browse(ask(auth, { dpop_jkt }))).get("code") ?? "";
      const grant = { grant_type: GRANTS.code, client_id: "cli", code, redirect_uri: CALLBACK };
      return post(auth, "token", { ...grant, code_verifier: verifier }, { headers: { dpop } });
    };
    const good = (): string => proof("POST", `${auth.issuer}/token`);
    const other = createKey();
    const { kid: _kid, ...otherJwk } = other.jwk;
    const stranger = (): string =>
      other.sign(
        { htm: "POST", htu: `${auth.issuer}/token` },
        { typ: "dpop+jwt", jwk: otherJwk, kid: undefined },
      );
    expect((await redeem(good(), "another")).body).toMatchObject({ error: "invalid_grant" });
    const { body } = await redeem(good(), thumbprint);
    const refresh = {
      grant_type: GRANTS.refresh,
      client_id: "cli",
      refresh_token: String(body["refresh_token"]),
    };
    const renew = (dpop: string) => post(auth, "token", refresh, { headers: { dpop } });
    expect((await renew(stranger())).body).toMatchObject({ error: "invalid_grant" });
    expect((await renew(good())).body).toMatchObject({ token_type: "DPoP" });
  });
});

describe("the protected server", () => {
  const accessToken = async (auth: AuthServer, server: ProtectedMcp): Promise<string> => {
    const asked = proof("POST", `${auth.issuer}/token`);
    return String((await token(auth, asked, { resource: server.url })).body["access_token"]);
  };

  test.each(["required", undefined] as const)(
    "takes a bound token with a proof for this very request (its own option: %s)",
    async (dpop) => {
      const { auth, server } = await begin({}, dpop);
      const bound = await accessToken(auth, server);
      const ath = digest(bound);
      const good = (change: Claims = {}): string => proof("POST", server.url, { ath, ...change });
      expect(await use(server.url, `DPoP ${bound}`, good())).toMatchObject(PASSED);
      expect(await use(`${server.url}?x=1`, `DPoP ${bound}`, good())).toMatchObject(PASSED);
      const used = good();
      expect(await use(server.url, `DPoP ${bound}`, used)).toMatchObject(PASSED);
      for (const wrong of [
        undefined,
        used,
        good({ ath: undefined }),
        good({ ath: digest("other") }),
        good({ htm: "GET" }),
        good({ htu: `${auth.issuer}/token` }),
      ])
        expect(await use(server.url, `DPoP ${bound}`, wrong)).toMatchObject({
          status: 401,
          error: "invalid_dpop_proof",
          challenge: expect.stringMatching(/^DPoP .*algs="ES256 RS256"/) as string,
        });
    },
  );

  test("takes no bound token from somebody else, or as if it were not bound", async () => {
    const { auth, server } = await begin();
    const bound = await accessToken(auth, server);
    const invalid = { status: 401, error: "invalid_token" };
    expect(await use(server.url, `Bearer ${bound}`)).toMatchObject(invalid);
    const good = proof("POST", server.url, { ath: digest(bound) });
    expect(await use(server.url, `Bearer ${bound}`, good)).toMatchObject(invalid);
    const thief = createKey();
    const { kid: _kid, ...stolen } = thief.jwk;
    const header = { typ: "dpop+jwt", kid: undefined, jwk: stolen };
    const theirs = thief.sign({ htm: "POST", htu: server.url, ath: digest(bound) }, header);
    expect(await use(server.url, `DPoP ${bound}`, theirs)).toMatchObject(invalid);

    const bare = String((await token(auth, undefined, { resource: server.url })).body["access_token"]);
    expect(await use(server.url, `Bearer ${bare}`)).toMatchObject(PASSED);
    const extra = proof("POST", server.url, { ath: digest(bare) });
    expect(await use(server.url, `DPoP ${bare}`, extra)).toMatchObject(invalid);
    server.set({ dpop: "required" });
    expect(await use(server.url, `Bearer ${bare}`)).toMatchObject(invalid);
    const about: unknown = await (
      await fetch(new URL("/.well-known/oauth-protected-resource/mcp", server.url))
    ).json();
    expect(about).toMatchObject({ dpop_bound_access_tokens_required: true });
  });

  test("wants its newest nonce, where that is switched on", async () => {
    const { auth, server } = await begin({}, "nonce");
    const bound = await accessToken(auth, server);
    const send = (nonce?: string) =>
      use(server.url, `DPoP ${bound}`, proof("POST", server.url, { ath: digest(bound), nonce }));
    const first = await send();
    expect(first).toMatchObject({ status: 401, error: "use_dpop_nonce" });
    expect(await send(first.nonce)).toMatchObject({ ...PASSED, nonce: first.nonce });
    server.rotateNonce();
    const second = await send(first.nonce);
    expect(second).toMatchObject({ status: 401, error: "use_dpop_nonce" });
    expect(await send(second.nonce)).toMatchObject(PASSED);
  });

  test("says who somebody is to the holder of the key alone", async () => {
    const { auth, server } = await begin();
    const bound = await accessToken(auth, server);
    const url = `${auth.issuer}/userinfo`;
    const get = (scheme: string, dpop?: string) =>
      fetch(url, { headers: { authorization: `${scheme} ${bound}`, ...(dpop !== undefined && { dpop }) } });
    const answer = await get("DPoP", proof("GET", url, { ath: digest(bound) }));
    expect(await answer.json()).toMatchObject({ sub: "robot" });
    expect((await get("Bearer")).status).toBe(401);
  });
});
