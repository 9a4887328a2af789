import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { createHub } from "../../src/index.ts";
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

describe("how many requests a call costs, with a configured bearer from a file", () => {
  async function openFromFile() {
    const scene = await openCounted();
    const token = async () => {
      await scene.hub.login("issues", browser());
      const record = await (await scene.credentials.vault()).get(`tokens/${scene.server.url}|default`);
      return (record as { tokens: { access_token: string } }).tokens.access_token;
    };
    const folder = mkdtempSync(join(tmpdir(), "plugboard-bearer-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 20 }));
    const file = join(folder, "token");
    const { server } = scene;
    const rotate = async () => writeFileSync(file, await token());
    await rotate();
    const headers = { Authorization: `Bearer \${file:${file}}` };
    const hub = await createHub({ servers: { issues: { url: server.url, headers } } });
    onTestFinished(() => hub.close());
    await hub.tools();
    const posts = () =>
      server.received.filter(({ method, endpoint }) => endpoint === "mcp" && method === "POST").length;
    return { ...scene, hub, rotate, posts };
  }

  it("one while it is good, and a refused one more after it was rotated", async () => {
    const { hub, auth, rotate, posts } = await openFromFile();
    let before = posts();
    expect(await add(hub)).toEqual({ sum: 3 });
    expect(posts() - before).toBe(1);
    auth.expireAccessTokens();
    await rotate();
    before = posts();
    expect(await add(hub)).toEqual({ sum: 3 });
    expect(posts() - before).toBe(2);
    expect(await add(hub)).toEqual({ sum: 3 });
    expect(posts() - before).toBe(3);
  });

  it("a refused one and no more when the file has not changed, and the error asks for no login", async () => {
    const { hub, auth, posts } = await openFromFile();
    auth.expireAccessTokens();
    const before = posts();
    const error = await refusal(add(hub));
    expect(error).toMatchObject({ code: "auth-failed", executed: "no", data: { status: 401 } });
    expect(posts() - before).toBe(1);
  });
});
