import { describe, expect, it, onTestFinished } from "vitest";
import { isPlugboardError } from "../../src/index.ts";
import { openCommand } from "../../src/auth/open-url.ts";
import { hostile, startAuthServer, startHostile } from "../fixtures/auth/index.ts";
import type { Hostile, HostileName } from "../fixtures/auth/index.ts";
import { add, browser, hubAt, openScene, redirectOf, refusal } from "./oauth-fixture.ts";

const names = Object.keys(hostile) as HostileName[];
/** Responses that are not to the login that waits: nothing comes of them, and the right one may still come. */
const strangers: HostileName[] = ["state-missing", "state-wrong"];
const stopping = (step: Hostile["stopsAt"]) =>
  names.filter((name) => hostile[name].stopsAt === step && !strangers.includes(name));

/** The default hint is about tokens of one's own, which is no help here. */
const unhelpful = "Check the configured token or header";

/** Logs in with a browser that agrees to everything, and tells how far that went. */
async function attempt(name: HostileName) {
  const servers = await startHostile(name);
  onTestFinished(() => servers.close());
  const hub = await hubAt(servers.server.url);
  const opened: URL[] = [];
  const error: unknown = await hub
    .login("issues", { ...browser(opened), timeoutMs: 20_000 })
    .then(() => undefined)
    .catch((reason: unknown) => reason);
  const asked = (endpoint: string) =>
    servers.auth.received.filter((request) => request.endpoint === endpoint).length;
  return { hub, opened, error, asked, elsewhere: servers.elsewhere.received };
}

/** A message names the server and the reason, and the hint goes with it. */
function expectReason(name: HostileName, error: unknown): void {
  if (!isPlugboardError(error)) throw new Error("expected a PlugboardError", { cause: error });
  expect([error.code, error.server]).toEqual(["auth-failed", "issues"]);
  expect(hostile[name].says).not.toEqual([]);
  for (const words of ['"issues"', ...hostile[name].says]) expect(error.message).toContain(words);
  // What the right server itself says about a refusal may be shown, as text.
  if (!name.endsWith("error-script")) expect(error.message).not.toMatch(/pwned/);
  expect(error.message).not.toMatch(/stolen|stack|undefined|\[object/);
  expect(error.hint).not.toContain(unhelpful);
}

describe("a hostile authorization server", () => {
  it.each(stopping("discovery"))("%s: nothing is opened, registered or sent", async (name) => {
    const { opened, error, asked, elsewhere } = await attempt(name);
    expectReason(name, error);
    expect({ opened, elsewhere }).toEqual({ opened: [], elsewhere: [] });
    expect([asked("register"), asked("authorize"), asked("token")]).toEqual([0, 0, 0]);
  });

  it.each(stopping("registration"))("%s: nothing is opened or sent elsewhere", async (name) => {
    const { opened, error, asked, elsewhere } = await attempt(name);
    expectReason(name, error);
    expect({ opened, elsewhere }).toEqual({ opened: [], elsewhere: [] });
    expect([asked("authorize"), asked("token")]).toEqual([0, 0]);
  });

  it.each(stopping("callback"))("%s: the code goes nowhere", async (name) => {
    const { opened, error, asked, elsewhere } = await attempt(name);
    expectReason(name, error);
    expect(opened).toHaveLength(1);
    expect(elsewhere).toEqual([]);
    expect(asked("token")).toBe(0);
  });

  it.each(strangers)("%s: is refused by the callback server, and when it is pasted", async (name) => {
    const servers = await startHostile(name);
    onTestFinished(() => servers.close());
    const hub = await hubAt(servers.server.url);
    const stop = new AbortController();
    const pages: { status: number; text: string }[] = [];
    const openUrl = async (url: URL) => {
      const response = await fetch(url);
      pages.push({ status: response.status, text: await response.text() });
      stop.abort();
    };
    const error = await refusal(hub.login("issues", { openUrl, signal: stop.signal }));
    expect(error.code).toBe("auth-required");
    expect(pages).toMatchObject([
      { status: 400, text: expect.stringContaining("does not belong to the login") },
    ]);
    expectReason(name, await refusal(hub.login("issues", { askRedirect: redirectOf })));
    expect(servers.auth.received.filter(({ endpoint }) => endpoint === "token")).toEqual([]);
  });

  it.each(stopping("token"))("%s: nothing is kept or sent elsewhere", async (name) => {
    const { hub, error, elsewhere } = await attempt(name);
    expectReason(name, error);
    expect(elsewhere).toEqual([]);
    expect(await hub.account("issues")).toBeUndefined();
  });

  it.each(stopping("through"))("%s: is taken for what it is", async (name) => {
    const { hub, opened, error, elsewhere } = await attempt(name);
    expect(error).toBeUndefined();
    expect(elsewhere).toEqual([]);
    for (const platform of ["linux", "darwin", "win32"] as const) {
      const words = openCommand(opened[0] ?? new URL("file:///"), platform);
      const address = words.at(-1) ?? "";
      expect(address).toMatch(/^http:\/\/127\.0\.0\.1:/);
      expect(address).not.toMatch(/[`$;|<>()'"\\^!{}\s]/);
    }
    expect(await add(hub)).toEqual({ sum: 3 });
  });

  it.each([301, 302, 303, 307, 308] as const)(
    "a renewal that is redirected with %i is not followed",
    async (status) => {
      const { auth, hub: open } = await openScene();
      const hub = await open();
      await hub.login("issues", browser());
      expect(await add(hub)).toEqual({ sum: 3 });
      auth.expireAccessTokens();
      const elsewhere = await startAuthServer();
      onTestFinished(() => elsewhere.close());
      auth.set({ faults: { token: { redirect: { status, to: `${elsewhere.url}/token` } } } });
      const error: unknown = await add(hub).catch((reason: unknown) => reason);
      expect(error).toMatchObject({
        code: "auth-failed",
        message: expect.stringMatching(
          `to redirect the login for "issues" to .* .HTTP ${status}.; nothing was`,
        ),
      });
      expect(elsewhere.received).toEqual([]);
      auth.set({ faults: {} });
      expect(await add(hub)).toEqual({ sum: 3 });
    },
  );

  it.each([
    "javascript:alert(1)",
    "file:///bin/sh",
    "data:text/html,x",
    "http://attacker.example/",
    "https://a:b@c.example/",
  ])("never opens %s", (address) => {
    expect(() => openCommand(new URL(address), "linux")).toThrow("does not open");
  });
});
