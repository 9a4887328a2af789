import { signJwt, verifyJwt } from "./jwt.ts";
import { type Fields, GRANTS } from "./options.ts";
import { Refusal, required } from "./refusal.ts";
import { askedBy } from "./scopes.ts";
import { type AuthState, secret } from "./state.ts";
import { introspect, issue, type TokenRequest } from "./tokens.ts";

const ID_JAG = "urn:ietf:params:oauth:token-type:id-jag";

/** RFC 7523, and the second half of cross-app access: a trusted issuer vouches for a user. */
export function jwtBearer({ state, client, params, thumbprint }: TokenRequest): Fields {
  const { header, claims } = believe(state, required(params, "assertion"));
  if (![claims["aud"]].flat().includes(state.issuer)) throw bad("aud is not this server");
  if (header["typ"] === "oauth-id-jag+jwt" && claims["client_id"] !== client.client_id)
    throw bad("it was made for another client");
  const asked = askedBy(state, client, params);
  const named = typeof claims["resource"] === "string" ? { resource: claims["resource"] } : {};
  const grant = state.addGrant(GRANTS.jwt, { ...asked, ...named }, String(claims["sub"]));
  return issue(state, client, grant, { thumbprint });
}

/** RFC 8693. A token of this server or a trusted issuer becomes a token, or a JWT for another server. */
export function exchangeToken({ state, client, params, thumbprint }: TokenRequest): Fields {
  const token = required(params, "subject_token");
  const own = introspect(state, token);
  const user = own.active ? own.sub : believe(state, token).claims["sub"];
  const issued_token_type =
    params.get("requested_token_type") ?? "urn:ietf:params:oauth:token-type:access_token";
  if (issued_token_type === ID_JAG) {
    const iat = Math.floor(Date.now() / 1000);
    const claims = {
      iss: state.issuer,
      sub: user,
      aud: required(params, "audience"),
      client_id: client.client_id,
      resource: params.get("resource") ?? undefined,
      scope: params.get("scope") ?? undefined,
      jti: secret(),
      iat,
      exp: iat + 300,
    };
    const access_token = signJwt(claims, state.keys.privateKey, { typ: "oauth-id-jag+jwt", kid: "1" });
    return { access_token, issued_token_type, token_type: "N_A", expires_in: 300 };
  }
  const grant = state.addGrant(GRANTS.exchange, askedBy(state, client, params), String(user));
  return { ...issue(state, client, grant, { thumbprint }), issued_token_type };
}

function believe(state: AuthState, assertion: string): ReturnType<typeof verifyJwt> {
  const trusted = { [state.issuer]: [state.keys.publicJwk], ...state.options.trusted };
  const jwt = verifyJwt(assertion, {
    error: "invalid_grant",
    keys: ({ claims }) => trusted[String(claims["iss"])] ?? [],
  });
  if (jwt.claims["exp"] === undefined) throw bad("exp is missing");
  if (typeof jwt.claims["sub"] !== "string") throw bad("sub is missing");
  return jwt;
}

function bad(why: string): Refusal {
  return new Refusal("invalid_grant", why);
}
