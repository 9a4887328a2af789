import { onTestFinished } from "vitest";
import { createMemoryCredentials } from "../../src/auth/credentials.ts";
import { startAuthServer, startProtectedMcp } from "../fixtures/auth/index.ts";
import type { AuthOptions } from "../fixtures/auth/index.ts";
import { startEcho } from "./canary-echo.ts";
import { Canaries, openHub } from "./canary-scene.ts";

const named = { access: "an access token", refresh: "a refresh token", code: "a code" };
/** What every login plants. */
export const ofLogins = [
  "a client secret",
  "a code",
  "a refresh token",
  "a registration token",
  "a verifier",
  "an access token",
  "an id token",
];

/** A server behind a login, and its authorization server, each of which can be made to repeat what it is sent. */
export async function openLogin({ hasMemory = false } = {}) {
  const canaries = new Canaries();
  const alter = {
    metadata: (metadata: Record<string, unknown>) =>
      Object.fromEntries(
        Object.entries(metadata).map(([field, value]) =>
          typeof value === "string" && field.endsWith("_endpoint")
            ? [field, value.replace(auth.url, issuer.origin)]
            : [field, value],
        ),
      ),
    registration: (client: Record<string, unknown>) => {
      const confidential = {
        client_secret: canaries.plant("a client secret"),
        token_endpoint_auth_method: "client_secret_post" as const,
      };
      // The entry that it goes into is made right after this.
      queueMicrotask(() => Object.assign(auth.clients.get(String(client["client_id"])) ?? {}, confidential));
      return {
        ...client,
        ...confidential,
        registration_access_token: canaries.plant("a registration token"),
      };
    },
    token: (response: Record<string, unknown>) => {
      if (typeof response["id_token"] === "string") canaries.plant("an id token", response["id_token"]);
      return response;
    },
  };
  const auth = await startAuthServer({
    autoConsent: true,
    scopes: ["openid"],
    deviceIntervalMs: 1,
    createToken: (kind) => canaries.plant(named[kind]),
    alter,
  });
  const issuer = await startEcho(auth.url);
  const behind = await startProtectedMcp(auth, {}, { requires: { all: ["openid"] } });
  const server = await startEcho(behind.url, { hasMemory });
  const place = "/.well-known/oauth-protected-resource/mcp";
  behind.set({ resource: server.url, challengeMetadata: `${server.origin}${place}` });
  onTestFinished(async () => {
    await behind.close();
    await auth.close();
  });
  const kept = createMemoryCredentials();
  let aheadMs = 0;
  const clock = () => Date.now() + aheadMs;
  return {
    canaries,
    auth,
    issuer,
    server,
    open: (entry: object = {}) =>
      openHub(canaries, { url: server.url, ...entry }, { credentials: kept, clock }),
    /** Until a refused token is no longer taken for one that was just renewed. */
    wait: () => void (aheadMs += 10_000),
    alter: (more: NonNullable<AuthOptions["alter"]>) => auth.set({ alter: { ...alter, ...more } }),
    report: () => {
      for (const { params } of issuer.received) {
        for (const verifier of params.getAll("code_verifier")) canaries.plant("a verifier", verifier);
        for (const code of params.getAll("device_code")) canaries.plant("a device code", code);
      }
      return canaries.report();
    },
  };
}
