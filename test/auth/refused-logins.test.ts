import { describe, expect, it, vi } from "vitest";
import type { HubOptions, LoginOptions, LogInQuestion } from "../../src/index.ts";
import type { AuthOptions, ProtectedOptions } from "../fixtures/auth/index.ts";
import { add, browser, openScene, refusal, tokenRequests } from "./oauth-fixture.ts";

const writes: ProtectedOptions = { requires: { all: ["read"], tools: { add: ["write"] } } };

/** Somebody logged in with `read`, and a clock that the test moves. */
async function openAsked(
  logIn: (question: LogInQuestion, signal: AbortSignal) => Promise<LoginOptions | undefined>,
  options: AuthOptions = {},
  more: HubOptions = {},
) {
  const scene = await openScene(options, writes);
  const clock = { now: Date.now() };
  const asked = vi.fn(logIn);
  const hub = await scene.hub({}, { interact: { logIn: asked }, clock: () => clock.now, ...more });
  return { ...scene, hub, asked, clock };
}

const no = async () => undefined;

/** A browser in which somebody is logged in already. */
function browserOf(name: string): LoginOptions {
  return {
    openUrl: (url) => {
      url.searchParams.set("login_hint", name);
      return browser().openUrl?.(url);
    },
  };
}

describe("a person who declines to log in", () => {
  it("is not asked again by every call, but after a minute", async () => {
    const { hub, asked, clock } = await openAsked(no);
    await hub.login("issues", browser());
    const outcomes = [await refusal(add(hub)), await refusal(add(hub)), await refusal(add(hub))];
    expect(outcomes.map(({ data }) => data?.["scopes"])).toEqual(outcomes.map(() => ["read", "write"]));
    expect(asked).toHaveBeenCalledTimes(1);
    clock.now += 60_000;
    await refusal(add(hub));
    expect(asked).toHaveBeenCalledTimes(2);
  });

  it("is asked for what another account or another call needs", async () => {
    const { hub, asked } = await openAsked(no);
    await refusal(hub.connect("issues"));
    await refusal(hub.connect("issues"));
    await refusal(hub.connect("issues", { profile: "work" }));
    expect(asked.mock.calls.map(([{ profile }]) => profile)).toEqual(["default", "work"]);
  });

  it("is asked again after a login", async () => {
    const { hub, asked } = await openAsked(no);
    await hub.login("issues", browser());
    await refusal(add(hub));
    await hub.login("issues", browser());
    await refusal(add(hub));
    expect(asked).toHaveBeenCalledTimes(2);
  });

  it("is not asked at all by a hub that starts its servers by itself", async () => {
    const { hub, asked, server } = await openAsked(no, {}, { eager: true });
    await vi.waitFor(() => expect(hub.status()).toMatchObject([{ state: "needs-auth" }]), 10_000);
    await hub.add("more", { url: server.url });
    await vi.waitFor(() => expect(hub.status()[1]).toMatchObject({ state: "needs-auth" }), 10_000);
    expect(asked).not.toHaveBeenCalled();
    await refusal(hub.connect("issues"));
    expect(asked).toHaveBeenCalledTimes(1);
  });

  it("is left alone when the hub closes, and so is the call", async () => {
    const question = Promise.withResolvers<AbortSignal>();
    const { hub } = await openAsked((_question, signal) => {
      question.resolve(signal);
      return new Promise(() => undefined);
    });
    const call = refusal(add(hub));
    const signal = await question.promise;
    await hub.close();
    expect(await call).toMatchObject({ code: "call-cancelled", server: "issues" });
    expect(signal.aborted).toBe(true);
  });
});

it("A scope that the authorization server does not grant is requested once", async () => {
  const onlyRead: LoginOptions = {
    openUrl: (url) => {
      url.searchParams.set("scope", "read");
      return browser().openUrl?.(url);
    },
  };
  const { hub, asked } = await openAsked(async () => onlyRead);
  await hub.login("issues", browser());
  expect(await refusal(add(hub))).toMatchObject({ data: { reason: "insufficient-scope" } });
  await refusal(add(hub));
  expect(asked).toHaveBeenCalledTimes(1);
  expect(await hub.account("issues")).toMatchObject({ scopes: ["read"] });
});

it("A call is not repeated with another user's login", async () => {
  const { hub, server } = await openAsked(async () => browserOf("bob"), { users: ["ada", "bob"] });
  await hub.login("issues", browserOf("ada"));
  const error = await refusal(add(hub));
  expect(error).toMatchObject({
    code: "auth-failed",
    message: 'The new login to "issues" is for bob, but the request was made as ada, so it was not repeated.',
    data: { reason: "other-account", before: "ada", after: "bob" },
  });
  expect(error.hint).toContain("The new login is kept.");
  const ran = () => server.mcp.received.filter(({ message }) => message?.["method"] === "tools/call");
  expect(ran()).toHaveLength(0);
  expect(await hub.account("issues")).toMatchObject({ user: "bob", scopes: ["read", "write"] });
  expect(await add(hub)).toEqual({ sum: 3 });
});

describe("a login without a person", () => {
  const robot = { client_id: "robot", client_secret: "s3cret-of-mine" };
  const oauth = { grant: "client-credentials", clientId: "robot", clientSecret: "s3cret-of-mine" };
  const scopesAsked = (auth: Parameters<typeof tokenRequests>[0]) =>
    tokenRequests(auth).map(({ params }) => params.get("scope"));

  it("never asks for more than `oauth.scopes`, and says what is missing", async () => {
    const { auth, hub: open } = await openScene({ clients: [robot] }, writes);
    const hub = await open({ oauth: { ...oauth, scopes: ["read"] } });
    for (const error of [await refusal(add(hub)), await refusal(add(hub))]) {
      expect(error).toMatchObject({
        code: "auth-failed",
        data: { reason: "insufficient-scope", scopes: ["write"] },
        hint: "To allow them, add them to `oauth.scopes` of the server.",
      });
      expect(error.message).toContain("write");
    }
    expect(scopesAsked(auth)).toEqual(["read"]);
  });

  it("requests `oauth.scopes` if the server asks for none of them", async () => {
    const { auth, hub: open } = await openScene({ clients: [robot] }, { requires: { all: ["admin"] } });
    const hub = await open({ oauth: { ...oauth, scopes: ["read"] } });
    await refusal(add(hub));
    expect(new Set(scopesAsked(auth))).toEqual(new Set(["read"]));
  });

  it("does not request refused scopes again with every call", async () => {
    const { auth, server, hub: open } = await openScene({ clients: [robot] }, writes);
    const hub = await open({ oauth });
    await hub.tools();
    const challenge = 'Bearer error="insufficient_scope", scope="read never"';
    server.set({
      faults: { mcp: { answer: { status: 403, headers: { "www-authenticate": challenge } } } },
    });
    const before = tokenRequests(auth).length;
    for (let calls = 0; calls < 4; calls++)
      expect(await refusal(add(hub))).toMatchObject({ code: "auth-failed" });
    expect(tokenRequests(auth).length - before).toBe(1);
  });
});
