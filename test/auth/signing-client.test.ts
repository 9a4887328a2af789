import { describe, expect, it } from "vitest";
import { createKey } from "../fixtures/auth/index.ts";
import { add, browser, openScene } from "./oauth-fixture.ts";
import type { Scene } from "./oauth-fixture.ts";

const key = createKey("ES256");

/** A client that proves itself by a key, for logins of a person. */
async function openSigned(): Promise<Scene & { oauth: object }> {
  const scene = await openScene({
    registration: false,
    deviceIntervalMs: 10,
    clients: [
      { client_id: "signer", jwks: { keys: [key.jwk] }, redirect_uris: ["http://127.0.0.1/callback"] },
    ],
  });
  return { ...scene, oauth: { clientId: "signer", privateKey: key.pem } };
}

describe("a client with a key instead of a secret", () => {
  it("signs the code exchange, the renewal and the revocation separately", async () => {
    const { auth, hub: open, oauth } = await openSigned();
    const hub = await open({ oauth });
    await hub.login("issues", browser());
    expect(await add(hub)).toEqual({ sum: 3 });
    auth.expireAccessTokens();
    expect(await add(hub)).toEqual({ sum: 3 });
    expect(await hub.logout("issues")).toEqual({ wasLoggedIn: true, revoked: true });
    const signed = auth.received
      .map(({ body }) => new URLSearchParams(body).get("client_assertion"))
      .filter((one) => one !== null);
    expect(signed).toHaveLength(4);
    expect(new Set(signed).size).toBe(4);
  });

  it("signs a login by device code", async () => {
    const { auth, hub: open, oauth } = await openSigned();
    const hub = await open({ oauth });
    const account = await hub.login("issues", { device: ({ code }) => auth.approveDevice(code) });
    expect(account).toMatchObject({ renewable: true });
    expect(await add(hub)).toEqual({ sum: 3 });
  });
});
