import { ClientCredentialsProvider, DpopSession } from "@modelcontextprotocol/client";
import type { OAuthClientProvider } from "@modelcontextprotocol/client";
import { describe, expect, it } from "vitest";
import { add, openScene, refusal, requestsOf, tokenRequests } from "./oauth-fixture.ts";

const robot = { client_id: "robot", client_secret: "s3cret-of-mine" };

function clientProvider(expectedIssuer: string): OAuthClientProvider {
  const { client_id: clientId, client_secret: clientSecret } = robot;
  return new ClientCredentialsProvider({ clientId, clientSecret, expectedIssuer });
}

describe("an OAuth client of the SDK's kind that the host program supplies", () => {
  it("gets its token when the server asks for one, and another when that has expired", async () => {
    const scene = await openScene({ clients: [robot] });
    const hub = await scene.hub(
      { auth: "mine" },
      { authProviders: { mine: clientProvider(scene.auth.issuer) } },
    );
    expect(await add(hub)).toEqual({ sum: 3 });
    expect(tokenRequests(scene.auth)).toHaveLength(1);
    scene.auth.expireAccessTokens();
    const before = requestsOf(scene.server, "tools/call").length;
    expect(await add(hub)).toEqual({ sum: 3 });
    expect(tokenRequests(scene.auth)).toHaveLength(2);
    expect(requestsOf(scene.server, "tools/call")).toHaveLength(before + 2);
  });

  it("signs its requests where its tokens are bound to a key", async () => {
    const scene = await openScene({ dpop: "supported", clients: [robot] }, { dpop: "nonce" });
    const session = await DpopSession.create();
    const mine = Object.assign(clientProvider(scene.auth.issuer), { dpop: () => session });
    const hub = await scene.hub({ auth: "mine" }, { authProviders: { mine } });
    expect(await add(hub)).toEqual({ sum: 3 });
    const [sent] = requestsOf(scene.server, "tools/call");
    expect(sent?.headers).toMatchObject({
      authorization: expect.stringMatching(/^DPoP /) as string,
      dpop: expect.any(String) as string,
    });
    expect(scene.server.errors).toEqual([]);
  });

  it("reports when it needs a person", async () => {
    const scene = await openScene();
    const opened: URL[] = [];
    const kept = new Map<string, unknown>();
    const mine: OAuthClientProvider = {
      redirectUrl: "http://127.0.0.1/callback",
      clientMetadata: { redirect_uris: ["http://127.0.0.1/callback"] },
      clientInformation: () => kept.get("client") as undefined,
      saveClientInformation: (client) => void kept.set("client", client),
      tokens: () => undefined,
      saveTokens() {},
      redirectToAuthorization: (url) => void opened.push(url),
      saveCodeVerifier() {},
      codeVerifier: () => "",
    };
    const hub = await scene.hub({ auth: "mine" }, { authProviders: { mine } });
    expect(await refusal(hub.connect("issues"))).toMatchObject({ code: "auth-required" });
    expect(opened).toHaveLength(1);
    expect(hub.status()).toMatchObject([{ state: "needs-auth" }]);
  });
});
