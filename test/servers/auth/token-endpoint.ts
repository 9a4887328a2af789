import { actForItself } from "./client-credentials.ts";
import { authenticateClient } from "./clients.ts";
import { pollDevice } from "./device.ts";
import { jwtBearer, workload } from "./jwt-bearer.ts";
import { digest } from "./jwt.ts";
import { type Answer, type AuthReceived, json } from "./listener.ts";
import { type Fields, GRANTS, type GrantType } from "./options.ts";
import { Refusal, required, single } from "./refusal.ts";
import { resourceOf, scopesOf } from "./scopes.ts";
import type { AuthState } from "./state.ts";
import { exchangeToken } from "./token-exchange.ts";
import { isLive, issue, type TokenRequest } from "./tokens.ts";

const grants: Record<GrantType, (request: TokenRequest) => Fields> = {
  [GRANTS.code]: redeemCode,
  [GRANTS.refresh]: refresh,
  [GRANTS.client]: actForItself,
  [GRANTS.device]: pollDevice,
  [GRANTS.jwt]: jwtBearer,
  [GRANTS.exchange]: exchangeToken,
};

export async function tokenEndpoint(state: AuthState, request: AuthReceived): Promise<Answer> {
  const { params } = request;
  const client = workload(state, request) ?? (await authenticateClient(state, request));
  const type = state.grantTypes.find((known) => known === params.get("grant_type"));
  if (type === undefined) {
    throw new Refusal("unsupported_grant_type", `grant_type ${params.get("grant_type")} is not supported`);
  }
  if (!client.grant_types.includes(type)) {
    throw new Refusal("unauthorized_client", `the client is not registered for ${type}`);
  }
  const thumbprint = proofOf(state, request);
  // From here on nothing waits: of two requests with the same code or token, one comes first.
  const headers = state.options.dpop === "nonce" ? state.proofs.nonceHeader() : {};
  return json(200, grants[type]({ state, client, params, thumbprint }), headers);
}

function redeemCode({ state, client, params, thumbprint }: TokenRequest): Fields {
  const code = state.codes.get(required(params, "code"));
  if (code === undefined || code.request.client.client_id !== client.client_id)
    throw bad("the code is not known");
  const { request, grant } = code;
  if (code.spent) {
    state.stats.codeReplays++;
    grant.revoked ??= "code replay";
    throw bad("the code was used before");
  }
  code.spent = true;
  if (state.now() >= code.expiresMs) throw bad("the code has expired");
  if (single(params, "redirect_uri") !== request.redirectUri) throw bad("redirect_uri is another one");
  const verifier = single(params, "code_verifier") ?? "";
  const { challenge } = request;
  if (
    challenge !== undefined &&
    (challenge.method === "S256" ? digest(verifier) : verifier) !== challenge.value
  )
    throw bad("code_verifier does not fit");
  if (request.thumbprint !== undefined && request.thumbprint !== thumbprint)
    throw bad("the code is bound to another key");
  checkResource(state, params, grant.audience);
  return issue(state, client, grant, { thumbprint, refresh: true });
}

function refresh({ state, client, params, thumbprint }: TokenRequest): Fields {
  const token = state.tokens.get(required(params, "refresh_token"));
  if (token?.kind !== "refresh" || token.grant.clientId !== client.client_id)
    throw bad("the refresh token is not known");
  const { rotation = true } = state.options;
  if (rotation && token.spent && token.grant.revoked === undefined) {
    state.stats.reuses++;
    token.grant.revoked = "reuse";
    throw bad("the refresh token was used before; all tokens of its family are revoked");
  }
  if (!isLive(state, token)) throw bad("the refresh token has expired or was revoked");
  if (token.thumbprint !== undefined && token.thumbprint !== thumbprint)
    throw bad("it is bound to another key");
  const asked = scopesOf(params, token.grant.scopes);
  checkResource(state, params, token.grant.audience);
  const scopes = asked.length > 0 ? asked : token.grant.scopes;
  state.stats.refreshes++;
  token.spent = rotation;
  return issue(state, client, token.grant, { scopes, thumbprint, refresh: rotation });
}

function checkResource(state: AuthState, params: URLSearchParams, audience: string | undefined): void {
  const resource = resourceOf(state, params);
  if (resource !== undefined && resource !== audience) {
    throw new Refusal("invalid_target", `resource ${resource} is not what was agreed to`);
  }
}

function proofOf(state: AuthState, request: AuthReceived): string | undefined {
  const { dpop = "off" } = state.options;
  if (dpop === "off") return undefined;
  const url = `${state.issuer}/token`;
  const thumbprint = state.proofs.check(request, { url, nonce: dpop === "nonce" });
  if (thumbprint === undefined && dpop !== "supported")
    throw new Refusal("invalid_dpop_proof", "a DPoP proof is required");
  return thumbprint;
}

function bad(why: string): Refusal {
  return new Refusal("invalid_grant", why);
}
