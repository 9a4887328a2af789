import { describe, expect, it } from "vitest";
import { GRANTS } from "../fixtures/auth/index.ts";
import { add, browser, openScene } from "./oauth-fixture.ts";

function tokenRequests(scene: { auth: { received: { endpoint: string; params: URLSearchParams }[] } }) {
  return scene.auth.received.filter(({ endpoint, params }) => {
    return endpoint === "token" && params.get("grant_type") === GRANTS.refresh;
  });
}

describe("a login that expires", () => {
  it("is renewed once, however many requests find out at the same time", async () => {
    const scene = await openScene();
    const hub = await scene.hub();
    await hub.login("issues", browser());
    await add(hub);
    scene.auth.expireAccessTokens();
    const sums = await Promise.all(Array.from({ length: 8 }, () => add(hub)));
    expect(sums).toEqual(Array.from({ length: 8 }, () => ({ sum: 3 })));
    expect(scene.auth.stats).toMatchObject({ refreshes: 1, reuses: 0 });
    expect(scene.events.filter(({ type }) => type === "auth-changed")).toMatchObject([
      { change: "login" },
      { change: "refresh" },
    ]);
  });

  it("is renewed before that, without a refusal", async () => {
    let now = Date.now();
    const scene = await openScene({ accessTokenMs: 600_000, clock: () => now });
    const hub = await scene.hub({}, { clock: () => now });
    await hub.login("issues", browser());
    await add(hub);
    now += 570_000;
    const before = scene.server.received.length;
    expect(await add(hub)).toEqual({ sum: 3 });
    expect(scene.server.received.length).toBe(before + 1);
    expect(scene.auth.stats).toMatchObject({ refreshes: 1, reuses: 0 });
  });

  it("is renewed by one of several hubs, and found by the others", async () => {
    const scene = await openScene();
    const hubs = await Promise.all(Array.from({ length: 5 }, () => scene.hub()));
    await hubs[0]?.login("issues", browser());
    await Promise.all(hubs.map(add));
    scene.auth.expireAccessTokens();
    const sums = await Promise.all(hubs.map(add));
    expect(sums).toEqual(hubs.map(() => ({ sum: 3 })));
    expect(scene.auth.stats).toMatchObject({ refreshes: 1, reuses: 0 });
  });

  it("survives an authorization server that is not available", async () => {
    const scene = await openScene();
    const hub = await scene.hub();
    await hub.login("issues", browser());
    await add(hub);
    scene.auth.expireAccessTokens();
    scene.auth.set({ faults: { token: { answer: { status: 503, body: "later" } } } });
    await expect(add(hub)).rejects.toMatchObject({ code: "not-responding" });
    scene.auth.set({ faults: { token: { drop: "before" } } });
    await expect(add(hub)).rejects.toMatchObject({ retryable: true });
    scene.auth.set({ faults: {} });
    await hub.reconnect();
    expect(await add(hub)).toEqual({ sum: 3 });
    expect(scene.auth.stats).toMatchObject({ refreshes: 1, reuses: 0 });
  });

  it("reports that it has ended when it is no longer renewed", async () => {
    const scene = await openScene();
    const hub = await scene.hub();
    await hub.login("issues", browser());
    await add(hub);
    scene.auth.expireAccessTokens();
    for (const grant of scene.auth.grants) grant.revoked = "requested";
    await expect(add(hub)).rejects.toMatchObject({
      code: "auth-required",
      hint: "Run `plugboard login issues`.",
    });
    expect(await hub.account("issues")).toMatchObject({ ended: true });
    const asked = tokenRequests(scene).length;
    await expect((await scene.hub()).connect("issues")).rejects.toMatchObject({ code: "auth-required" });
    expect(tokenRequests(scene).length).toBe(asked);
    await hub.login("issues", browser());
    expect(await add(hub)).toEqual({ sum: 3 });
  });

  it("keeps another process's renewed login when its own token is refused", async () => {
    const scene = await openScene();
    const hub = await scene.hub();
    await hub.login("issues", browser());
    await add(hub);
    const vault = await scene.credentials.vault();
    const name = `tokens/${scene.server.url}|default`;
    scene.auth.expireAccessTokens();
    const other = await scene.hub();
    await other.login("issues", browser());
    const newer = await vault.get(name);
    expect(await add(hub)).toEqual({ sum: 3 });
    expect(await vault.get(name)).toEqual(newer);
    expect(scene.auth.stats.refreshes).toBe(0);
  });

  it("is shown and renewed over the older transport, too", async () => {
    const scene = await openScene();
    const { origin } = new URL(scene.server.url);
    scene.server.set({ resource: `${origin}/` });
    const hub = await scene.hub({ type: "sse", url: scene.server.sseUrl });
    await expect(hub.connect("issues")).rejects.toMatchObject({ code: "auth-required" });
    await hub.login("issues", browser());
    expect(await add(hub)).toEqual({ sum: 3 });
    scene.auth.expireAccessTokens();
    expect(await add(hub)).toEqual({ sum: 3 });
    expect(scene.auth.stats).toMatchObject({ refreshes: 1, reuses: 0 });
  });

  it("shows no token that the server echoes", async () => {
    const scene = await openScene();
    const hub = await scene.hub();
    await hub.login("issues", browser());
    await add(hub);
    const record = await (await scene.credentials.vault()).get(`tokens/${scene.server.url}|default`);
    const { tokens } = record as { tokens: { access_token: string; refresh_token: string } };
    const body = `refused: ${tokens.access_token} ${tokens.refresh_token}`;
    for (const status of [400, 403, 500]) {
      scene.server.set({ faults: { mcp: { answer: { status, body } } } });
      const error: unknown = await add(hub).catch((reason: unknown) => reason);
      const again: unknown = await (await scene.hub()).connect("issues").catch((reason: unknown) => reason);
      for (const one of [error, again]) {
        const shown = `${String(one)} ${JSON.stringify(one)}`;
        expect(shown).toMatch(/issues/);
        expect(shown).not.toContain(tokens.access_token);
      }
      await hub.disconnect("issues");
    }
    expect(JSON.stringify(scene.events)).not.toContain(tokens.access_token);
  });

  it("is not offered to another authorization server that the server now names", async () => {
    const scene = await openScene();
    const hub = await scene.hub();
    await hub.login("issues", browser());
    await add(hub);
    const other = await openScene();
    scene.server.set({ authorizationServers: [other.auth.issuer] });
    scene.auth.expireAccessTokens();
    await expect(add(hub)).rejects.toMatchObject({ code: "auth-required" });
    expect(other.auth.received).toEqual([]);
    expect(tokenRequests(scene)).toEqual([]);
  });
});
