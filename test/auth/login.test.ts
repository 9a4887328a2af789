import { describe, expect, it } from "vitest";
import { isPlugboardError } from "../../src/index.ts";
import type { PlugboardError } from "../../src/index.ts";
import { add, browser, openScene, redirectOf } from "./oauth-fixture.ts";

async function refusal(work: Promise<unknown>): Promise<PlugboardError> {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!isPlugboardError(error)) throw new Error("expected a PlugboardError", { cause: error });
  return error;
}

describe("logging in", () => {
  it("names the command to run, and works after it, also in the next hub", async () => {
    const scene = await openScene({}, { requires: { all: ["read"] } });
    const hub = await scene.hub();
    const error = await refusal(hub.connect("issues"));
    expect(error).toMatchObject({ code: "auth-required", hint: "Run `plugboard login issues`." });
    expect(hub.status()).toMatchObject([{ state: "needs-auth" }]);
    // Only what is public was looked up, to say what has to be done.
    expect(scene.auth.received.map(({ method, path }) => `${method} ${path}`)).toEqual([
      "GET /.well-known/oauth-authorization-server",
    ]);

    const opened: URL[] = [];
    const account = await hub.login("issues", browser(opened));
    expect(account).toMatchObject({
      user: "ada",
      issuer: scene.auth.issuer,
      profile: "default",
      scopes: ["read"],
      renewable: true,
      ended: false,
    });
    expect(opened).toHaveLength(1);
    expect(await add(hub)).toEqual({ sum: 3 });
    expect(hub.status()).toMatchObject([{ state: "connected", account: { user: "ada" } }]);
    expect(await add(await scene.hub())).toEqual({ sum: 3 });
    expect(scene.auth.stats).toMatchObject({ registrations: 1, authorizations: 1, refreshes: 0 });
  });

  it("names the server it wants a token for in every request, and proves the code is its own", async () => {
    const { auth, hub: open } = await openScene({ resourceIndicators: "required", registration: "strict" });
    const hub = await open();
    const opened: URL[] = [];
    await hub.login("issues", browser(opened));
    auth.expireAccessTokens();
    expect(await add(hub)).toEqual({ sum: 3 });
    const params = opened[0]?.searchParams;
    expect(params?.get("code_challenge_method")).toBe("S256");
    expect(params?.get("resource")).toMatch(/\/mcp$/);
    expect(params?.get("redirect_uri")).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/callback$/);
    expect(auth.stats).toMatchObject({ refreshes: 1, reuses: 0 });
  });

  it("accepts a pasted redirect when no browser can reach the callback", async () => {
    const { hub: open } = await openScene();
    const hub = await open();
    const account = await hub.login("issues", { askRedirect: (url) => redirectOf(url) });
    expect(account.user).toBe("ada");
    expect(await add(hub)).toEqual({ sum: 3 });
  });

  it("accepts a code that is entered on another device", async () => {
    const { auth, hub: open } = await openScene({ deviceIntervalMs: 1 });
    const hub = await open();
    const account = await hub.login("issues", { device: ({ code }) => auth.approveDevice(code) });
    expect(account.user).toBe("ada");
    expect(await add(hub)).toEqual({ sum: 3 });
  });

  it("uses a configured client, and sends it to no other issuer", async () => {
    const client = {
      client_id: "mine",
      client_secret: "s3cret-of-mine",
      redirect_uris: ["http://127.0.0.1/callback"],
    };
    const scene = await openScene({ clients: [client], registration: false });
    const entry = { oauth: { clientId: "mine", clientSecret: "s3cret-of-mine" } };
    const hub = await scene.hub(entry);
    await hub.login("issues", browser());
    expect(await add(hub)).toEqual({ sum: 3 });
    const other = await openScene();
    scene.server.set({ authorizationServers: [other.auth.issuer] });
    const error = await refusal(hub.login("issues", browser()));
    expect(error).toMatchObject({ code: "auth-failed", data: { reason: "issuer-changed" } });
    expect(other.auth.received.map(({ endpoint }) => endpoint)).toEqual(["metadata"]);
  });

  it("uses a client metadata document if it is supported, or else registers itself", async () => {
    const id = "https://me.example/client.json";
    const document = {
      client_id: id,
      client_name: "Mine",
      redirect_uris: ["http://127.0.0.1/callback"],
      token_endpoint_auth_method: "none",
    };
    const entry = { oauth: { clientMetadataUrl: id } };
    const taken = await openScene({ clientDocuments: { [id]: document } });
    const hub = await taken.hub(entry);
    await hub.login("issues", browser());
    expect(await add(hub)).toEqual({ sum: 3 });
    expect(taken.auth.stats).toMatchObject({ registrations: 0, documents: 1 });
    const other = await openScene({ clientDocuments: false });
    await (await other.hub(entry)).login("issues", browser());
    expect(other.auth.stats).toMatchObject({ registrations: 1, documents: 0 });
  });

  it("reports that a client must be registered if it cannot register one", async () => {
    const none = await openScene({ registration: false });
    expect(await refusal((await none.hub()).login("issues", browser()))).toMatchObject({
      code: "registration-required",
    });
    const rejected = await openScene({ registration: "reject" });
    const error = await refusal((await rejected.hub()).login("issues", browser()));
    expect(error).toMatchObject({ code: "registration-required" });
    expect(error.message).toContain("administrator");
  });

  it("accepts only the issuer that is pinned", async () => {
    const { auth, hub: open } = await openScene();
    const hub = await open({ oauth: { issuer: "https://honest.example" } });
    const error = await refusal(hub.login("issues", browser()));
    expect(error).toMatchObject({ code: "auth-failed", data: { reason: "issuer" } });
    expect(auth.stats.registrations).toBe(0);
    const right = await open({ oauth: { issuer: auth.issuer } });
    await right.login("issues", browser());
    expect(await add(right)).toEqual({ sum: 3 });
    // The same login is not good for another issuer.
    const later = await open({ oauth: { issuer: "https://honest.example" } });
    expect(await refusal(later.connect("issues"))).toMatchObject({ code: "auth-required" });
  });

  it("reads the metadata from the pinned issuer itself", async () => {
    const honest = await openScene();
    const impostor = await openScene({
      alter: { metadata: (all) => ({ ...all, issuer: honest.auth.issuer }) },
    });
    const hub = await impostor.hub({
      oauth: {
        issuer: honest.auth.issuer,
        grant: "client-credentials",
        clientId: "robot",
        clientSecret: "s3cret",
      },
    });
    const error = await refusal(hub.connect("issues"));
    expect(error).toMatchObject({ code: "auth-failed" });
    expect(impostor.auth.received.filter(({ method }) => method !== "GET")).toEqual([]);
    expect(honest.auth.received.filter(({ endpoint }) => endpoint === "token")).toHaveLength(1);
  });

  it("keeps several accounts of one server apart", async () => {
    const scene = await openScene({ users: ["ada", "bob"] });
    const hub = await scene.hub();
    const as = (name: string) => ({
      openUrl: (url: URL) => {
        url.searchParams.set("login_hint", name);
        void fetch(url);
      },
    });
    await hub.login("issues", as("ada"));
    await hub.login("issues", { profile: "work", ...as("bob") });
    expect(await hub.account("issues")).toMatchObject({ user: "ada" });
    expect(await hub.account("issues", { profile: "work" })).toMatchObject({ user: "bob" });
    const work = await scene.hub({ oauth: { profile: "work" } });
    expect(await add(work)).toEqual({ sum: 3 });
    expect(work.status()).toMatchObject([{ account: { user: "bob", profile: "work" } }]);
  });

  it("requests the given scopes, or else the challenge's, or else the configured ones", async () => {
    const challenged = await openScene({}, { requires: { all: ["write"] } });
    const hub = await challenged.hub({ oauth: { scopes: ["read"] } });
    expect((await hub.login("issues", browser())).scopes).toEqual(["write"]);
    expect((await hub.login("issues", { scopes: ["admin"], ...browser() })).scopes).toEqual(["admin"]);
    const silent = await openScene();
    const quiet = await silent.hub({ oauth: { scopes: ["read"] } });
    expect((await quiet.login("issues", browser())).scopes).toEqual(["read"]);
  });

  it("names the missing scopes, and requests them in addition to the existing ones", async () => {
    const scene = await openScene({}, { requires: { all: ["read"], tools: { add: ["write"] } } });
    const hub = await scene.hub();
    await hub.login("issues", browser());
    const error = await refusal(add(hub));
    expect(error).toMatchObject({ code: "auth-failed", data: { reason: "insufficient-scope" } });
    expect(error.hint).toMatch(/^Run `plugboard login issues --scopes '.*\+write.*'`\.$/);
    const { scopes } = await hub.login("issues", { scopes: ["+write"], ...browser() });
    expect(scopes.toSorted()).toEqual(["read", "write"]);
    expect(await add(hub)).toEqual({ sum: 3 });
  });

  it("is noticed by a waiting hub, no matter who logs in", async () => {
    const scene = await openScene();
    const waiting = await scene.hub();
    expect(await refusal(waiting.connect("issues"))).toMatchObject({ code: "auth-required" });
    const asked = scene.server.received.length;
    expect(await refusal(waiting.connect("issues"))).toMatchObject({ code: "auth-required" });
    expect(scene.server.received.length).toBe(asked);
    await (await scene.hub()).login("issues", browser());
    expect(await add(waiting)).toEqual({ sum: 3 });
  });

  it("tells of a browser that cannot be opened, and of the login, with server and account", async () => {
    const { hub: open } = await openScene();
    const hub = await open();
    const told: unknown[] = [];
    hub.on("url-open-failed", (event) => told.push(event));
    hub.on("auth-changed", (event) => told.push(event));
    const { openUrl } = browser();
    const options = {
      profile: "work",
      openUrl: async (url: URL) => {
        await openUrl?.(url);
        throw new Error("no browser here");
      },
    };
    await hub.login("issues", options);
    expect(told).toMatchObject([
      {
        type: "url-open-failed",
        server: "issues",
        account: "work",
        url: expect.stringMatching(/^http[^?]+$/),
      },
      { type: "auth-changed", server: "issues", account: "work", change: "login" },
    ]);
  });

  it("ends when it is cancelled, and closes the callback server", async () => {
    const { hub: open } = await openScene();
    const hub = await open();
    const stop = new AbortController();
    const opened: URL[] = [];
    const login = hub.login("issues", {
      signal: stop.signal,
      openUrl: (url) => {
        opened.push(url);
        stop.abort();
      },
    });
    expect(await refusal(login)).toMatchObject({ code: "auth-required" });
    const door = opened[0]?.searchParams.get("redirect_uri") ?? "";
    await expect(fetch(door)).rejects.toThrow("fetch failed");
  });

  it("revokes and deletes the login on logout", async () => {
    const { auth, hub: open } = await openScene();
    const hub = await open();
    await hub.login("issues", browser());
    await hub.connect("issues");
    expect(hub.status()[0]?.account).toBeDefined();
    expect(await hub.logout("issues")).toEqual({ wasLoggedIn: true, revoked: true });
    expect(hub.status()[0]?.account).toBeUndefined();
    expect(auth.stats.revocations).toBeGreaterThan(0);
    expect(await refusal(hub.connect("issues"))).toMatchObject({ code: "auth-required" });
    expect(await hub.logout("issues")).toEqual({ wasLoggedIn: false, revoked: false });
  });
});

describe("other credentials", () => {
  it("never start a login: configured headers, or none at all", async () => {
    const { auth, hub: open } = await openScene();
    const token = await open({ headers: { Authorization: "Bearer wrong" } });
    expect(await refusal(token.connect("issues"))).toMatchObject({ code: "auth-failed" });
    expect(await refusal(token.login("issues", browser()))).toMatchObject({ code: "usage-invalid" });
    const none = await open({ auth: "none" });
    expect(await refusal(none.connect("issues"))).toMatchObject({ code: "auth-failed" });
    expect(auth.received).toEqual([]);
  });

  it("can be supplied by the host program", async () => {
    const scene = await openScene();
    await (await scene.hub()).login("issues", browser());
    const record = await (await scene.credentials.vault()).get(`tokens/${scene.server.url}|default`);
    const { access_token: token } = (record as { tokens: { access_token: string } }).tokens;
    const authProviders = { company: { token: async () => token } };
    const hub = await scene.hub({ auth: "company" }, { authProviders });
    expect(await add(hub)).toEqual({ sum: 3 });
    expect(await refusal((await scene.hub({ auth: "company" })).connect("issues"))).toMatchObject({
      code: "config-invalid",
    });
  });
});
