import { type Jwt, verifyJwt } from "./jwt.ts";
import type { AuthReceived } from "./listener.ts";
import { type Fields, GRANTS } from "./options.ts";
import { Refusal, required } from "./refusal.ts";
import { resourceOf, scopesOf } from "./scopes.ts";
import type { AuthState, Client } from "./state.ts";
import { issue, type TokenRequest } from "./tokens.ts";

const ID_JAG = "oauth-id-jag+jwt";

/** RFC 7523: a trusted issuer vouches for a user (cross-app access) or for a workload. No refresh token. */
export function jwtBearer({ state, client, params, thumbprint }: TokenRequest): Fields {
  const jwt = trustedJwt(state, required(params, "assertion"), ["JWT", ID_JAG]);
  const { header, claims } = jwt;
  if (header["typ"] === ID_JAG) checkIdJag(state, client, jwt);
  if (state.options.assertions === "once" && !state.useOnce(claims))
    throw bad("jti is missing or was used before");
  const asked = {
    client,
    scopes: scopesWithin(state, claims, params),
    resource: target(state, claims, params),
  };
  const grant = state.addGrant(GRANTS.jwt, asked, String(claims["sub"]));
  return issue(state, client, grant, { thumbprint });
}

/** A JWT of a trusted issuer for this server. */
export function trustedJwt(state: AuthState, assertion: string, typ: string[]): Jwt {
  const jwt = verifyJwt(assertion, {
    error: "invalid_grant",
    typ,
    keys: ({ claims }) => state.options.trusted?.[String(claims["iss"])] ?? [],
  });
  const { aud, exp, sub } = jwt.claims;
  if (![aud].flat().some((name) => name === state.issuer || name === `${state.issuer}/token`))
    throw bad("aud is not this server");
  if (exp === undefined) throw bad("exp is missing");
  if (typeof sub !== "string" || sub === "") throw bad("sub is missing");
  return jwt;
}

/** A workload needs no registration: who sends nothing but an assertion is whom the assertion is about. */
export function workload(state: AuthState, { params, headers }: AuthReceived): Client | undefined {
  const isKnown = ["client_id", "client_secret", "client_assertion"].some((name) => params.has(name));
  if (isKnown || headers["authorization"] !== undefined) return undefined;
  if (params.get("grant_type") !== GRANTS.jwt || !state.grantTypes.includes(GRANTS.jwt)) return undefined;
  const { claims } = trustedJwt(state, required(params, "assertion"), ["JWT"]);
  return {
    client_id: String(claims["sub"]),
    redirect_uris: [],
    grant_types: [GRANTS.jwt],
    token_endpoint_auth_method: "none",
    source: "vouched",
  };
}

function checkIdJag(state: AuthState, client: Client, { claims }: Jwt): void {
  const [audience, ...more] = [claims["aud"]].flat();
  if (audience !== state.issuer || more.length > 0) throw bad("aud is not this server alone");
  if (claims["client_id"] !== client.client_id) throw bad("it was made for another client");
  if (typeof claims["jti"] !== "string") throw bad("jti is missing");
  if (typeof claims["iat"] !== "number") throw bad("iat is missing");
}

/** The scopes of the assertion are the most that can be had with it. */
function scopesWithin(state: AuthState, claims: Jwt["claims"], params: URLSearchParams): string[] {
  if (typeof claims["scope"] !== "string") return scopesOf(params, state.scopes);
  const vouched = claims["scope"].split(" ").filter((scope) => state.scopes.includes(scope));
  return params.has("scope") ? scopesOf(params, vouched) : vouched;
}

function target(state: AuthState, claims: Jwt["claims"], params: URLSearchParams): string | undefined {
  const asked = resourceOf(state, params);
  const vouched = [claims["resource"] ?? []].flat().map(String);
  const [only = asked, ...more] = vouched;
  if (asked === undefined && only !== undefined && more.length === 0)
    return resourceOf(state, new URLSearchParams({ resource: only }));
  if (vouched.length === 0 || (asked !== undefined && vouched.includes(asked))) return asked;
  throw new Refusal("invalid_target", "the assertion is for another resource");
}

function bad(why: string): Refusal {
  return new Refusal("invalid_grant", why);
}
