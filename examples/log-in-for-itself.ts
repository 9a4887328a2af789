/**
 * Logs in without a person: as a client with a key, as a workload with a token of its platform, and as a user of the
 * company's identity provider.
 * Run: node examples/log-in-for-itself.ts
 */
import assert from "node:assert/strict";
import { createHub } from "plugboard";
import * as testing from "plugboard/testing";

const [robotKey, platformKey] = [testing.createKey(), testing.createKey()];
const platform = "https://platform.example";

await using idp = await testing.startIdentityProvider({ clients: [{ client_id: "agent" }] });
await using auth = await testing.startAuthServer({
  grantTypes: [testing.GRANTS.client, testing.GRANTS.jwt],
  trusted: { [platform]: [platformKey.jwk], [idp.issuer]: idp.keys },
  clients: [
    { client_id: "robot", jwks: { keys: [robotKey.jwk] } },
    { client_id: "job" },
    { client_id: "agent", client_secret: "s3cret" },
  ],
});
await using server = await testing.startProtectedMcp(auth, {}, { requires: { all: ["read"] } });

const { url } = server;
const byKey = { clientId: "robot", privateKey: robotKey.pem, grant: "client-credentials" } as const;
const byPlatform = {
  clientId: "job",
  grant: "jwt-bearer",
  assertion: platformKey.sign({ iss: platform, sub: "job-7", aud: auth.issuer }),
} as const;
const byCompany = {
  clientId: "agent",
  clientSecret: "s3cret",
  grant: "cross-app",
  assertion: idp.idToken("agent", "ada"),
  identityProvider: { issuer: idp.issuer, clientId: "agent" },
} as const;

await using hub = await createHub({
  servers: {
    // All three use the same URL, so each login needs its own profile.
    robot: { url, oauth: { ...byKey, profile: "robot" } },
    job: { url, oauth: { ...byPlatform, profile: "job" } },
    person: { url, oauth: { ...byCompany, profile: "person" } },
  },
});

for (const name of ["robot", "job", "person"]) {
  const { structuredContent } = await hub.callTool(`mcp__${name}__add`, { a: 19, b: 23 });
  assert.deepEqual(structuredContent, { sum: 42 });
}
for (const { clientId, user, type } of auth.grants) console.log(clientId, user ?? "itself", type);
assert.deepEqual(
  auth.grants.map(({ user }) => user),
  [undefined, "job-7", "ada"],
);
