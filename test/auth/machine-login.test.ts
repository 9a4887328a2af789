import { createPrivateKey, createPublicKey, generateKeyPairSync, verify } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { inspect } from "node:util";
import { describe, expect, it, onTestFinished } from "vitest";
import { clientAssertion } from "../../src/auth/oauth/client-assertion.ts";
import { Workspace } from "../../src/config.ts";
import type { PlugboardError, PlugboardEvent } from "../../src/index.ts";
import { createSandbox } from "../sandbox.ts";
import { createKey, GRANTS, startIdentityProvider } from "../fixtures/auth/index.ts";
import type { AuthOptions, AuthServer } from "../fixtures/auth/index.ts";
import { add, hubAt, openScene, refusal, requestsOf, tokenRequests } from "./oauth-fixture.ts";

const platform = "https://platform.example";
const [platformKey, ecKey, rsaKey] = [createKey(), createKey("ES256"), createKey("RS256")];
const ecJwk = JSON.stringify(createPrivateKey(ecKey.pem).export({ format: "jwk" }));
const secret = "s3cret-of-the-client";
const idJag = "urn:ietf:params:oauth:token-type:id-jag";
const secretAtHome = "s3cret-at-the-provider";

/** Everything that can log in for itself, and the servers that know it. */
async function openMachines(options: AuthOptions = {}, provider: AuthOptions = {}) {
  const post = { token_endpoint_auth_method: "client_secret_post" } as const;
  const idp = await startIdentityProvider({
    clients: [{ client_id: "agent", client_secret: secretAtHome }],
    ...provider,
  });
  onTestFinished(() => idp.close());
  const scene = await openScene(
    {
      grantTypes: [GRANTS.client, GRANTS.jwt],
      registration: false,
      trusted: { [platform]: [platformKey.jwk], [idp.issuer]: idp.keys },
      clients: [
        { client_id: "robot", client_secret: secret },
        { client_id: "poster", client_secret: secret, ...post },
        { client_id: "signer", jwks: { keys: [ecKey.jwk, rsaKey.jwk] } },
        { client_id: "job" },
        { client_id: "agent", client_secret: secret },
      ],
      ...options,
    },
    { requires: { all: ["read"] } },
  );
  return { ...scene, idp, ways: waysOf(scene.auth, idp) };
}

function waysOf(auth: AuthServer, idp: AuthServer) {
  const itself = { grant: "client-credentials" };
  return {
    "a secret in the header": { ...itself, clientId: "robot", clientSecret: secret },
    "a secret in the form": { ...itself, clientId: "poster", clientSecret: secret },
    "a key as PEM": { ...itself, clientId: "signer", privateKey: ecKey.pem },
    "a key as JWK": { ...itself, clientId: "signer", privateKey: ecJwk },
    "an RSA key": { ...itself, clientId: "signer", privateKey: rsaKey.pem },
    "a workload's token": {
      grant: "jwt-bearer",
      clientId: "job",
      assertion: platformKey.sign({ iss: platform, sub: "job-7", aud: auth.issuer }),
    },
    "the token of a workload that nobody registered": {
      grant: "jwt-bearer",
      assertion: platformKey.sign({ iss: platform, sub: "job-8", aud: auth.issuer }),
    },
    "a company's identity provider": {
      grant: "cross-app",
      clientId: "agent",
      clientSecret: secret,
      assertion: idp.idToken("agent", "ada"),
      identityProvider: { issuer: idp.issuer, clientId: "agent", clientSecret: secretAtHome },
    },
  };
}

type Ways = ReturnType<typeof waysOf>;

/** Servers that want the secret in the form say so. */
const onlyPost: AuthOptions = {
  alter: {
    metadata: (all) => ({ ...all, token_endpoint_auth_methods_supported: ["client_secret_post"] }),
  },
};

const ways: { way: keyof Ways; user?: string; type: string; options?: AuthOptions }[] = [
  { way: "a secret in the header", type: GRANTS.client },
  { way: "a secret in the form", type: GRANTS.client, options: onlyPost },
  { way: "a key as PEM", type: GRANTS.client },
  { way: "a key as JWK", type: GRANTS.client },
  { way: "an RSA key", type: GRANTS.client },
  { way: "a workload's token", user: "job-7", type: GRANTS.jwt },
  { way: "the token of a workload that nobody registered", user: "job-8", type: GRANTS.jwt },
  { way: "a company's identity provider", user: "ada", type: GRANTS.jwt },
];

/** None of what is secret in `oauth` is in what a user or a program gets to see. */
function expectNothingOf(oauth: object, error: PlugboardError, events: readonly PlugboardEvent[]): void {
  const shown = [String(error), JSON.stringify(error), inspect(error, { depth: 9 }), JSON.stringify(events)];
  const { privateKey, assertion, clientSecret } = oauth as Record<string, string | undefined>;
  const key = privateKey?.startsWith("{") ? (JSON.parse(privateKey) as { d?: string }).d : privateKey;
  const inPem = key?.split("\n")[1] ?? key;
  for (const one of [clientSecret, secretAtHome, assertion, inPem]) {
    if (one !== undefined) expect(shown.join("\n")).not.toContain(one);
  }
}

describe.each(ways)("a login by $way", ({ way, user, type, options }) => {
  it("needs no person: the first call gets a token, the next ones use it", async () => {
    const { auth, server, ways: known, hub: open } = await openMachines(options);
    const hub = await open({ oauth: known[way] });
    expect(await add(hub)).toEqual({ sum: 3 });
    expect(await add(hub)).toEqual({ sum: 3 });
    expect(auth.grants).toMatchObject([{ type, user, scopes: ["read"], audience: server.url }]);
    expect(tokenRequests(auth)).toHaveLength(1);
    expect(auth.received.filter(({ endpoint }) => endpoint === "authorize")).toEqual([]);
  });

  it("logs in again before it expires, without a refresh token and without a refusal", async () => {
    let now = Date.now();
    const short = { accessTokenMs: 10_000, clock: () => now };
    const { auth, server, ways: known, hub: open } = await openMachines({ ...short, ...options });
    const hub = await open({ oauth: known[way] }, { clock: () => now });
    await add(hub);
    now += 9_500;
    const before = requestsOf(server, "tools/call").length;
    expect(await add(hub)).toEqual({ sum: 3 });
    expect(requestsOf(server, "tools/call").slice(before)).toHaveLength(1);
    expect(auth.stats).toMatchObject({ tokens: 2, refreshes: 0 });
  });

  it("logs in again once if it is refused, and the call is executed once", async () => {
    let now = Date.now();
    const { auth, server, ways: known, hub: open } = await openMachines(options);
    const hub = await open({ oauth: known[way] }, { clock: () => now });
    await add(hub);
    auth.expireAccessTokens();
    now += 6_000;
    const before = server.mcp.received.length;
    expect(await add(hub)).toEqual({ sum: 3 });
    expect(server.mcp.received.slice(before)).toMatchObject([{ message: { method: "tools/call" } }]);
    expect(auth.stats).toMatchObject({ tokens: 2, refreshes: 0 });
  });

  it("can be made by hand", async () => {
    const { auth, ways: known, hub: open } = await openMachines(options);
    const hub = await open({ oauth: known[way] });
    const account = await hub.login("issues", {});
    expect(account).toMatchObject({ issuer: auth.issuer, scopes: ["read"], ended: false });
    expect(await add(hub)).toEqual({ sum: 3 });
    expect(auth.stats.tokens).toBe(1);
  });

  it("shows no secret that an authorization server or a server sends back", async () => {
    const { auth, server, events, ways: known, hub: open } = await openMachines(options);
    const oauth = known[way];
    const words = Object.values(oauth).filter((value) => typeof value === "string");
    const hub = await open({ oauth });
    const answer = { status: 400, body: { error: "invalid_grant", error_description: words.join(" ") } };
    auth.set({ faults: { token: { answer } } });
    expectNothingOf(oauth, await refusal(add(hub)), events);
    expectNothingOf(oauth, await refusal(hub.login("issues", {})), events);
    auth.set({ faults: {} });
    await hub.login("issues", {});
    await add(hub);
    server.set({ faults: { mcp: { answer: { status: 403, body: words.join(" ") } } } });
    expectNothingOf(oauth, await refusal(add(hub)), events);
  });
});

describe("logins without a person", () => {
  it("read a workload's token again for every login", async () => {
    let now = Date.now();
    const { auth, hub: open } = await openMachines();
    const file = join(createSandbox().root, "token");
    const vouchFor = (sub: string) =>
      writeFileSync(file, platformKey.sign({ iss: platform, sub, aud: auth.issuer }));
    vouchFor("job-1");
    const oauth = { grant: "jwt-bearer", clientId: "job", assertion: `\${file:${file}}` };
    const hub = await open({ oauth }, { clock: () => now });
    await add(hub);
    vouchFor("job-2");
    auth.expireAccessTokens();
    now += 6_000;
    expect(await add(hub)).toEqual({ sum: 3 });
    vouchFor("job-3");
    await hub.login("issues", {});
    expect(auth.grants.map(({ user }) => user)).toEqual(["job-1", "job-2", "job-3"]);
  });

  it("are made once for all hubs that share them, also when all find out at once that it ended", async () => {
    let now = Date.now();
    const { auth, ways: known, hub: open } = await openMachines();
    const entry = { oauth: known["a company's identity provider"] };
    const hubs = await Promise.all(Array.from({ length: 5 }, () => open(entry, { clock: () => now })));
    const sums = hubs.map(() => ({ sum: 3 }));
    expect(await Promise.all(hubs.map(add))).toEqual(sums);
    expect(auth.stats.tokens).toBe(1);
    auth.expireAccessTokens();
    now += 6_000;
    expect(await Promise.all(hubs.map(add))).toEqual(sums);
    expect(auth.stats.tokens).toBe(2);
  });

  it("are made once for all programs that share a vault on disk", async () => {
    const { auth, server, ways: known } = await openMachines();
    const { options } = createSandbox();
    const openProgram = async () => {
      const workspace = await Workspace.open(options);
      onTestFinished(() => workspace.close());
      const { credentials } = workspace;
      return hubAt(server.url, { oauth: known["a key as PEM"] }, { credentials });
    };
    const hubs = await Promise.all([openProgram(), openProgram(), openProgram()]);
    expect(await Promise.all(hubs.map(add))).toEqual(hubs.map(() => ({ sum: 3 })));
    expect(auth.stats.tokens).toBe(1);
    expect(await add(await openProgram())).toEqual({ sum: 3 });
    expect(auth.stats.tokens).toBe(1);
  });

  it.each([
    ["oauth.clientId", { grant: "client-credentials", clientSecret: secret }],
    ["oauth.assertion", { grant: "jwt-bearer", clientId: "job" }],
    ["oauth.assertion", { grant: "cross-app", clientId: "agent", clientSecret: secret }],
    ["oauth.identityProvider", { grant: "cross-app", clientId: "agent", assertion: "a.b.c" }],
  ])("say that %s is missing", async (field, oauth) => {
    const { auth, hub: open } = await openMachines();
    const hub = await open({ oauth });
    for (const attempt of [() => add(hub), () => hub.login("issues", {})]) {
      const error = await refusal(attempt());
      expect(error).toMatchObject({ code: "config-invalid", server: "issues", data: { field } });
      expect(error.message).toContain(`\`${field}\``);
    }
    expect(tokenRequests(auth)).toEqual([]);
  });

  const wrong: { code: string; how: string; oauth(known: Ways): object; options?: AuthOptions }[] = [
    {
      code: "invalid_client",
      how: "a wrong secret",
      oauth: (known) => ({ ...known["a secret in the header"], clientSecret: "another-s3cret" }),
    },
    {
      code: "invalid_client",
      how: "a wrong key",
      oauth: (known) => ({ ...known["a key as PEM"], privateKey: createKey().pem }),
    },
    {
      code: "invalid_client",
      how: "an unknown client",
      oauth: (known) => ({ ...known["a secret in the header"], clientId: "stranger" }),
    },
    {
      code: "invalid_grant",
      how: "a workload of a stranger",
      oauth: (known) => known["a workload's token"],
      options: { trusted: {} },
    },
    {
      code: "invalid_grant",
      how: "a provider that is not trusted",
      oauth: (known) => known["a company's identity provider"],
      options: { trusted: {} },
    },
    {
      code: "unauthorized_client",
      how: "a client that is not allowed to",
      oauth: () => ({ grant: "client-credentials", clientId: "job" }),
    },
    {
      code: "unsupported_grant_type",
      how: "a grant that is not offered",
      oauth: (known) => known["a workload's token"],
      options: { grantTypes: [GRANTS.client] },
    },
  ];
  it.each(wrong)("end at $how: $code, after one request and no other grant", async (one) => {
    const { auth, events, ways: known, hub: open } = await openMachines(one.options);
    const oauth = one.oauth(known);
    const hub = await open({ oauth });
    const error = await refusal(add(hub));
    expect(error).toMatchObject({ code: "auth-failed", server: "issues", data: { error: one.code } });
    expect(error.message).toContain(`(${one.code})`);
    expect(error.hint).toContain("Check `oauth` of the server");
    expectNothingOf(oauth, error, events);
    expect(tokenRequests(auth)).toHaveLength(1);
    expect(await refusal(hub.login("issues", {}))).toMatchObject({
      code: "auth-failed",
      message: error.message,
    });
    expect(tokenRequests(auth)).toHaveLength(2);
    expect(await hub.account("issues")).toBeUndefined();
  });
});

describe("an identity provider", () => {
  const named = (change: object): AuthOptions => ({ alter: { metadata: (all) => ({ ...all, ...change }) } });
  it.each([
    {
      how: "that names a different issuer",
      says: "https://other.example",
      provider: named({ issuer: "https://other.example" }),
    },
    {
      how: "that does not name its issuer",
      says: "does not name its issuer",
      provider: named({ issuer: undefined }),
    },
    { how: "without metadata", says: "has no metadata", provider: { discovery: [] } },
    {
      how: "with a token endpoint in the open",
      says: "token_endpoint",
      provider: named({ token_endpoint: "http://idp.example/token" }),
    },
    {
      how: "in the open",
      says: "neither https nor on this machine",
      provider: {},
      issuer: "http://idp.example",
    },
  ])("$how is told nothing", async ({ says, provider, issuer }) => {
    const { auth, idp, events, ways: known, hub: open } = await openMachines({}, provider);
    const cross = known["a company's identity provider"];
    const identityProvider = { ...cross.identityProvider, ...(issuer !== undefined && { issuer }) };
    const oauth = { ...cross, identityProvider };
    const hub = await open({ oauth });
    const error = await refusal(add(hub));
    expect(error).toMatchObject({ code: "auth-failed", data: { reason: "identity-provider" } });
    expect(error.message).toContain(says);
    expect(error.hint).toContain("`oauth.identityProvider`");
    expectNothingOf(oauth, error, events);
    expect([tokenRequests(idp), tokenRequests(auth)]).toEqual([[], []]);
  });

  it.each(["client_secret_basic", "client_secret_post"] as const)(
    "is shown a secret by %s",
    async (method) => {
      const clients = [
        { client_id: "agent", client_secret: secretAtHome, token_endpoint_auth_method: method },
      ];
      const provider = { clients, ...named({ token_endpoint_auth_methods_supported: [method] }) };
      const { ways: known, hub: open } = await openMachines({}, provider);
      expect(await add(await open({ oauth: known["a company's identity provider"] }))).toEqual({ sum: 3 });
    },
  );

  it.each([
    {
      how: "a token of another kind",
      token: { issued_token_type: "urn:ietf:params:oauth:token-type:access_token" },
    },
    { how: "no token", token: { access_token: undefined } },
  ])("that gives $how is believed nothing", async ({ token }) => {
    const { auth, idp, ways: known, hub: open } = await openMachines();
    const answer = { body: { access_token: "a.b.c", issued_token_type: idJag, token_type: "N_A", ...token } };
    idp.set({ faults: { token: { answer } } });
    const error = await refusal(add(await open({ oauth: known["a company's identity provider"] })));
    expect(error).toMatchObject({ code: "auth-failed", data: { reason: "identity-provider" } });
    expect(tokenRequests(auth)).toEqual([]);
  });

  it("that refuses the exchange is asked once, and the server's own not at all", async () => {
    const { auth, idp, events, ways: known, hub: open } = await openMachines();
    const cross = known["a company's identity provider"];
    const oauth = { ...cross, assertion: idp.idToken("somebody-else", "ada") };
    const error = await refusal(add(await open({ oauth })));
    expect(error).toMatchObject({ code: "auth-failed", data: { error: "invalid_grant" } });
    expect(error.message).toContain(idp.issuer);
    expectNothingOf(oauth, error, events);
    expect([tokenRequests(idp).length, tokenRequests(auth).length]).toEqual([1, 0]);
  });
});

describe("the proof of a client with a key", () => {
  const pem = (key: ReturnType<typeof generateKeyPairSync>["privateKey"]) =>
    (key as unknown as { export(form: object): Buffer }).export({ type: "pkcs8", format: "pem" }).toString();
  const about = { server: "issues", clientId: "signer", audience: "https://issuer.example" };
  it.each([
    ["ES256", "sha256", pem(generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey)],
    ["ES384", "sha384", pem(generateKeyPairSync("ec", { namedCurve: "P-384" }).privateKey)],
    ["ES512", "sha512", pem(generateKeyPairSync("ec", { namedCurve: "P-521" }).privateKey)],
    ["RS256", "sha256", rsaKey.pem],
    ["EdDSA", null, pem(generateKeyPairSync("ed25519").privateKey)],
  ])("is signed with %s where the key is for that", (alg, hash, privateKey) => {
    const [head = "", body = "", signature = ""] = clientAssertion({
      ...about,
      privateKey,
      now: 7_000,
    }).split(".");
    const read = (part: string): unknown => JSON.parse(Buffer.from(part, "base64url").toString());
    expect(read(head)).toEqual({ alg, typ: "JWT" });
    expect(read(body)).toEqual({
      iss: "signer",
      sub: "signer",
      aud: "https://issuer.example",
      iat: 7,
      exp: 307,
      jti: expect.stringMatching(/^[\w-]{36}$/),
    });
    const key = createPublicKey(privateKey);
    const data = Buffer.from(`${head}.${body}`);
    expect(verify(hash, data, { key, dsaEncoding: "ieee-p1363" }, Buffer.from(signature, "base64url"))).toBe(
      true,
    );
  });

  it.each([
    ["nonsense", "-----BEGIN nonsense of mine"],
    ["half a key", '{"kty":"EC","crv":"P-256","d":"half-a-key"}'],
    ["a public key", JSON.stringify(ecKey.jwk)],
    ["a key that signs nothing", pem(generateKeyPairSync("x25519").privateKey)],
    [
      "a key on a curve that JWTs do not have",
      pem(generateKeyPairSync("ec", { namedCurve: "P-224" }).privateKey),
    ],
  ])("is not made with %s, which is not shown either", async (_name, privateKey) => {
    const { auth, events, hub: open } = await openMachines();
    const hub = await open({ oauth: { grant: "client-credentials", clientId: "signer", privateKey } });
    const error = await refusal(add(hub));
    expect(error).toMatchObject({ code: "config-invalid", server: "issues" });
    expect(error.message).toContain("`oauth.privateKey`");
    expectNothingOf({ privateKey }, error, events);
    expect(tokenRequests(auth)).toEqual([]);
  });
});
