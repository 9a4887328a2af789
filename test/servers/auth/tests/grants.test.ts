import { afterEach, describe, expect, test } from "vitest";
import { type AuthServer, createKey, GRANTS, startIdentityProvider } from "../index.ts";
import { closeAll, closing, post, publicClient, start, tokensByHand } from "./fixture.ts";

afterEach(closeAll);

const TOKEN_TYPE = "urn:ietf:params:oauth:token-type:";
const basic = (text: string): RequestInit => ({ headers: { authorization: `Basic ${btoa(text)}` } });
const now = (): number => Math.floor(Date.now() / 1000);

/** The error, or the whole answer where there is none. */
async function outcome(...request: Parameters<typeof post>): Promise<unknown> {
  const { body } = await post(...request);
  return body["error"] ?? body;
}

describe("client credentials", () => {
  const form = { grant_type: GRANTS.client, scope: "read" };

  test("are taken in the header or in the body, as the client is registered", async () => {
    const { auth, server } = await start({
      clients: [
        { client_id: "basic", client_secret: "a:b+c %" },
        { client_id: "post", client_secret: "s", token_endpoint_auth_method: "client_secret_post" },
      ],
    });
    const asked = { ...form, resource: server.url };
    const encoded = `basic:${encodeURIComponent("a:b+c %").replaceAll("%20", "+")}`;
    for (const credentials of [encoded, "basic:a:b+c %"]) {
      const { body } = await post(auth, "token", asked, basic(credentials));
      expect(body).toMatchObject({ token_type: "Bearer", scope: "read" });
      expect(body).not.toHaveProperty("refresh_token");
      const expected = { sub: "basic", aud: server.url, scope: "read" };
      expect(auth.introspect(String(body["access_token"]))).toMatchObject(expected);
    }
    const inBody = { ...asked, client_id: "post", client_secret: "s" };
    expect(await outcome(auth, "token", inBody)).toMatchObject({ token_type: "Bearer" });
    expect(await outcome(auth, "token", { ...inBody, client_secret: "t" })).toBe("invalid_client");
    expect(await outcome(auth, "token", asked, basic("post:s"))).toBe("invalid_client");
    expect(await outcome(auth, "token", { ...asked, client_id: "post" }, basic(encoded))).toBe(
      "invalid_client",
    );
    expect(await outcome(auth, "token", inBody, basic(encoded))).toBe("invalid_request");
  });

  test("are not for public clients, other grants or unknown scopes", async () => {
    const robot = { client_id: "robot", client_secret: "s" };
    const { auth } = await start({ clients: [publicClient, { ...robot, grant_types: [GRANTS.code] }] });
    expect(await outcome(auth, "token", { ...form, client_id: "cli" })).toBe("unauthorized_client");
    expect(await outcome(auth, "token", form, basic("robot:s"))).toBe("unauthorized_client");
    auth.clients.get("robot")?.grant_types.push(GRANTS.client);
    expect(await outcome(auth, "token", { ...form, scope: "all" }, basic("robot:s"))).toBe("invalid_scope");
  });
});

describe.each(["ES256", "RS256"] as const)("private_key_jwt with %s", (algorithm) => {
  const key = createKey(algorithm);
  const form = (assertion: string): Record<string, string> => ({
    grant_type: GRANTS.client,
    client_assertion_type: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
    client_assertion: assertion,
  });
  const begin = async (): Promise<{ auth: AuthServer; good: Record<string, unknown> }> => {
    const { auth } = await start({ clients: [{ client_id: "robot", jwks: { keys: [key.jwk] } }] });
    return { auth, good: { iss: "robot", sub: "robot", aud: auth.issuer } };
  };

  test("is good once, for the issuer or its token endpoint", async () => {
    const { auth, good } = await begin();
    for (const aud of [auth.issuer, `${auth.issuer}/token`, [auth.issuer]]) {
      const assertion = key.sign({ ...good, aud });
      expect((await post(auth, "token", form(assertion))).status).toBe(200);
      expect(await post(auth, "token", form(assertion))).toMatchObject({
        status: 401,
        body: { error: "invalid_client", error_description: expect.stringContaining("jti") as string },
      });
    }
  });

  test.each<[string, Record<string, unknown>, Record<string, unknown>?]>([
    ["another subject", { sub: "other" }],
    ["another issuer", { iss: "other" }],
    ["another audience", { aud: "https://other.example" }],
    ["no audience", { aud: undefined }],
    ["no end", { exp: undefined }],
    ["an end in the past", { exp: now() - 1 }],
    ["an end that is no number", { exp: "tomorrow" }],
    ["a beginning in the future", { nbf: now() + 120 }],
    ["no jti", { jti: undefined }],
    ["another type", {}, { typ: "dpop+jwt" }],
    ["another key id", {}, { kid: "other" }],
    ["no algorithm", {}, { alg: "none" }],
    ["a symmetric algorithm", {}, { alg: "HS256" }],
    ["the algorithm of another kind of key", {}, { alg: algorithm === "ES256" ? "RS256" : "ES256" }],
    ["a critical extension", {}, { crit: ["b64"] }],
  ])("is refused with %s", async (_what, claims, header) => {
    const { auth, good } = await begin();
    const answer = await post(auth, "token", form(key.sign({ ...good, ...claims }, header)));
    expect(answer).toMatchObject({ status: 401, body: { error: "invalid_client" } });
  });

  test("is refused when it is signed by another key, changed or unsigned", async () => {
    const { auth, good } = await begin();
    const [head, , signature] = key.sign(good).split(".");
    const changed = Buffer.from(JSON.stringify({ ...good, exp: now() + 300, jti: "1" })).toString(
      "base64url",
    );
    const other = createKey(algorithm).sign(good, { kid: key.jwk.kid });
    for (const assertion of [other, `${head}.${changed}.${signature}`, `${head}.${changed}.`, "x.y.z", "x"])
      expect(await outcome(auth, "token", form(assertion))).toBe("invalid_client");
    const wrongType = { ...form(key.sign(good)), client_assertion_type: "jwt" };
    expect(await outcome(auth, "token", wrongType)).toBe("invalid_client");
    const twoClients = { ...form(key.sign(good)), client_id: "cli" };
    expect(await outcome(auth, "token", twoClients)).toBe("invalid_client");
  });
});

describe("the JWT-bearer grant for a workload", () => {
  const platform = createKey("RS256");
  const good = { iss: "https://platform.example", sub: "job-7" };
  const begin = async (): Promise<{ auth: AuthServer; ask: typeof ask; url: string }> => {
    const trusted = { "https://platform.example": [platform.jwk] };
    const { auth, server } = await start({ grantTypes: [GRANTS.jwt], trusted });
    const ask = (claims: object, more: Record<string, string> = {}): Promise<unknown> => {
      const assertion = platform.sign({ aud: auth.issuer, ...good, ...claims });
      return outcome(auth, "token", { grant_type: GRANTS.jwt, assertion, ...more });
    };
    return { auth, ask, url: server.url };
  };

  test("needs no registration, and the assertion is good until it ends", async () => {
    const { auth, url } = await begin();
    const assertion = platform.sign({ ...good, aud: auth.issuer });
    const form = { grant_type: GRANTS.jwt, assertion, scope: "read", resource: url };
    for (let time = 0; time < 2; time++) {
      const { body } = await post(auth, "token", form);
      expect(body).not.toHaveProperty("refresh_token");
      const known = auth.introspect(String(body["access_token"]));
      expect(known).toMatchObject({ sub: "job-7", client_id: "job-7", aud: url, scope: "read" });
    }
    auth.set({ assertions: "once" });
    expect(await outcome(auth, "token", form)).toMatchObject({ scope: "read" });
    expect(await outcome(auth, "token", form)).toBe("invalid_grant");
  });

  test("refuses what is not by a trusted issuer, for this server and in time", async () => {
    const { auth, ask } = await begin();
    for (const claims of [
      { iss: "https://other.example" },
      { iss: auth.issuer },
      { aud: "https://other.example" },
      { exp: undefined },
      { exp: now() - 1 },
      { nbf: now() + 120 },
      { sub: undefined },
    ])
      expect([claims, await ask(claims)]).toEqual([claims, "invalid_grant"]);
    const forged = createKey("RS256").sign({ ...good, aud: auth.issuer }, { kid: platform.jwk.kid });
    expect(await ask({}, { assertion: forged })).toBe("invalid_grant");
    expect(await ask({}, { scope: "everything" })).toBe("invalid_scope");
    expect(await ask({}, { resource: "https://other.example" })).toBe("invalid_target");
    expect(await ask({}, { client_id: "unknown" })).toBe("invalid_client");
    auth.set({ grantTypes: [] });
    expect(await ask({}, { client_id: "x" })).toBe("invalid_client");
  });

  test("is off unless it is switched on", async () => {
    const { auth } = await start({ clients: [publicClient] });
    for (const grant_type of [GRANTS.jwt, GRANTS.exchange])
      expect(await outcome(auth, "token", { grant_type, client_id: "cli" })).toBe("unsupported_grant_type");
  });
});

describe("cross-app access", () => {
  const client = { client_id: "there", client_secret: "s" };
  const begin = async () => {
    const idp = await startIdentityProvider({
      clients: [publicClient, { client_id: "other" }],
      users: ["ada"],
    });
    closing.push(() => idp.close());
    const trusted = { [idp.issuer]: idp.keys };
    const { auth, server } = await start({ grantTypes: [GRANTS.jwt], trusted, clients: [client] });
    idp.set({ crossApp: { [auth.issuer]: { cli: "there" } } });
    const form = {
      grant_type: GRANTS.exchange,
      client_id: "cli",
      requested_token_type: `${TOKEN_TYPE}id-jag`,
      audience: auth.issuer,
      resource: server.url,
      scope: "read write",
      subject_token: idp.idToken("cli"),
      subject_token_type: `${TOKEN_TYPE}id_token`,
    };
    const redeem = (assertion: unknown, more: Record<string, string> = {}): Promise<unknown> => {
      const grant = { grant_type: GRANTS.jwt, assertion: String(assertion), ...more };
      return outcome(auth, "token", grant, basic("there:s"));
    };
    return { idp, auth, server, form, redeem };
  };

  test("takes a user from the identity provider to the authorization server", async () => {
    const { idp, auth, server, form, redeem } = await begin();
    const { body } = await post(idp, "token", form);
    const issued = { issued_token_type: `${TOKEN_TYPE}id-jag`, token_type: "N_A", expires_in: 300 };
    expect(body).toMatchObject({ ...issued, scope: "read write" });
    const tokens = (await redeem(body["access_token"])) as Record<string, string>;
    expect(tokens).not.toHaveProperty("refresh_token");
    const known = { sub: "ada", client_id: "there", aud: server.url, scope: "read write" };
    expect(auth.introspect(tokens["access_token"] ?? "")).toMatchObject(known);
    expect(await redeem(body["access_token"], { scope: "read" })).toMatchObject({ scope: "read" });
    expect(await redeem(body["access_token"], { scope: "admin" })).toBe("invalid_scope");
    auth.resources.add("https://other.example");
    expect(await redeem(body["access_token"], { resource: "https://other.example" })).toBe("invalid_target");
  });

  test("starts from a refresh token as well", async () => {
    const { idp, form } = await begin();
    idp.set({ autoConsent: true });
    const { refresh_token } = await tokensByHand(idp, { scope: "openid" });
    const subject_token_type = `${TOKEN_TYPE}refresh_token`;
    const again = { ...form, subject_token: String(refresh_token), subject_token_type };
    expect(await outcome(idp, "token", again)).toMatchObject({ token_type: "N_A" });
    expect(await outcome(idp, "token", { ...again, client_id: "other" })).toBe("invalid_grant");
    idp.advance(31 * 86_400_000);
    expect(await outcome(idp, "token", again)).toBe("invalid_grant");
  });

  test("is refused by the identity provider for a wrong subject, client or audience", async () => {
    const { idp, form } = await begin();
    for (const [change, error] of [
      [{ subject_token: idp.idToken("other") }, "invalid_grant"],
      [{ subject_token: createKey().sign({ iss: idp.issuer, aud: "cli", sub: "ada" }) }, "invalid_grant"],
      [{ subject_token: "x" }, "invalid_grant"],
      [{ subject_token: "" }, "invalid_request"],
      [{ subject_token_type: "" }, "invalid_request"],
      [{ subject_token_type: `${TOKEN_TYPE}saml2` }, "invalid_request"],
      [{ subject_token_type: `${TOKEN_TYPE}access_token` }, "invalid_grant"],
      [{ requested_token_type: `${TOKEN_TYPE}saml2` }, "invalid_request"],
      [{ actor_token: "x" }, "invalid_request"],
      [{ audience: "" }, "invalid_request"],
      [{ audience: "https://other.example" }, "invalid_target"],
      [{ client_id: "other", subject_token: idp.idToken("other") }, "unauthorized_client"],
    ] as const)
      expect([change, await outcome(idp, "token", { ...form, ...change })]).toEqual([change, error]);
    idp.advance(3_600_000);
    expect(await outcome(idp, "token", form)).toBe("invalid_grant");
  });

  test("is refused by the authorization server when it is late, for others, or no ID-JAG", async () => {
    const { idp, auth, form, redeem } = await begin();
    const idJag = async (): Promise<unknown> => (await post(idp, "token", form)).body["access_token"];
    expect(await redeem(form.subject_token)).toBe("invalid_grant");
    idp.set({ crossApp: { [auth.issuer]: { cli: "somebody" } } });
    expect(await redeem(await idJag())).toBe("invalid_grant");
    idp.set({ crossApp: { [auth.issuer]: { cli: "there" } }, idJagMs: 0 });
    expect(await redeem(await idJag())).toBe("invalid_grant");
    idp.set({ idJagMs: 300_000 });
    const good = await idJag();
    const alone = { grant_type: GRANTS.jwt, assertion: String(good) };
    expect(await outcome(auth, "token", alone)).toBe("invalid_grant");
    auth.set({ trusted: {} });
    expect(await redeem(good)).toBe("invalid_grant");

    const key = createKey();
    auth.set({ trusted: { [idp.issuer]: [key.jwk] } });
    const claims = { iss: idp.issuer, sub: "ada", aud: auth.issuer, client_id: "there" };
    const typ = { typ: "oauth-id-jag+jwt" };
    expect(await redeem(key.sign(claims, typ))).toMatchObject({ token_type: "Bearer" });
    for (const change of [
      { aud: [auth.issuer, "https://other.example"] },
      { aud: `${auth.issuer}/token` },
      { client_id: undefined },
      { jti: undefined },
      { iat: undefined },
    ])
      expect([change, await redeem(key.sign({ ...claims, ...change }, typ))]).toEqual([
        change,
        "invalid_grant",
      ]);
  });

  test("is announced by both sides", async () => {
    const { idp, auth } = await begin();
    const about = async ({ url }: AuthServer): Promise<unknown> =>
      (await fetch(`${url}/.well-known/oauth-authorization-server`)).json();
    expect(await about(idp)).toMatchObject({
      identity_chaining_requested_token_types_supported: [`${TOKEN_TYPE}id-jag`],
    });
    expect(await about(auth)).toMatchObject({
      authorization_grant_profiles_supported: ["urn:ietf:params:oauth:grant-profile:id-jag"],
    });
  });
});

test("token exchange turns a token of a user into one for a resource", async () => {
  const trusted = createKey();
  const { auth, server } = await start({
    grantTypes: [GRANTS.exchange],
    clients: [publicClient],
    trusted: { "https://platform.example": [trusted.jwk] },
  });
  const { access_token } = await tokensByHand(auth, { scope: "read" });
  const form = { grant_type: GRANTS.exchange, client_id: "cli", resource: server.url, scope: "read" };
  const jwt = trusted.sign({ iss: "https://platform.example", sub: "ada", aud: auth.issuer });
  for (const [type, subject_token] of [
    ["access_token", String(access_token)],
    ["jwt", jwt],
  ] as const) {
    const subject = { subject_token, subject_token_type: `${TOKEN_TYPE}${type}` };
    const { body } = await post(auth, "token", { ...form, ...subject });
    expect(body).toMatchObject({ issued_token_type: `${TOKEN_TYPE}access_token`, token_type: "Bearer" });
    const known = auth.introspect(String(body["access_token"]));
    expect(known).toMatchObject({ sub: "ada", aud: server.url });
  }
});
