import { describe, expect, it, onTestFinished, vi } from "vitest";
import type { LoginOptions } from "../../src/index.ts";
import type { AuthOptions } from "../fixtures/auth/index.ts";
import { browser, openScene, refusal, tokenRequests } from "./oauth-fixture.ts";
import type { Scene } from "./oauth-fixture.ts";

type Endpoint = keyof NonNullable<AuthOptions["faults"]>;

/** A login at an authorization server that leaves one request without an answer. */
async function openStuck(endpoint: Endpoint, ways: (opened: URL[]) => LoginOptions = browser) {
  const answer = Promise.withResolvers<void>();
  const scene = await openScene({ faults: { [endpoint]: { until: answer.promise } } });
  onTestFinished(() => answer.resolve());
  const hub = await scene.hub();
  const stop = new AbortController();
  const opened: URL[] = [];
  const login = refusal(hub.login("issues", { ...ways(opened), signal: stop.signal }));
  await vi.waitFor(() => expect(asked(scene, endpoint)).toBeGreaterThan(0), 10_000);
  return { ...scene, hub, stop, opened, login };
}

function asked({ auth }: Pick<Scene, "auth">, endpoint: Endpoint): number {
  return auth.received.filter((request) => request.endpoint === endpoint).length;
}

describe("a login that is cancelled", () => {
  it.each<Endpoint>(["metadata", "register", "token"])(
    "does not wait for an answer of %s",
    async (endpoint) => {
      const { stop, login, opened, hub } = await openStuck(endpoint);
      stop.abort();
      expect(await login).toMatchObject({
        code: "auth-required",
        server: "issues",
        message: 'The login to "issues" was not finished.',
      });
      expect(opened).toHaveLength(endpoint === "token" ? 1 : 0);
      expect(await hub.account("issues")).toBeUndefined();
    },
  );

  it("does not show a code for another device", async () => {
    const show = vi.fn();
    const { stop, login } = await openStuck("device-authorization", () => ({ device: show }));
    stop.abort();
    expect(await login).toMatchObject({ code: "auth-required" });
    expect(show).not.toHaveBeenCalled();
  });

  it("sends nothing if it was cancelled before it started", async () => {
    const scene = await openScene();
    const hub = await scene.hub();
    const opened: URL[] = [];
    const login = hub.login("issues", { ...browser(opened), signal: AbortSignal.abort() });
    expect(await refusal(login)).toMatchObject({ code: "auth-required" });
    expect([opened, tokenRequests(scene.auth), scene.auth.received]).toEqual([[], [], []]);
  });

  it.each<Endpoint>(["metadata", "token"])(
    "by the end of its hub is over at once, at %s",
    async (endpoint) => {
      const { hub, login } = await openStuck(endpoint);
      await hub.close();
      expect(await login).toMatchObject({ code: "auth-required", server: "issues" });
    },
  );
});
