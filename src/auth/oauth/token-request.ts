import type { DpopSession, FetchLike, OAuthClientProvider, OAuthTokens } from "@modelcontextprotocol/client";
import type { PlugboardError } from "../../errors.ts";
import { clientSignature } from "./client-assertion.ts";
import type { OAuthConfig } from "./client.ts";
import type { Discovery } from "./discovery.ts";
import { authFailed, loginCommand } from "./errors.ts";
import { checkTokens } from "./tokens.ts";
import { nobody } from "./record.ts";
import type { OAuthClient } from "./record.ts";

export interface TokenRequest {
  server: string;
  oauth: OAuthConfig;
  found: Pick<Discovery, "address" | "metadata" | "resource">;
  client: OAuthClient;
  /** The key that the tokens are to be bound to, where they are. */
  dpop?: DpopSession | undefined;
  fetch: FetchLike;
  now(): number;
}

/** Asks for tokens by whichever grant: as whom, for which resource and with which proof is the same for all. */
export async function requestTokens(
  request: TokenRequest,
  grant: Record<string, string>,
): Promise<OAuthTokens> {
  const { server, oauth, found, client, dpop, fetch } = request;
  // From before it was demanded; to renew it would use it up for a token that is refused.
  if (oauth.dpop === true && dpop === undefined) throw notBound(server);
  const { fetchToken } = await import("@modelcontextprotocol/client");
  const signed = clientSignature({ ...request, issuer: found.metadata.issuer });
  // What this needs of a provider, and no more: everything else of a login is ours.
  const provider: Partial<OAuthClientProvider> = {
    clientMetadata: { redirect_uris: [] },
    clientInformation: () =>
      client.client_id === nobody.client_id ? undefined : { ...client, client_secret: client.client_secret },
    // As the server writes it: an address would gain a slash at its end.
    prepareTokenRequest: () => new URLSearchParams({ ...grant, resource: found.resource }),
    ...(signed && { addClientAuthentication: signed }),
    ...(dpop && { dpop: () => dpop }),
  };
  const tokens = await fetchToken(provider as OAuthClientProvider, found.address, {
    metadata: found.metadata,
    fetchFn: fetch,
  });
  return checkTokens(server, tokens, oauth.dpop === true ? "required" : dpop ? "wanted" : "none");
}

function notBound(server: string): PlugboardError {
  const message = `The login to "${server}" is not bound to a key, as \`oauth.dpop\` demands.`;
  return authFailed(server, message, {
    data: { reason: "token" },
    hint: `Log in again: \`${loginCommand(server)}\`.`,
  });
}
