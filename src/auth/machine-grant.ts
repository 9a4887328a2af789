import type { FetchLike, OAuthTokens } from "@modelcontextprotocol/client";
import { PlugboardError } from "../errors.ts";
import { isRecord } from "../lib/record.ts";
import type { LoginAttempt } from "./login.ts";
import { chooseClient } from "./oauth-client.ts";
import type { OAuthConfig } from "./oauth-client.ts";
import { authFailed, requestFailed, shown } from "./oauth-errors.ts";
import type { Login } from "./oauth-record.ts";
import { isSafeAddress } from "./oauth-url.ts";
import { requestTokens } from "./token-request.ts";

const jwtBearer = "urn:ietf:params:oauth:grant-type:jwt-bearer";

/** A login that needs no person: as the client itself, or by what somebody else vouches for. */
export async function logInByGrant(attempt: LoginAttempt): Promise<Login> {
  const { server, oauth, found, scopes } = attempt;
  required(server, oauth, "clientId");
  const client = await chooseClient(attempt, found, "");
  const scope = scopes.length > 0 ? { scope: scopes.join(" ") } : undefined;
  const grant = await grantFor(attempt, scope);
  let tokens: OAuthTokens;
  try {
    tokens = await requestTokens({ ...attempt, client }, { ...grant, ...scope });
  } catch (error) {
    const secrets = [client.client_secret ?? "", oauth.assertion ?? ""];
    throw requestFailed(error, { server, step: "the login without a person", secrets, hint: configHint });
  }
  return attempt.keep(client, tokens);
}

const configHint =
  "Check `oauth` of the server; its authorization server may not know this client or this grant.";

async function grantFor(attempt: LoginAttempt, scope: { scope: string } | undefined) {
  const { server, oauth } = attempt;
  if (oauth.grant === "client-credentials") return { grant_type: "client_credentials" };
  const own = required(server, oauth, "assertion");
  const assertion = oauth.grant === "cross-app" ? await exchange(attempt, own, scope) : own;
  return { grant_type: jwtBearer, assertion };
}

/** Cross-app access: the company's identity provider turns a person's id token into a grant for this one server. */
async function exchange(
  { server, oauth, found, fetch }: LoginAttempt,
  idToken: string,
  scope: { scope: string } | undefined,
): Promise<string> {
  const { issuer, clientId, clientSecret } = required(server, oauth, "identityProvider");
  const { requestJwtAuthorizationGrant } = await import("@modelcontextprotocol/client");
  const secrets = [idToken, clientSecret ?? ""];
  try {
    const { jwtAuthGrant } = await requestJwtAuthorizationGrant({
      tokenEndpoint: await tokenEndpointOf(server, issuer, fetch),
      audience: found.issuer,
      resource: found.resource,
      idToken,
      clientId,
      ...(clientSecret !== undefined && { clientSecret }),
      ...scope,
      fetchFn: fetch,
    });
    return jwtAuthGrant;
  } catch (error) {
    throw requestFailed(error, {
      server,
      step: `the exchange of the id token at ${shown(issuer)}`,
      secrets,
    });
  }
}

/** Identity providers describe themselves in many ways; all that is needed is who they are and where to ask. */
async function tokenEndpointOf(server: string, issuer: string, fetch: FetchLike): Promise<string> {
  const refuse = (why: string) =>
    authFailed(server, `The identity provider ${shown(issuer)} of "${server}" ${why}.`, {
      data: { reason: "identity-provider" },
      hint: "Check `oauth.identityProvider` of the server.",
    });
  if (!isSafeAddress(issuer)) throw refuse("is neither https nor on this machine");
  const { buildDiscoveryUrls } = await import("@modelcontextprotocol/client");
  for (const { url } of buildDiscoveryUrls(issuer)) {
    const response = await fetch(url, { headers: { accept: "application/json" } });
    const text = await response.text();
    if (!response.ok) continue;
    const { issuer: name, token_endpoint: endpoint } = parseObject(text);
    if (typeof name !== "string" || name.replace(/\/$/, "") !== issuer.replace(/\/$/, ""))
      throw refuse(`calls itself ${shown(String(name))} (issuer)`);
    if (typeof endpoint !== "string" || !isSafeAddress(endpoint))
      throw refuse("has a token_endpoint that is neither https nor on this machine");
    return endpoint;
  }
  throw refuse("does not describe itself");
}

function parseObject(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : {};
  } catch {
    return {};
  }
}

function required<K extends keyof OAuthConfig>(
  server: string,
  oauth: OAuthConfig,
  field: K,
): NonNullable<OAuthConfig[K]> {
  const value = oauth[field];
  if (value !== undefined) return value as NonNullable<OAuthConfig[K]>;
  const message = `The login of "${server}" by ${String(oauth.grant)} needs \`oauth.${field}\`.`;
  throw new PlugboardError("config-invalid", message, { server, data: { field: `oauth.${field}` } });
}
