import type { FetchLike, OAuthTokens } from "@modelcontextprotocol/client";
import { PlugboardError } from "../../errors.ts";
import { isRecord } from "../../lib/record.ts";
import type { LoginAttempt } from "./login/login.ts";
import { chooseClient } from "./client.ts";
import type { OAuthConfig } from "./client.ts";
import { authFailed, requestFailed, shown } from "./errors.ts";
import { postForm } from "./post.ts";
import { noClient } from "./record.ts";
import type { Login } from "./record.ts";
import { isSafeUrl } from "../../lib/safe-url.ts";
import { requestTokens, resourceField } from "./token-request.ts";

const jwtBearer = "urn:ietf:params:oauth:grant-type:jwt-bearer";
const tokenType = "urn:ietf:params:oauth:token-type:";
const idJag = `${tokenType}id-jag`;

/** Logs in without a person: as the client itself, or with an assertion from another party. */
export async function logInByGrant(attempt: LoginAttempt): Promise<Login> {
  const { server, oauth, found, scopes } = attempt;
  // A workload is identified by its assertion and does not need a registered client.
  const isUnregistered = oauth.grant === "jwt-bearer" && oauth.clientId === undefined;
  if (!isUnregistered) required(server, oauth, "clientId");
  const client = isUnregistered ? noClient : await chooseClient(attempt, found, "");
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
  "Check `oauth` of the server; its authorization server may not accept this client or this grant.";

async function grantFor(attempt: LoginAttempt, scope: { scope: string } | undefined) {
  const { server, oauth } = attempt;
  if (oauth.grant === "client-credentials") return { grant_type: "client_credentials" };
  const own = required(server, oauth, "assertion");
  const assertion = oauth.grant === "cross-app" ? await exchange(attempt, own, scope) : own;
  return { grant_type: jwtBearer, assertion };
}

/** Cross-app access: the company's identity provider exchanges a person's ID token for a grant for this server. */
async function exchange(
  { server, oauth, found, fetch }: LoginAttempt,
  idToken: string,
  scope: { scope: string } | undefined,
): Promise<string> {
  const { issuer, clientId, clientSecret } = required(server, oauth, "identityProvider");
  const { endpoint, methods } = await findProvider(server, issuer, fetch);
  const form = {
    grant_type: "urn:ietf:params:oauth:grant-type:token-exchange",
    requested_token_type: idJag,
    audience: found.issuer,
    ...resourceField(found),
    subject_token: idToken,
    subject_token_type: `${tokenType}id_token`,
    client_id: clientId,
    ...scope,
  };
  const client = { client_id: clientId, client_secret: clientSecret };
  try {
    const { ok, status, text } = await postForm(fetch, endpoint, form, { client, methods });
    if (!ok) {
      const { parseErrorResponse } = await import("@modelcontextprotocol/client");
      throw await parseErrorResponse(new Response(text, { status }));
    }
    const { access_token: grant, issued_token_type: type } = parseObject(text);
    if (typeof grant === "string" && grant !== "" && type === idJag) return grant;
    throw providerRefused(server, issuer, "did not issue a grant for the server (issued_token_type)");
  } catch (error) {
    const step = `the exchange of the ID token at ${shown(issuer)}`;
    throw requestFailed(error, { server, step, secrets: [idToken, clientSecret ?? ""], hint: providerHint });
  }
}

const providerHint = "Check `oauth.assertion` and `oauth.identityProvider` of the server.";

function providerRefused(server: string, issuer: string, why: string): PlugboardError {
  const message = `The identity provider ${shown(issuer)} of "${server}" ${why}.`;
  return authFailed(server, message, { data: { reason: "identity-provider" }, hint: providerHint });
}

/** Identity providers' metadata varies; only the issuer and the token endpoint are needed. */
async function findProvider(server: string, issuer: string, fetch: FetchLike) {
  const refuse = (why: string) => providerRefused(server, issuer, why);
  if (!isSafeUrl(issuer)) throw refuse("is neither https nor on this machine");
  const { buildDiscoveryUrls } = await import("@modelcontextprotocol/client");
  for (const { url } of buildDiscoveryUrls(issuer)) {
    const response = await fetch(url, { headers: { accept: "application/json" } });
    const text = await response.text();
    if (!response.ok) continue;
    const about = parseObject(text);
    const { issuer: name, token_endpoint: endpoint } = about;
    if (typeof name !== "string") throw refuse("does not name its issuer in its metadata");
    if (name.replace(/\/$/, "") !== issuer.replace(/\/$/, ""))
      throw refuse(`names a different issuer in its metadata: ${shown(name)}`);
    if (typeof endpoint !== "string" || !isSafeUrl(endpoint))
      throw refuse("has a token_endpoint that is neither https nor on this machine");
    const listed = about["token_endpoint_auth_methods_supported"];
    const methods = Array.isArray(listed) ? listed.filter((one) => typeof one === "string") : [];
    return { endpoint, methods: methods.length > 0 ? methods : ["client_secret_post"] };
  }
  throw refuse("has no metadata");
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
  if (value !== undefined) return value;
  const message = `The ${String(oauth.grant)} login for "${server}" needs \`oauth.${field}\`.`;
  throw new PlugboardError("config-invalid", message, { server, data: { field: `oauth.${field}` } });
}
