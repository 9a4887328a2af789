import { describe, expect, it, onTestFinished } from "vitest";
import { createHub } from "../../src/index.ts";
import type { ConfigLiteral } from "../../src/index.ts";
import type { Credentials } from "../../src/auth/credentials.ts";
import { GRANTS, createKey, startAuthServer, startProtectedMcp } from "../fixtures/auth/index.ts";
import { add, browser, openScene, refusal, tokenRequests } from "./oauth-fixture.ts";

const platform = "https://platform.example";
const platformKey = createKey();
const robot = {
  client_id: "robot",
  client_secret: "s3cret-robot",
  redirect_uris: ["http://127.0.0.1/callback"],
};
const asRobot = { clientId: "robot", clientSecret: "s3cret-robot" };
const itself = { grant: "client-credentials", ...asRobot };

function openMachines() {
  const trusted = { [platform]: [platformKey.jwk] };
  return openScene({
    grantTypes: [GRANTS.client, GRANTS.jwt, "authorization_code", "refresh_token"],
    registration: false,
    trusted,
    clients: [robot, { client_id: "job" }],
  });
}

describe("entries for one address that log in without a person", () => {
  it("have a login for each of those who are vouched for, however often the platform's token changes", async () => {
    const { auth, hub: open } = await openMachines();
    const of = (sub: string) => {
      const assertion = platformKey.sign({ iss: platform, sub, aud: auth.issuer, jti: crypto.randomUUID() });
      return open({ oauth: { grant: "jwt-bearer", clientId: "job", assertion } });
    };
    const hubs = [await of("ada"), await of("bob"), await of("ada")];
    for (const hub of hubs) expect(await add(hub)).toEqual({ sum: 3 });
    expect(hubs.map((hub) => hub.status()[0]?.account?.user)).toEqual(["ada", "bob", "ada"]);
    expect(tokenRequests(auth)).toHaveLength(2);
  });

  it("never use a person's login, nor a person theirs", async () => {
    const { hub: open } = await openMachines();
    const [machine, person] = [await open({ oauth: itself }), await open({ oauth: asRobot })];
    expect(await add(machine)).toEqual({ sum: 3 });
    expect(await refusal(add(person))).toMatchObject({ code: "auth-required" });
    await person.login("issues", browser());
    expect(await add(person)).toEqual({ sum: 3 });
    expect((await person.account("issues"))?.user).toBe("ada");
    expect((await machine.account("issues"))?.user).not.toBe("ada");
  });

  it("have no other account", async () => {
    const { hub: open } = await openMachines();
    const hub = await open({ oauth: { ...itself, profile: "bot" } });
    const sum = (profile: string) => hub.callTool("mcp__issues__add", { a: 1, b: 2 }, { profile });
    const missing = { code: "auth-required", message: expect.stringContaining('"work"') as string };
    expect(await refusal(sum("work"))).toMatchObject(missing);
    expect(await refusal(hub.login("issues", { profile: "work" }))).toMatchObject(missing);
    expect((await sum("bot")).structuredContent).toEqual({ sum: 3 });
  });
});

describe("a secret that is configured while a machine logs in", () => {
  it("does not go to the authorization server of the entry that had the name before", async () => {
    const scene = await openMachines();
    const other = await startAuthServer({
      grantTypes: [GRANTS.client],
      registration: false,
      clients: [{ client_id: "robot", client_secret: "s3cret-elsewhere" }],
    });
    const elsewhere = await startProtectedMcp(other);
    onTestFinished(async () => {
      await elsewhere.close();
      await other.close();
    });
    const [waiting, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const credentials: Credentials = {
      ...scene.credentials,
      lock: (name, work) =>
        scene.credentials.lock(name, async (held) => {
          waiting.resolve();
          await gate.promise;
          return work(held);
        }),
    };
    const hub = await scene.hub({ oauth: itself }, { credentials });
    const call = add(hub).catch(() => undefined);
    await waiting.promise;
    const oauth = { ...itself, clientSecret: "s3cret-elsewhere" };
    const config = { servers: { issues: { url: elsewhere.url, oauth } } } as ConfigLiteral;
    const reloaded = hub.reload(config);
    gate.resolve();
    await Promise.all([reloaded, call]);
    expect(await add(hub)).toEqual({ sum: 3 });
    const seen = tokenRequests(scene.auth).map(({ headers: { authorization = "" }, params }) => {
      const basic = Buffer.from(String(authorization).replace("Basic ", ""), "base64").toString();
      return `${basic} ${JSON.stringify(params)}`;
    });
    expect(seen.join("\n")).not.toContain("s3cret-elsewhere");
  });
});

describe("entries for one address that accept one authorization server each", () => {
  it("have a login each", async () => {
    const scene = await openScene();
    const second = await startAuthServer({ autoConsent: true });
    onTestFinished(() => second.close());
    scene.server.set({ authorizationServers: [scene.auth.issuer, second.issuer] });
    const { url } = scene.server;
    const servers = {
      one: { url, oauth: { issuer: scene.auth.issuer } },
      two: { url, oauth: { issuer: second.issuer } },
      any: { url },
    };
    const options = { env: {}, credentials: scene.credentials };
    await using hub = await createHub({ servers }, options);
    for (const name of ["one", "two", "any"]) await hub.login(name, browser());
    const issuers = ["one", "two", "any"].map(async (name) => (await hub.account(name))?.issuer);
    expect(await Promise.all(issuers)).toEqual([scene.auth.issuer, second.issuer, scene.auth.issuer]);
    await hub.logout("two");
    expect(await hub.account("two")).toBeUndefined();
    expect(await hub.account("one")).toMatchObject({ issuer: scene.auth.issuer });
  });

  it("use the one from before that was configured, if it is from there, and renew and end it in its place", async () => {
    const scene = await openScene();
    const { auth } = scene;
    const any = await scene.hub();
    await any.login("issues", browser());
    const one = await scene.hub({ oauth: { issuer: auth.issuer } });
    const other = await scene.hub({ oauth: { issuer: "https://elsewhere.example" } });
    auth.expireAccessTokens();
    expect(await add(one)).toEqual({ sum: 3 });
    expect(await add(any)).toEqual({ sum: 3 });
    expect(auth.stats.refreshes).toBe(1);
    expect(await other.account("issues")).toBeUndefined();
    expect(await other.logout("issues")).toMatchObject({ wasLoggedIn: false });
    expect(await one.logout("issues")).toEqual({ wasLoggedIn: true, revoked: true });
    expect(await any.account("issues")).toBeUndefined();
  });
});
