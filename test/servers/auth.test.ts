import { generateKeyPairSync } from "node:crypto";
import {
  ClientCredentialsProvider,
  DpopSession,
  PrivateKeyJwtProvider,
  UnauthorizedError,
} from "@modelcontextprotocol/client";
import { afterEach, describe, expect, test, vi } from "vitest";
import { GRANTS, startProtectedMcp } from "./auth/index.ts";
import {
  closing,
  closeAll,
  MemoryProvider,
  start,
  connect,
  finish,
  logIn,
  sum,
  post,
  at,
  publicClient,
  tokensByHand,
} from "./auth/tests/fixture.ts";

afterEach(async () => {
  vi.restoreAllMocks();
  await closeAll();
});

const CIMD = "https://client.example/plugboard.json";

describe("the SDK's client logs in", () => {
  test.each([
    ["legacy", undefined],
    ["modern", { pin: "2026-07-28" }],
  ])("by dynamic registration to a %s server", async (_era, mode) => {
    const { auth, server } = await start({ registration: "strict" });
    const provider = new MemoryProvider();
    expect(await sum(await logIn(server, provider, mode))).toEqual({ sum: 3 });
    expect(auth.stats).toMatchObject({ registrations: 1, authorizations: 1, tokens: 1 });
    expect(auth.grants).toMatchObject([
      { user: "ada", audience: server.url, clientId: provider.client?.client_id },
    ]);
    expect(at(auth, "token")[0]?.params.get("resource")).toBe(server.url);
  });

  test("by a client-ID metadata document", async () => {
    const document = { client_id: CIMD, client_name: "Test", redirect_uris: ["http://127.0.0.1/callback"] };
    const { auth, server } = await start({ clientDocuments: { [CIMD]: document } });
    const provider = new MemoryProvider();
    provider.clientMetadataUrl = CIMD;
    expect(await sum(await logIn(server, provider))).toEqual({ sum: 3 });
    expect(auth.stats).toMatchObject({ registrations: 0, documents: 1 });
    expect(auth.clients.get(CIMD)).toMatchObject({ source: "document" });
  });

  test.each(["none", "client_secret_basic", "client_secret_post"] as const)(
    "as a client that was registered beforehand, with %s",
    async (method) => {
      const secret = method !== "none" && { client_secret: "s3cret" };
      const entry = { ...publicClient, ...secret, token_endpoint_auth_method: method };
      const { auth, server } = await start({ registration: false, clients: [entry] });
      const provider = new MemoryProvider();
      const issued = { issuer: auth.issuer, token_endpoint_auth_method: method };
      provider.client = { client_id: "cli", ...secret, ...issued };
      expect(await sum(await logIn(server, provider))).toEqual({ sum: 3 });
      expect(auth.grants).toMatchObject([{ clientId: "cli" }]);
    },
  );

  test.each([
    ["ES256", () => generateKeyPairSync("ec", { namedCurve: "P-256" })],
    ["RS256", () => generateKeyPairSync("rsa", { modulusLength: 2048 })],
  ])("for itself with a private key (%s)", async (algorithm, generate) => {
    const { publicKey, privateKey } = generate();
    const jwks = { keys: [publicKey.export({ format: "jwk" })] };
    const { auth, server } = await start({ clients: [{ client_id: "robot", jwks }] });
    const key = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
    const provider = new PrivateKeyJwtProvider({
      clientId: "robot",
      privateKey: key,
      algorithm,
      expectedIssuer: auth.issuer,
    });
    expect(await sum(await connect(server, provider))).toEqual({ sum: 3 });
    expect(auth.grants).toMatchObject([{ type: "client_credentials", user: undefined }]);

    const other = generate().privateKey.export({ type: "pkcs8", format: "pem" }).toString();
    const thief = new PrivateKeyJwtProvider({
      clientId: "robot",
      privateKey: other,
      algorithm,
      expectedIssuer: auth.issuer,
    });
    vi.spyOn(console, "warn").mockReturnValue();
    await expect(connect(server, thief)).rejects.toThrow("signature");
  });

  test("for itself with a secret", async () => {
    const { auth, server } = await start({ clients: [{ client_id: "robot", client_secret: "s3cret" }] });
    const credentials = { clientId: "robot", clientSecret: "s3cret", expectedIssuer: auth.issuer };
    expect(await sum(await connect(server, new ClientCredentialsProvider(credentials)))).toEqual({ sum: 3 });
  });

  test.each([
    ["/tenant", ["oauth"]],
    ["/tenant", ["oidc"]],
    ["/tenant/a", ["oidc-appended"]],
    [undefined, ["oidc"]],
  ] as const)("at the issuer %s with %s discovery", async (path, discovery) => {
    const { auth, server } = await start({ ...(path && { path }), discovery: [...discovery] });
    expect(auth.issuer).toBe(`${auth.url}${path ?? ""}`);
    expect(await sum(await logIn(server, new MemoryProvider()))).toEqual({ sum: 3 });
  });

  test.each(["path", "root", "elsewhere"] as const)("with resource metadata at: %s", async (place) => {
    const { server } = await start({}, { metadataAt: [place] });
    await logIn(server, new MemoryProvider());
    const asked = server.received.filter(({ endpoint }) => endpoint === "resource-metadata");
    expect(asked.length).toBeGreaterThan(0);
  });

  test("with a key that the tokens are bound to, and a nonce from each side", async () => {
    const { auth, server } = await start({ dpop: "nonce" }, { dpop: "nonce" });
    const session = await DpopSession.create();
    const provider = Object.assign(new MemoryProvider(), { dpop: () => session });
    expect(await sum(await logIn(server, provider))).toEqual({ sum: 3 });
    expect(auth.introspect(provider.saved?.access_token ?? "").cnf).toEqual({ jkt: session.thumbprint });
    const stolen = { authorization: `Bearer ${provider.saved?.access_token}` };
    expect((await fetch(server.url, { headers: stolen })).status).toBe(401);
  });

  test("again for more, when a tool needs a scope that was not granted", async () => {
    const requires = { all: ["read"], tools: { add: ["write"] } };
    const { auth, server } = await start({}, { requires });
    const provider = new MemoryProvider();
    const client = await logIn(server, provider);
    expect(auth.grants.at(-1)?.scopes).toEqual(["read"]);
    await expect(sum(client)).rejects.toThrow(UnauthorizedError);
    expect(new Set(provider.opened?.searchParams.get("scope")?.split(" "))).toEqual(
      new Set(["read", "write"]),
    );
    await finish(server, provider);
    expect(await sum(client)).toEqual({ sum: 3 });
    expect(auth.grants.at(-1)?.scopes.toSorted()).toEqual(["read", "write"]);
  });

  test("and is told when registration is refused or not there", async () => {
    const { auth, server } = await start({ registration: "reject" });
    await expect(connect(server, new MemoryProvider())).rejects.toThrow("administrator");
    auth.set({ registration: false });
    await expect(connect(server, new MemoryProvider())).rejects.toThrow("dynamic client registration");
  });
});

describe("refreshing", () => {
  test("gives a new refresh token each time, and the SDK goes on with it", async () => {
    const { auth, server } = await start();
    const provider = new MemoryProvider();
    // A legacy client has a second stream, and the SDK would refresh for both at once.
    const client = await logIn(server, provider, { pin: "2026-07-28" });
    const first = provider.saved?.refresh_token;
    for (const refreshes of [1, 2]) {
      auth.advance(3_600_000);
      expect(await sum(client)).toEqual({ sum: 3 });
      expect(auth.stats).toMatchObject({ refreshes, reuses: 0 });
    }
    expect(provider.saved?.refresh_token).not.toBe(first);
    expect(auth.grants).toHaveLength(1);
  });

  test("twice with the same token ends the whole family", async () => {
    const { auth } = await start({ clients: [publicClient] });
    const first = await tokensByHand(auth);
    const form = {
      grant_type: GRANTS.refresh,
      client_id: "cli",
      refresh_token: String(first["refresh_token"]),
    };
    const answers = await Promise.all(Array.from({ length: 12 }, () => post(auth, "token", form)));
    const won = answers.filter(({ status }) => status === 200);
    expect(won).toHaveLength(1);
    expect(auth.stats).toMatchObject({ refreshes: 1, reuses: 1 });
    expect(auth.grants).toMatchObject([{ revoked: "reuse" }]);
    expect(auth.introspect(String(won[0]?.body["access_token"]))).toEqual({ active: false });
    const again = { ...form, refresh_token: String(won[0]?.body["refresh_token"]) };
    expect(await post(auth, "token", again)).toMatchObject({ status: 400, body: { error: "invalid_grant" } });
  });

  test("never widens scope or resource, and may be narrower", async () => {
    const { auth, server } = await start({ clients: [publicClient] });
    const { refresh_token } = await tokensByHand(auth, { scope: "read write", resource: server.url });
    const form = { grant_type: GRANTS.refresh, client_id: "cli", refresh_token: String(refresh_token) };
    expect((await post(auth, "token", { ...form, scope: "admin" })).body).toMatchObject({
      error: "invalid_scope",
    });
    const elsewhere = { ...form, resource: "https://other.example" };
    expect((await post(auth, "token", elsewhere)).body).toMatchObject({ error: "invalid_target" });
    expect((await post(auth, "token", { ...form, scope: "read" })).body).toMatchObject({ scope: "read" });
  });

  test("can be lost on the way back, after the token was used up", async () => {
    const { auth } = await start({ clients: [publicClient] });
    const { refresh_token } = await tokensByHand(auth);
    auth.set({ faults: { token: { drop: "after", times: 1 } } });
    const form = { grant_type: GRANTS.refresh, client_id: "cli", refresh_token: String(refresh_token) };
    await expect(post(auth, "token", form)).rejects.toThrow("fetch failed");
    expect((await post(auth, "token", form)).body).toMatchObject({ error: "invalid_grant" });
    expect(auth.stats).toMatchObject({ refreshes: 1, reuses: 1 });
  });

  test("is not offered where it was not asked for", async () => {
    const { auth } = await start({ clients: [publicClient], refreshTokens: "offline_access" });
    expect(await tokensByHand(auth, { scope: "read" })).not.toHaveProperty("refresh_token");
    expect(await tokensByHand(auth, { scope: "read offline_access" })).toHaveProperty("refresh_token");
  });
});

describe("the protected server", () => {
  const bearer = (token: unknown): RequestInit => ({
    method: "POST",
    headers: { authorization: `Bearer ${String(token)}` },
  });

  test.each([
    ["bearer", /^Bearer scope="read", resource_metadata="http:[^"]+mcp"$/],
    ["bare", /^Bearer$/],
    ["several", /^Basic .*, Bearer scope=.*, Negotiate$/],
    ["lines", /^Basic .*, Negotiate, Bearer scope=/],
    ["decoy", /^Mystery .*, Bearer scope=/],
    ["malformed", /^Bearer resource_metadata="[^"]*$/],
    ["none", /^null$/],
  ] as const)("turns away who has no token, with a challenge: %s", async (challengeStyle, expected) => {
    const { server } = await start({}, { challengeStyle, requires: { all: ["read"] } });
    for (const url of [server.url, server.sseUrl]) {
      const response = await fetch(url);
      expect(response.status).toBe(401);
      expect(String(response.headers.get("www-authenticate"))).toMatch(expected);
    }
    expect(server.mcp.received).toEqual([]);
  });

  test("takes only tokens that are alive, for itself and sufficient", async () => {
    const { auth, server } = await start({ clients: [publicClient] }, { requires: { all: ["read"] } });
    const other = await startProtectedMcp(auth);
    closing.push(() => other.close());
    const status = async (token: unknown): Promise<[number, unknown]> => {
      const response = await fetch(server.url, bearer(token));
      return [response.status, /error="(\w+)"/.exec(response.headers.get("www-authenticate") ?? "")?.[1]];
    };
    const tokenFor = async (change: Record<string, string>): Promise<unknown> =>
      (await tokensByHand(auth, change))["access_token"];
    const good = await tokenFor({ resource: server.url, scope: "read" });
    expect(await status(good)).toEqual([400, undefined]);
    expect(await status("unknown")).toEqual([401, "invalid_token"]);
    expect(await status(await tokenFor({ scope: "read" }))).toEqual([401, "invalid_token"]);
    expect(await status(await tokenFor({ resource: other.url, scope: "read" }))).toEqual([
      401,
      "invalid_token",
    ]);
    expect(await status(await tokenFor({ resource: server.url, scope: "write" }))).toEqual([
      403,
      "insufficient_scope",
    ]);
    auth.expireAccessTokens();
    expect(await status(good)).toEqual([401, "invalid_token"]);
    expect((await fetch(`${server.url}?access_token=${String(good)}`)).status).toBe(401);
  });

  test("asks for more where a method or a tool needs it, and names all that this request needs", async () => {
    const requires = { all: ["read"], methods: { "resources/list": ["admin"] }, tools: { add: ["write"] } };
    const { auth, server } = await start({ clients: [publicClient] }, { requires }, { sessions: false });
    const tokenFor = async (scope: string): Promise<unknown> =>
      (await tokensByHand(auth, { resource: server.url, scope }))["access_token"];
    const ask = async (token: unknown, method: string, name?: string): Promise<[number, string | null]> => {
      const accept = { accept: "application/json, text/event-stream", "content-type": "application/json" };
      const headers = { authorization: `Bearer ${String(token)}`, ...accept };
      const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: { name, arguments: {} } });
      const response = await fetch(server.url, { method: "POST", headers, body });
      return [response.status, response.headers.get("www-authenticate")];
    };
    const few = await tokenFor("read");
    const about = `resource_metadata="${new URL("/.well-known/oauth-protected-resource/mcp", server.url).href}"`;
    const more = (scope: string): string =>
      `Bearer error="insufficient_scope", scope="${scope}", error_description="More is needed", ${about}`;
    expect(await ask(few, "tools/list")).toEqual([200, null]);
    expect(await ask(few, "tools/call", "echo")).toEqual([200, null]);
    expect(await ask(few, "tools/call", "add")).toEqual([403, more("read write")]);
    expect(await ask(few, "resources/list")).toEqual([403, more("read admin")]);
    const enough = await tokenFor("read write");
    expect(await ask(enough, "tools/call", "add")).toEqual([200, null]);
    server.set({ requires: { tools: { echo: ["admin"] } } });
    expect(await ask(enough, "tools/call", "echo")).toEqual([403, more("admin")]);
  });

  test("passes on what the script does, streams and resets included", async () => {
    const on = [{ when: { tool: "add" }, do: [{ progress: 2 }, { drop: "reset" as const }] }];
    const { auth, server } = await start({ clients: [publicClient] }, {}, { on, sessions: false });
    const { access_token } = await tokensByHand(auth, { resource: server.url });
    const headers = {
      authorization: `Bearer ${String(access_token)}`,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
    };
    const params = { name: "add", arguments: {}, _meta: { progressToken: 1 } };
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params });
    const response = await fetch(server.url, { method: "POST", headers, body });
    const seen: string[] = [];
    const read = async (): Promise<void> => {
      for await (const chunk of response.body ?? []) seen.push(Buffer.from(chunk).toString());
    };
    await expect(read()).rejects.toThrow("terminated");
    expect(seen.join("").match(/notifications.progress/g)).toHaveLength(2);
  });
});
