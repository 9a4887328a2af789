import { describe, expect, it, onTestFinished } from "vitest";
import { Workspace } from "../../src/config.ts";
import type { IssuerChange } from "../../src/host.ts";
import type { Hub, HubOptions, LoginOptions } from "../../src/index.ts";
import { createSandbox } from "../sandbox.ts";
import { createKey, GRANTS, startAuthServer, startIdentityProvider } from "../fixtures/auth/index.ts";
import type { AuthServer } from "../fixtures/auth/index.ts";
import { add, browser, hubAt, openScene, refusal, tokenRequests } from "./oauth-fixture.ts";

const platform = "https://platform.example";
const [platformKey, clientKey] = [createKey(), createKey("ES256")];
const secret = "s3cret-of-the-client";

const machines = {
  "a client secret": () => ({ grant: "client-credentials", clientId: "robot", clientSecret: secret }),
  "a client key": () => ({ grant: "client-credentials", clientId: "signer", privateKey: clientKey.pem }),
  "a workload's token": (_idp: AuthServer, auth: AuthServer) => ({
    grant: "jwt-bearer",
    clientId: "job",
    assertion: workloadToken(auth),
  }),
  "the token of a workload without a client": (_idp: AuthServer, auth: AuthServer) => ({
    grant: "jwt-bearer",
    assertion: workloadToken(auth),
  }),
  "a company's identity provider": (idp: AuthServer) => ({
    grant: "cross-app",
    clientId: "agent",
    clientSecret: secret,
    assertion: idp.idToken("agent", "ada"),
    identityProvider: { issuer: idp.issuer, clientId: "agent", clientSecret: secret },
  }),
};
const people = {
  "a person's login": () => ({}),
  "a person's login with a client of their own": () => ({ clientId: "desk", clientSecret: secret }),
};
const ways: Record<string, (idp: AuthServer, auth: AuthServer) => object> = { ...machines, ...people };

function workloadToken(auth: AuthServer): string {
  return platformKey.sign({ iss: platform, sub: "job-7", aud: auth.issuer });
}

/** Two authorization servers that both accept everybody, and a server that names the first one. */
async function openPair() {
  const idp = await startIdentityProvider({ clients: [{ client_id: "agent", client_secret: secret }] });
  onTestFinished(() => idp.close());
  const options = {
    autoConsent: true,
    grantTypes: [GRANTS.client, GRANTS.jwt, GRANTS.device],
    trusted: { [platform]: [platformKey.jwk], [idp.issuer]: idp.keys },
    clients: [
      { client_id: "robot", client_secret: secret },
      { client_id: "signer", jwks: { keys: [clientKey.jwk] } },
      { client_id: "job" },
      { client_id: "public", redirect_uris: ["http://127.0.0.1/callback"] },
      { client_id: "agent", client_secret: secret },
      { client_id: "desk", client_secret: secret, redirect_uris: ["http://127.0.0.1/callback"] },
    ],
  };
  const scene = await openScene(options);
  const second = await startAuthServer(options);
  onTestFinished(() => second.close());
  second.resources.add(scene.server.url);
  const box = createSandbox();
  let now = Date.now();
  /** A program with the state of the ones before it. */
  const openProgram = async (oauth: object, more: HubOptions = {}): Promise<Hub> => {
    const workspace = await Workspace.open(box.options);
    onTestFinished(() => workspace.close());
    const { credentials } = workspace;
    return hubAt(scene.server.url, { oauth }, { credentials, clock: () => now, ...more }, scene.events);
  };
  /** Writes what the vault remembers for a client, as an older version did. */
  const remember = async (clientId: string, place: object) => {
    const workspace = await Workspace.open(box.options);
    const vault = await workspace.credentials.vault();
    await vault.set(`client/${scene.server.url}|registered|${clientId}`, place);
    await workspace.close();
  };
  return { ...scene, idp, second, openProgram, remember, pass: (ms: number) => (now += ms) };
}

type Pair = Awaited<ReturnType<typeof openPair>>;

/** What changes about the first authorization server, as the server or the first one says. */
const changes: Record<string, (pair: Pair) => void> = {
  "the server names another authorization server": ({ server, second }) =>
    server.set({ authorizationServers: [second.issuer] }),
  "the server names another one before the first": ({ server, second, auth }) =>
    server.set({ authorizationServers: [second.issuer, auth.issuer] }),
  "the first one moves its endpoints to the other": ({ auth, second }) =>
    auth.set({
      alter: {
        metadata: (all) => ({
          ...all,
          token_endpoint: `${second.issuer}/token`,
          revocation_endpoint: `${second.issuer}/revoke`,
        }),
      },
    }),
  "the server stops naming one and has endpoints itself": ({ server }) =>
    server.set({ metadataAt: [], challengeMetadata: false }),
};

/** Everything but public documents: whatever the second one, or the server as one, was told. */
function told({ second, server }: Pair): string[] {
  const elsewhere = server.received.filter(({ path }) => !/^\/(mcp|sse|\.well-known)/.test(path));
  return [...second.received.filter(({ endpoint }) => endpoint !== "metadata"), ...elsewhere].map(
    ({ method, path, body }) => `${method} ${path} ${body}`,
  );
}

const logIn = (hub: Hub, way: string, options: LoginOptions = {}) =>
  hub.login("issues", { ...(way in people && browser()), timeoutMs: 20_000, ...options });

describe.each(Object.keys(ways))("M72 %s", (way) => {
  describe.each(Object.keys(changes))("when %s", (change) => {
    it("sends nothing to the other one: after expiry, after a refusal, by hand, and in the next process", async () => {
      const pair = await openPair();
      const oauth = ways[way]?.(pair.idp, pair.auth) ?? {};
      const first = await pair.openProgram(oauth);
      await logIn(first, way);
      expect(await add(first)).toEqual({ sum: 3 });
      changes[change]?.(pair);

      for (const hub of [first, await pair.openProgram(oauth)]) {
        pair.auth.expireAccessTokens();
        pair.pass(6_000);
        await add(hub).catch(() => undefined);
        pair.pass(3_700_000);
        await add(hub).catch(() => undefined);
        await logIn(hub, way).catch(() => undefined);
        expect(told(pair)).toEqual([]);
      }
    });
  });
});

describe("a changed authorization server", () => {
  const machine = machines["the token of a workload without a client"];

  it("is an error that names both and what to do, for an automatic login", async () => {
    const pair = await openPair();
    const oauth = machine(pair.idp, pair.auth);
    await add(await pair.openProgram(oauth));
    pair.server.set({ authorizationServers: [pair.second.issuer] });
    pair.auth.expireAccessTokens();
    const error = await refusal(add(await pair.openProgram(oauth)));
    expect(error).toMatchObject({
      code: "auth-failed",
      data: { reason: "issuer-changed", from: pair.auth.issuer, to: pair.second.issuer },
    });
    for (const words of [pair.auth.issuer, pair.second.issuer, '"issues"'])
      expect(error.message).toContain(words);
    expect(error.hint).toContain("`plugboard login issues`");
    expect(error.hint).toContain("`oauth.issuer`");
  });

  it.each(["a client secret", "a person's login"])("is used after it is accepted: %s", async (way) => {
    const pair = await openPair();
    const oauth = ways[way]?.(pair.idp, pair.auth) ?? {};
    const hub = await pair.openProgram(oauth);
    await logIn(hub, way);
    pair.server.set({ authorizationServers: [pair.second.issuer] });
    const asked: IssuerChange[] = [];
    const answer = (accepted: boolean) => ({
      acceptIssuer: (change: IssuerChange) => {
        asked.push(change);
        return accepted;
      },
    });
    expect(await refusal(logIn(hub, way, answer(false)))).toMatchObject({
      data: { reason: "issuer-changed" },
    });
    expect(told(pair)).toEqual([]);
    expect(await logIn(hub, way, answer(true))).toMatchObject({ issuer: pair.second.issuer });
    const change = { server: "issues", from: pair.auth.issuer, to: pair.second.issuer };
    expect(asked).toMatchObject([change, change]);
    // The next process knows it.
    expect(await logIn(await pair.openProgram(oauth), way)).toMatchObject({ issuer: pair.second.issuer });
    expect(asked).toHaveLength(2);
  });

  it("is shown with the whole host and with the origins that receive something", async () => {
    const pair = await openPair();
    const hub = await pair.openProgram({});
    await logIn(hub, "a person's login");
    const far = `https://login.${"a".repeat(60)}.${"b".repeat(60)}.${"c".repeat(60)}.${"d".repeat(40)}.example`;
    const asked: IssuerChange[] = [];
    const acceptIssuer = (change: IssuerChange) => asked.push(change) === 0;
    const metadata = (all: object) => ({ ...all, token_endpoint: `${far}/token` });
    pair.auth.set({ alter: { metadata } });
    await refusal(logIn(hub, "a person's login", { acceptIssuer }));
    pair.second.set({ alter: { metadata } });
    pair.server.set({ authorizationServers: [pair.second.issuer] });
    await refusal(logIn(hub, "a person's login", { acceptIssuer }));
    const [first, second] = [pair.auth.issuer, pair.second.issuer];
    expect(asked).toEqual([
      { server: "issues", from: first, to: far, endpoints: [far], sends: [] },
      { server: "issues", from: first, to: second, endpoints: [second, far], sends: [] },
    ]);
  });

  it("is none if its device endpoint was elsewhere from the beginning", async () => {
    const pair = await openPair();
    const device_authorization_endpoint = `${pair.second.issuer}/device-authorization`;
    pair.auth.set({ alter: { metadata: (all) => ({ ...all, device_authorization_endpoint }) } });
    for (const hub of [await pair.openProgram({}), await pair.openProgram({})])
      expect(await logIn(hub, "a person's login")).toMatchObject({ issuer: pair.auth.issuer });
  });

  it("is used if the configuration names it", async () => {
    const pair = await openPair();
    const oauth = machines["a client secret"]();
    await add(await pair.openProgram(oauth));
    pair.server.set({ authorizationServers: [pair.second.issuer] });
    const named = await pair.openProgram({ ...oauth, issuer: pair.second.issuer });
    expect(await logIn(named, "a client secret")).toMatchObject({ issuer: pair.second.issuer });
  });

  it("is not asked about for longer than the login may take", async () => {
    const pair = await openPair();
    const hub = await pair.openProgram({});
    await logIn(hub, "a person's login");
    pair.server.set({ authorizationServers: [pair.second.issuer] });
    const stop = new AbortController();
    const acceptIssuer = () => {
      stop.abort();
      return new Promise<boolean>(() => {});
    };
    const error = await refusal(logIn(hub, "a person's login", { acceptIssuer, signal: stop.signal }));
    expect(error.message).toContain("was not finished");
  });

  it("cannot describe the endpoints of a configured issuer that has no document of its own", async () => {
    const pair = await openPair();
    const { auth, second } = pair;
    auth.set({ discovery: [] });
    let where = second.issuer;
    const helper = await startAuthServer({
      alter: {
        metadata: (all) => ({
          ...JSON.parse(JSON.stringify(all).replaceAll(String(all["issuer"]), auth.issuer)),
          token_endpoint: `${where}/token`,
        }),
      },
    });
    onTestFinished(() => helper.close());
    pair.server.set({ authorizationServers: [helper.issuer] });
    for (const way of ["a client secret", "a person's login"]) {
      const hub = await pair.openProgram({ ...ways[way]?.(pair.idp, auth), issuer: auth.issuer });
      where = second.issuer;
      expect(await refusal(logIn(hub, way))).toMatchObject({
        data: { reason: "issuer-changed", from: auth.issuer, to: second.issuer },
      });
      // Endpoints of the issuer itself are fine, whoever names them.
      where = auth.issuer;
      await logIn(hub, way);
      where = second.issuer;
      expect(await refusal(logIn(hub, way))).toMatchObject({ data: { reason: "issuer-changed" } });
      expect(told(pair)).toEqual([]);
    }
  });

  it.each(["authorization_endpoint", "registration_endpoint"])(
    "cannot choose the %s of a configured issuer either, where a person would log in",
    async (endpoint) => {
      const pair = await openPair();
      const { auth, second } = pair;
      auth.set({ discovery: [] });
      const helper = await startAuthServer({
        alter: {
          metadata: (all) => ({
            ...JSON.parse(JSON.stringify(all).replaceAll(String(all["issuer"]), auth.issuer)),
            [endpoint]: `${second.issuer}/${endpoint.startsWith("a") ? "authorize" : "register"}`,
          }),
        },
      });
      onTestFinished(() => helper.close());
      pair.server.set({ authorizationServers: [helper.issuer] });
      const opened: URL[] = [];
      const hub = await pair.openProgram({ issuer: auth.issuer });
      const error = await refusal(logIn(hub, "a person's login", browser(opened)));
      expect(error).toMatchObject({ data: { reason: "issuer-changed", to: second.issuer } });
      expect([opened, told(pair)]).toEqual([[], []]);
    },
  );

  it.each(["another tenant on the same host", "a record of an older version"])(
    "cannot describe the endpoints of a configured issuer: %s",
    async (kind) => {
      const pair = await openPair();
      const { second } = pair;
      // Describes the first tenant, which has no document of its own, with the endpoints of somebody else.
      const helper = await startAuthServer({
        path: "/tenant-b",
        alter: { metadata: (all) => ({ ...all, issuer, token_endpoint: `${second.issuer}/token` }) },
      });
      onTestFinished(() => helper.close());
      const host = kind.startsWith("a record") ? pair.auth : helper;
      const issuer = `${host.url}/tenant-a`;
      pair.server.set({ authorizationServers: [helper.issuer] });
      const oauth = { ...machines["a client secret"](), issuer };
      if (host === pair.auth) await pair.remember("robot", { issuer });
      expect(await refusal(logIn(await pair.openProgram(oauth), "a client secret"))).toMatchObject({
        data: { reason: "issuer-changed", from: issuer, to: expect.stringContaining(second.issuer) },
      });
      expect(told(pair)).toEqual([]);
    },
  );
});

describe("M72 a configured secret", () => {
  it("is announced before it goes to an authorization server that nobody named, once", async () => {
    const pair = await openPair();
    const oauth = machines["a client secret"]();
    const heard: unknown[] = [];
    const listenTo = async (entry: object) => {
      const hub = await pair.openProgram(entry);
      hub.on("issuer-chosen", ({ at: _at, ...event }) => {
        heard.push({ ...event, tokenRequests: tokenRequests(pair.auth).length });
      });
      return hub;
    };
    await add(await listenTo(oauth));
    pair.auth.expireAccessTokens();
    await add(await listenTo(oauth));
    expect(heard).toEqual([
      {
        type: "issuer-chosen",
        server: "issues",
        account: "default",
        issuer: pair.auth.issuer,
        endpoints: [pair.auth.issuer],
        sends: ["client secret"],
        tokenRequests: 0,
      },
    ]);
  });

  it("is announced if it was configured after the login, at a renewal and at the next login", async () => {
    const pair = await openPair();
    const entry = { clientId: "public" };
    await logIn(await pair.openProgram(entry), "a person's login");
    const before = tokenRequests(pair.auth).length;
    const heard: unknown[] = [];
    const hub = await pair.openProgram({ ...entry, clientSecret: secret });
    hub.on("issuer-chosen", ({ issuer, sends }) => {
      heard.push({ issuer, sends, tokenRequests: tokenRequests(pair.auth).length - before });
    });
    pair.pass(3_700_000);
    await add(hub).catch(() => undefined);
    await logIn(hub, "a person's login").catch(() => undefined);
    const event = { issuer: pair.auth.issuer, sends: ["client secret"] };
    expect(heard).toEqual([
      { ...event, tokenRequests: 0 },
      { ...event, tokenRequests: 1 },
    ]);
  });

  it("goes to a named authorization server without a word", async () => {
    const pair = await openPair();
    const hub = await pair.openProgram({ ...machines["a client secret"](), issuer: pair.auth.issuer });
    const heard: unknown[] = [];
    hub.on("issuer-chosen", (event) => heard.push(event));
    expect(await add(hub)).toEqual({ sum: 3 });
    expect(heard).toEqual([]);
  });

  it("of two processes goes to one place, even if both use it for the first time", async () => {
    const pair = await openPair();
    const { server, auth, second } = pair;
    const oauth = machines["a client secret"]();
    const hubs = await Promise.all(Array.from({ length: 4 }, () => pair.openProgram(oauth)));
    // Each one is told another authorization server, in turn.
    let turn = 0;
    server.set({
      metadata: (all) => ({ ...all, authorization_servers: [turn++ % 2 ? auth.issuer : second.issuer] }),
    });
    await Promise.allSettled(hubs.map((hub) => hub.login("issues", {})));
    const places = [auth, second].filter((one) => tokenRequests(one).length > 0);
    expect(places).toHaveLength(1);
  });
});
