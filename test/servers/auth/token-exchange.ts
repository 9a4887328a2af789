import { verifyIdToken } from "./id-token.ts";
import { trustedJwt } from "./jwt-bearer.ts";
import { type Fields, GRANTS } from "./options.ts";
import { Refusal, required, single } from "./refusal.ts";
import { askedBy } from "./scopes.ts";
import type { AuthState, Client } from "./state.ts";
import { introspect, isLive, issue, type TokenRequest } from "./tokens.ts";

const TYPE = "urn:ietf:params:oauth:token-type:";

/** RFC 8693: proof of who a user is becomes a token of this server, or an ID-JAG for another one. */
export function exchangeToken(request: TokenRequest): Fields {
  const { state, client, params, thumbprint } = request;
  if (params.has("actor_token")) throw new Refusal("invalid_request", "actor_token is not supported");
  const subjectType = required(params, "subject_token_type");
  const user = userOf(state, client, subjectType, required(params, "subject_token"));
  const issued_token_type = single(params, "requested_token_type") ?? `${TYPE}access_token`;
  if (issued_token_type === `${TYPE}id-jag`) {
    if (subjectType !== `${TYPE}id_token` && subjectType !== `${TYPE}refresh_token`)
      throw new Refusal("invalid_request", "an ID-JAG is given for an ID token or a refresh token");
    return { ...idJag(request, user), issued_token_type };
  }
  if (issued_token_type !== `${TYPE}access_token`)
    throw new Refusal("invalid_request", "requested_token_type is not supported");
  const grant = state.addGrant(GRANTS.exchange, askedBy(state, client, params), user);
  return { ...issue(state, client, grant, { thumbprint }), issued_token_type };
}

/** Cross-app access: this identity provider vouches for its user at another authorization server. */
function idJag({ state, client, params }: TokenRequest, user: string): Fields {
  const { crossApp, idJagMs = 300_000 } = state.options;
  const audience = required(params, "audience");
  const there = crossApp?.[audience];
  if (crossApp !== undefined && there === undefined)
    throw new Refusal("invalid_target", `audience ${audience} is not known`);
  const client_id = there === undefined ? client.client_id : there[client.client_id];
  if (client_id === undefined) throw new Refusal("unauthorized_client", `not allowed at ${audience}`);
  const iat = Math.floor(Date.now() / 1000);
  const expires_in = Math.floor(idJagMs / 1000);
  const scope = single(params, "scope");
  const resource = single(params, "resource");
  const claims = { iss: state.issuer, sub: user, aud: audience, client_id, resource, scope };
  const header = { typ: "oauth-id-jag+jwt" };
  const access_token = state.key.sign({ ...claims, iat, exp: iat + expires_in }, header);
  return { access_token, token_type: "N_A", expires_in, ...(scope !== undefined && { scope }) };
}

function userOf(state: AuthState, client: Client, type: string, token: string): string {
  switch (type) {
    case `${TYPE}id_token`:
      return verifyIdToken(state, client, token);
    case `${TYPE}refresh_token`: {
      const known = state.tokens.get(token);
      const mine = known?.kind === "refresh" && known.grant.clientId === client.client_id;
      if (!mine || !isLive(state, known)) throw bad("the refresh token is not known or no longer good");
      return known.grant.user ?? known.grant.clientId;
    }
    case `${TYPE}access_token`: {
      const { active, sub } = introspect(state, token);
      if (!active || sub === undefined) throw bad("the access token is not known or no longer good");
      return sub;
    }
    case `${TYPE}jwt`:
      return String(trustedJwt(state, token, ["JWT"]).claims["sub"]);
    default:
      throw new Refusal("invalid_request", "subject_token_type is not supported");
  }
}

function bad(why: string): Refusal {
  return new Refusal("invalid_grant", why);
}
