import { type Fields, GRANTS } from "./options.ts";
import { Refusal } from "./refusal.ts";
import { askedBy } from "./scopes.ts";
import { issue, type TokenRequest } from "./tokens.ts";

/** RFC 6749, section 4.4: a client with a credential of its own acts for itself. No refresh token. */
export function actForItself({ state, client, params, thumbprint }: TokenRequest): Fields {
  if (client.token_endpoint_auth_method === "none") {
    throw new Refusal("unauthorized_client", "a public client cannot act for itself");
  }
  const grant = state.addGrant(GRANTS.client, askedBy(state, client, params), undefined);
  return issue(state, client, grant, { thumbprint });
}
