import { type AuthServer, startAuthServer } from "./auth-server.ts";
import { type AuthOptions, GRANTS } from "./options.ts";

/**
 * Where the people of a company log in. It gives ID tokens, and for one of them an ID-JAG: a word to another
 * authorization server, which has to trust it: `startAuthServer({ grantTypes: [GRANTS.jwt], trusted: { [idp.issuer]: idp.keys } })`.
 */
export function startIdentityProvider(options: AuthOptions = {}): Promise<AuthServer> {
  return startAuthServer({ grantTypes: [GRANTS.exchange], scopes: [], ...options });
}
