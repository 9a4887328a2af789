import { unverifiedClaims, verifyJwt } from "./jwt.ts";
import { Refusal, required, single } from "./refusal.ts";
import type { AuthState, Client } from "./state.ts";

const TYPE = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

/** Who a client assertion says that it is by. */
export function claimedClient(params: URLSearchParams): string {
  if (single(params, "client_assertion_type") !== TYPE) throw bad("client_assertion_type is wrong");
  const claims = unverifiedClaims(required(params, "client_assertion"));
  if (claims === undefined) throw bad("client_assertion is not a JWT");
  return String(claims["iss"]);
}

/** `private_key_jwt` (RFC 7523): by the client about itself, for this server, not for ever, and only once. */
export function checkAssertion(state: AuthState, client: Client, assertion: string): void {
  const { claims } = verifyJwt(assertion, {
    error: "invalid_client",
    status: 401,
    typ: ["JWT"],
    keys: () => client.jwks?.keys ?? [],
  });
  if (claims["iss"] !== client.client_id || claims["sub"] !== client.client_id)
    throw bad("iss and sub are not the client");
  if (![claims["aud"]].flat().some((name) => name === state.issuer || name === `${state.issuer}/token`))
    throw bad("aud is not this server");
  if (claims["exp"] === undefined) throw bad("exp is missing");
  if (!state.useOnce(claims)) throw bad("jti is missing or was used before");
}

function bad(why: string): Refusal {
  return new Refusal("invalid_client", why, { status: 401 });
}
