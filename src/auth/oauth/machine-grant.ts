import type { FetchLike, OAuthTokens } from "@modelcontextprotocol/client";
import { PlugboardError } from "../../errors.ts";
import { isRecord } from "../../lib/record.ts";
import type { LoginAttempt } from "./login/login.ts";
import { chooseClient } from "./client.ts";
import type { OAuthConfig } from "./client.ts";
import { authFailed, requestFailed, shown } from "./errors.ts";
import { postForm } from "./post.ts";
import { nobody } from "./record.ts";
import type { Login } from "./record.ts";
import { isSafeUrl } from "../../lib/safe-url.ts";
import { requestTokens } from "./token-request.ts";

const jwtBearer = "urn:ietf:params:oauth:grant-type:jwt-bearer";
const tokenType = "urn:ietf:params:oauth:token-type:";
const idJag = `${tokenType}id-jag`;

/** A login that needs no person: as the client itself, or by what somebody else vouches for. */
export async function logInByGrant(attempt: LoginAttempt): Promise<Login> {
  const { server, oauth, found, scopes } = attempt;
  // A workload is known by who vouches for it, and need not be registered.
  const isUnregistered = oauth.grant === "jwt-bearer" && oauth.clientId === undefined;
  if (!isUnregistered) required(server, oauth, "clientId");
  const client = isUnregistered ? nobody : await chooseClient(attempt, found, "");
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
  const { endpoint, methods } = await findProvider(server, issuer, fetch);
  const form = {
    grant_type: "urn:ietf:params:oauth:grant-type:token-exchange",
    requested_token_type: idJag,
    audience: found.issuer,
    resource: found.resource,
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
    throw providerRefused(server, issuer, "gave something else than a grant for it (issued_token_type)");
  } catch (error) {
    const step = `the exchange of the id token at ${shown(issuer)}`;
    throw requestFailed(error, { server, step, secrets: [idToken, clientSecret ?? ""], hint: providerHint });
  }
}

const providerHint = "Check `oauth.assertion` and `oauth.identityProvider` of the server.";

function providerRefused(server: string, issuer: string, why: string): PlugboardError {
  const message = `The identity provider ${shown(issuer)} of "${server}" ${why}.`;
  return authFailed(server, message, { data: { reason: "identity-provider" }, hint: providerHint });
}

/** Identity providers describe themselves in many ways; all that is needed is who they are and where to ask. */
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
    if (typeof name !== "string") throw refuse("does not name itself (issuer)");
    if (name.replace(/\/$/, "") !== issuer.replace(/\/$/, ""))
      throw refuse(`calls itself ${shown(name)} (issuer)`);
    if (typeof endpoint !== "string" || !isSafeUrl(endpoint))
      throw refuse("has a token_endpoint that is neither https nor on this machine");
    const listed = about["token_endpoint_auth_methods_supported"];
    const methods = Array.isArray(listed) ? listed.filter((one) => typeof one === "string") : [];
    return { endpoint, methods: methods.length > 0 ? methods : ["client_secret_post"] };
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
  if (value !== undefined) return value;
  const message = `The login of "${server}" by ${String(oauth.grant)} needs \`oauth.${field}\`.`;
  throw new PlugboardError("config-invalid", message, { server, data: { field: `oauth.${field}` } });
}
