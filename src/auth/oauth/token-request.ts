import type { DpopSession, FetchLike, OAuthClientProvider, OAuthTokens } from "@modelcontextprotocol/client";
import type { PlugboardError } from "../../errors.ts";
import { clientSignature } from "./client-assertion.ts";
import type { OAuthConfig } from "./client.ts";
import type { Discovery } from "./discovery.ts";
import { authFailed, loginCommand } from "./errors.ts";
import { checkTokens } from "./tokens.ts";
import { noClient } from "./record.ts";
import type { OAuthClient } from "./record.ts";

export interface TokenRequest {
  server: string;
  oauth: OAuthConfig;
  found: Pick<Discovery, "address" | "metadata" | "resource">;
  client: OAuthClient;
  /** The key that the tokens should be bound to, if any. */
  dpop?: DpopSession | undefined;
  fetch: FetchLike;
  now(): number;
}

/** Requests tokens with any grant; client, resource and proof are handled the same way for all of them. */
export async function requestTokens(
  request: TokenRequest,
  grant: Record<string, string>,
): Promise<OAuthTokens> {
  const { server, oauth, found, client, dpop, fetch } = request;
  // The login is older than the `oauth.dpop` setting. Renewing it would use up its refresh token for a token we refuse.
  if (oauth.dpop === true && dpop === undefined) throw notBound(server);
  const { fetchToken } = await import("@modelcontextprotocol/client");
  const signed = clientSignature({ ...request, issuer: found.metadata.issuer });
  // Only the members that fetchToken needs; Plugboard does the rest of the login itself.
  const provider: Partial<OAuthClientProvider> = {
    clientMetadata: { redirect_uris: [] },
    clientInformation: () =>
      client.client_id === noClient.client_id
        ? undefined
        : { ...client, client_secret: client.client_secret },
    // Exactly as the server spells it; a URL object would add a trailing slash.
    prepareTokenRequest: () => new URLSearchParams({ ...grant, ...resourceField(found) }),
    ...(signed && { addClientAuthentication: signed }),
    ...(dpop && { dpop: () => dpop }),
  };
  const tokens = await fetchToken(provider as OAuthClientProvider, found.address, {
    metadata: found.metadata,
    fetchFn: fetch,
  });
  return checkTokens(server, tokens, oauth.dpop === true ? "required" : dpop ? "wanted" : "none");
}

/** The form field, unless the configuration leaves it out. */
export function resourceField({ resource }: Pick<Discovery, "resource">): { resource?: string } {
  return resource === undefined ? {} : { resource };
}

function notBound(server: string): PlugboardError {
  const message = `The login to "${server}" is not bound to a key, which \`oauth.dpop\` requires.`;
  return authFailed(server, message, {
    data: { reason: "token" },
    hint: `Log in again: \`${loginCommand(server)}\`.`,
  });
}
