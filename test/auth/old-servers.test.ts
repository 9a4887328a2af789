import { describe, expect, it, onTestFinished } from "vitest";
import { startAuthServer, startProtectedMcp } from "../fixtures/auth/index.ts";
import type { AuthOptions } from "../fixtures/auth/index.ts";
import { json, listen } from "../fixtures/auth/listener.ts";
import type { Answer } from "../fixtures/auth/listener.ts";
import { forward } from "../fixtures/auth/proxy.ts";
import { add, browser, hubAt, refusal, tokenRequests } from "./oauth-fixture.ts";

interface OldServer {
  /** What is at the known place of the authorization server's metadata. Default nothing. */
  describes?: (origin: string, endpoints: Record<string, unknown>) => object;
  /** Whether there are endpoints at all. Default true. */
  logsIn?: boolean;
  options?: AuthOptions;
  /** Answers to paths that come before everything else. */
  answers?: Record<string, Answer>;
}

/**
 * A server of the protocol's revision 2025-03-26: it logs people in itself, under its own address, knows nothing of
 * protected-resource metadata, and its challenge says nothing but that.
 */
async function openOld({ describes, logsIn = true, options, answers = {} }: OldServer) {
  const auth = await startAuthServer({
    autoConsent: true,
    iss: false,
    resourceIndicators: "ignored",
    ...options,
  });
  const mcp = await startProtectedMcp(
    auth,
    { versions: ["2025-03-26"] },
    { metadataAt: [], challengeMetadata: false, challengeStyle: "bare", audience: false },
  );
  const { origin: behind } = new URL(mcp.url);
  const front = await listen({
    endpointOf: ({ pathname }) => pathname,
    answer: async (exchange): Promise<Answer | undefined> => {
      const { pathname } = exchange.url;
      const known = answers[pathname];
      if (known) return known;
      if (pathname === "/mcp") return forward(exchange, behind, {});
      if (pathname === "/.well-known/oauth-authorization-server" && describes)
        return json(200, describes(front.origin, endpointsAt(front.origin)));
      if (!logsIn || pathname.startsWith("/.well-known/")) return { status: 404 };
      return forward(exchange, auth.url, {});
    },
  });
  onTestFinished(async () => {
    await front.close();
    await mcp.close();
    await auth.close();
  });
  return { auth, front, hub: (entry: object = {}) => hubAt(`${front.origin}/mcp`, entry) };
}

function endpointsAt(origin: string): Record<string, unknown> {
  return {
    issuer: origin,
    authorization_endpoint: `${origin}/authorize`,
    token_endpoint: `${origin}/token`,
    registration_endpoint: `${origin}/register`,
    response_types_supported: ["code"],
    code_challenge_methods_supported: ["S256"],
  };
}

describe("a server that logs people in itself and does not say where", () => {
  it.each([
    { how: "metadata at its origin", describes: (_origin: string, all: object) => all },
    {
      how: "an issuer below its origin",
      describes: (origin: string, all: object) => ({ ...all, issuer: `${origin}/tenant` }),
    },
    { how: "no metadata: the endpoints are at the known places", describes: undefined },
  ])("is logged in to with $how", async ({ describes }) => {
    const { auth, front, hub: open } = await openOld({ ...(describes && { describes }) });
    const hub = await open();
    expect(await refusal(hub.connect("issues"))).toMatchObject({
      code: "auth-required",
      hint: "Run `plugboard login issues`.",
    });
    const opened: URL[] = [];
    const account = await hub.login("issues", browser(opened));
    const issuer = describes
      ? (describes(front.origin, endpointsAt(front.origin)) as { issuer: string }).issuer
      : front.origin;
    expect(account).toMatchObject({ issuer, ended: false });
    expect(opened.map(({ origin, pathname }) => origin + pathname)).toEqual([`${front.origin}/authorize`]);
    expect(opened[0]?.searchParams.get("code_challenge_method")).toBe("S256");
    expect(await add(hub)).toEqual({ sum: 3 });
    expect(auth.stats).toMatchObject({ registrations: 1, authorizations: 1 });
    auth.expireAccessTokens();
    expect(await add(hub)).toEqual({ sum: 3 });
    expect(auth.stats).toMatchObject({ refreshes: 1, reuses: 0 });
  });

  it.each([
    { how: "another origin", issuer: "https://other.example" },
    { how: "the same host and another port", issuer: "http://127.0.0.1:1" },
    { how: "no address", issuer: "me" },
  ])("is not believed an issuer of $how", async ({ issuer }) => {
    const { auth, hub: open } = await openOld({ describes: (_origin, all) => ({ ...all, issuer }) });
    const hub = await open();
    const opened: URL[] = [];
    const error = await refusal(hub.login("issues", browser(opened)));
    expect(error).toMatchObject({ code: "auth-failed", server: "issues" });
    expect(error.message).toContain("issuer");
    expect([opened, auth.received]).toEqual([[], []]);
  });

  it("is logged in to at another origin only where that issuer is pinned", async () => {
    const { auth, front, hub: open } = await openOld({ logsIn: false });
    const hub = await open({ oauth: { issuer: auth.issuer } });
    const account = await hub.login("issues", browser());
    expect(account).toMatchObject({ issuer: auth.issuer });
    expect(await add(hub)).toEqual({ sum: 3 });
    expect(front.received.filter(({ path }) => path === "/register")).toEqual([]);
  });

  it("says that no login is offered, and what to set instead, where nothing is there", async () => {
    const { front, hub: open } = await openOld({ logsIn: false });
    const hub = await open();
    const opened: URL[] = [];
    const error = await refusal(hub.login("issues", browser(opened)));
    expect(error).toMatchObject({ code: "auth-failed", data: { reason: "no-login" } });
    expect(error.message).toBe('"issues" does not offer a login.');
    expect(error.hint).toContain("`bearerTokenEnv`");
    expect(opened).toEqual([]);
    const posted = front.received.filter(({ method, path }) => method === "POST" && path !== "/mcp");
    expect(posted.map(({ path }) => path)).toEqual(["/register"]);
  });

  it("is shown a client of ours only at its own origin", async () => {
    const client = {
      client_id: "mine",
      client_secret: "s3cret-of-mine",
      redirect_uris: ["http://127.0.0.1/callback"],
    };
    const { auth, hub: open } = await openOld({ options: { clients: [client], registration: false } });
    const hub = await open({ oauth: { clientId: "mine", clientSecret: "s3cret-of-mine" } });
    await hub.login("issues", browser());
    expect(await add(hub)).toEqual({ sum: 3 });
    expect(auth.stats.registrations).toBe(0);
    expect(tokenRequests(auth)).toHaveLength(1);
  });

  it("is not taken for one without metadata when its metadata cannot be read", async () => {
    const path = "/.well-known/oauth-authorization-server";
    for (const answer of [{ status: 500 }, { status: 200, body: "<html>" }, json(200, { issuer: 7 })]) {
      const { auth, hub: open } = await openOld({ answers: { [path]: answer } });
      const error = await refusal((await open()).login("issues", browser()));
      expect(error).toMatchObject({ code: "auth-failed" });
      expect(auth.stats).toMatchObject({ registrations: 0, authorizations: 0 });
    }
  });

  it("does not follow a redirect of the registration", async () => {
    const elsewhere = await startAuthServer();
    onTestFinished(() => elsewhere.close());
    const answer = { status: 307, headers: { location: `${elsewhere.url}/register` } };
    const { hub: open } = await openOld({ answers: { "/register": answer } });
    const error = await refusal((await open()).login("issues", browser()));
    expect(error).toMatchObject({ code: "auth-failed", data: { reason: "redirect" } });
    expect(elsewhere.received).toEqual([]);
  });
});
