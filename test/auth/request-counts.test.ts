import { describe, expect, it } from "vitest";
import type { ProtectedOptions } from "../fixtures/auth/index.ts";
import type { Script } from "../fixtures/fake/index.ts";
import { add, browser, openScene, refusal } from "./oauth-fixture.ts";

/** A login that works, and a count of everything that is sent from then on. */
async function openCounted(
  { era = "modern", ...protect }: ProtectedOptions & { era?: "modern" | "legacy" } = {},
  entry: object = {},
) {
  const script: Script = { versions: era };
  const isBound = protect.dpop !== undefined;
  const scene = await openScene(isBound ? { dpop: "supported" } : {}, protect, script);
  const hub = await scene.hub(entry);
  await hub.login("issues", browser());
  await hub.tools();
  // In the legacy era a stream is open beside the calls.
  const isCounted = ({ method, endpoint }: { method: string; endpoint: string }) =>
    endpoint === "mcp" && method === "POST";
  const before = { server: scene.server.received.filter(isCounted).length, auth: tokens().length };
  function tokens() {
    return scene.auth.received.filter(({ endpoint }) => endpoint === "token");
  }
  const counts = () => ({
    posts: scene.server.received.filter(isCounted).length - before.server,
    tokens: tokens().length - before.auth,
  });
  return { ...scene, hub, counts };
}

describe.each(["modern", "legacy"] as const)("how many requests a call costs, %s era", (era) => {
  it("one, with a login that is good", async () => {
    const { hub, counts } = await openCounted({ era });
    expect(await add(hub)).toEqual({ sum: 3 });
    expect(counts()).toEqual({ posts: 1, tokens: 0 });
  });

  it("a refused one, one for the token and one that is good, with a token that has expired", async () => {
    const { hub, auth, counts } = await openCounted({ era });
    auth.expireAccessTokens();
    expect(await add(hub)).toEqual({ sum: 3 });
    expect(counts()).toEqual({ posts: 2, tokens: 1 });
    expect(await add(hub)).toEqual({ sum: 3 });
    expect(counts()).toEqual({ posts: 3, tokens: 1 });
  });

  it("no more when many calls find out at once", async () => {
    const { hub, auth, counts } = await openCounted({ era });
    auth.expireAccessTokens();
    await Promise.all([1, 2, 3].map(() => add(hub)));
    expect(counts()).toEqual({ posts: 6, tokens: 1 });
  });

  it("a refused one and one for the token, with a login that was revoked", async () => {
    const { hub, auth, counts } = await openCounted({ era });
    for (const grant of auth.grants) grant.revoked = "requested";
    expect(await refusal(add(hub))).toMatchObject({ code: "auth-required", executed: "no" });
    expect(counts()).toEqual({ posts: 1, tokens: 1 });
  });

  it("a single one, where rights are missing", async () => {
    const { hub, counts } = await openCounted({ era, requires: { tools: { add: ["write"] } } });
    expect(await refusal(add(hub))).toMatchObject({
      code: "auth-failed",
      executed: "no",
      missingScopes: expect.arrayContaining(["write"]) as string[],
    });
    expect(counts()).toEqual({ posts: 1, tokens: 0 });
  });

  it("a new token that is refused as well is not renewed again and again", async () => {
    const { hub, server, counts } = await openCounted({ era });
    server.set({ faults: { mcp: { answer: { status: 401 } } } });
    expect(await refusal(add(hub))).toMatchObject({ code: "auth-failed", data: { status: 401 } });
    expect(counts()).toEqual({ posts: 2, tokens: 1 });
  });

  it("one more when the server wants another nonce, and none when it is known", async () => {
    const { hub, server, counts } = await openCounted({ era, dpop: "nonce" });
    expect(await add(hub)).toEqual({ sum: 3 });
    expect(counts()).toEqual({ posts: 1, tokens: 0 });
    server.rotateNonce();
    expect(await add(hub)).toEqual({ sum: 3 });
    expect(counts()).toEqual({ posts: 3, tokens: 0 });
    expect(await add(hub)).toEqual({ sum: 3 });
    expect(counts()).toEqual({ posts: 4, tokens: 0 });
  });
});
