/**
 * Logins without a person, against the servers of "plugboard/testing": a workload that its platform vouches for, and a
 * user who is known at the company's identity provider. Run: node examples/log-in-for-itself.ts
 */
import assert from "node:assert/strict";
import {
  createKey,
  GRANTS,
  startAuthServer,
  startIdentityProvider,
  startProtectedMcp,
} from "../test/servers/auth/testing.ts";

const platform = createKey();
await using idp = await startIdentityProvider({ clients: [{ client_id: "agent" }] });
await using auth = await startAuthServer({
  grantTypes: [GRANTS.jwt],
  trusted: { "https://platform.example": [platform.jwk], [idp.issuer]: idp.keys },
  clients: [{ client_id: "agent", client_secret: "s3cret" }],
});
await using server = await startProtectedMcp(auth);

async function ask(issuer: string, form: Record<string, string>, headers: Record<string, string> = {}) {
  const body = new URLSearchParams(form);
  const response = await fetch(`${issuer}/token`, { method: "POST", body, headers });
  return (await response.json()) as Record<string, string>;
}

// A workload shows what its platform gave it, and needs no registration.
const assertion = platform.sign({ iss: "https://platform.example", sub: "job-7", aud: auth.issuer });
const job = await ask(auth.issuer, { grant_type: GRANTS.jwt, assertion, resource: server.url });
console.log(auth.introspect(job["access_token"] ?? "").sub);
assert.equal(auth.introspect(job["access_token"] ?? "").sub, "job-7");

// Cross-app access: the ID token becomes an ID-JAG at one server, and that a token at the other.
const type = "urn:ietf:params:oauth:token-type:";
const idJag = await ask(idp.issuer, {
  grant_type: GRANTS.exchange,
  client_id: "agent",
  subject_token: idp.idToken("agent", "ada"),
  subject_token_type: `${type}id_token`,
  requested_token_type: `${type}id-jag`,
  audience: auth.issuer,
  resource: server.url,
});
const token = await ask(
  auth.issuer,
  { grant_type: GRANTS.jwt, assertion: idJag["access_token"] ?? "" },
  { authorization: `Basic ${btoa("agent:s3cret")}` },
);
const known = auth.introspect(token["access_token"] ?? "");
console.log(known.sub, known.aud === server.url);
assert.deepEqual([known.sub, known.aud], ["ada", server.url]);
