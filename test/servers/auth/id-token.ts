import { verifyJwt } from "./jwt.ts";
import { Refusal } from "./refusal.ts";
import type { AuthState } from "./state.ts";

/** OpenID Connect: who logged in to a client. */
export function createIdToken(state: AuthState, clientId: string, user: string): string {
  const iat = Math.floor(state.now() / 1000);
  const exp = iat + Math.floor((state.options.idTokenMs ?? 3_600_000) / 1000);
  return state.key.sign({
    iss: state.issuer,
    aud: clientId,
    sub: user,
    name: user,
    iat,
    exp,
    jti: undefined,
  });
}

/** The user of an ID token that this server gave to this very client. */
export function verifyIdToken(state: AuthState, client: { client_id: string }, token: string): string {
  const { claims } = verifyJwt(token, {
    error: "invalid_grant",
    typ: ["JWT"],
    keys: () => [state.key.jwk],
    nowMs: state.now(),
  });
  if (claims["iss"] !== state.issuer) throw bad("iss is not this server");
  if (claims["aud"] !== client.client_id) throw bad("the ID token is for another client");
  return String(claims["sub"]);
}

function bad(why: string): Refusal {
  return new Refusal("invalid_grant", why);
}
