import type { AuthProvider, FetchLike, OAuthClientProvider } from "@modelcontextprotocol/client";
import { PlugboardError } from "../errors.ts";
import { parseChallenge } from "./challenge.ts";
import { bearer } from "./oauth/tokens.ts";
import type { ServerAuth, Unauthorized } from "./server-auth.ts";

/** Credentials that the host program brings along: a source of tokens, or a whole OAuth client of the SDK's kind. */
export type SuppliedProvider = AuthProvider | OAuthClientProvider;

export interface SuppliedContext {
  server: string;
  url: URL;
  /** Lends a fetch that goes the server's own way out. */
  withFetch<T>(work: (fetch: FetchLike) => Promise<T>): Promise<T>;
}

export function suppliedAuth(provider: SuppliedProvider, context: SuppliedContext): ServerAuth {
  return "tokens" in provider ? oauthClient(provider, context) : tokenSource(provider, context);
}

function tokenSource(provider: AuthProvider, { server, url, withFetch }: SuppliedContext): ServerAuth {
  const headers = async () => {
    const token = await provider.token();
    return token ? { authorization: bearer(server, token) } : {};
  };
  if (!provider.onUnauthorized) return { headers };
  const renew = ({ challenge }: Unauthorized) =>
    withFetch(async (fetchFn) => {
      const init = { status: 401, ...(challenge && { headers: { "www-authenticate": challenge } }) };
      await provider.onUnauthorized?.({ response: new Response(null, init), serverUrl: url, fetchFn });
    }).catch((error: unknown) => rejectAsLogin(server, error));
  return { headers, renew };
}

/** What the SDK's transports do with such a provider. */
function oauthClient(provider: OAuthClientProvider, context: SuppliedContext): ServerAuth {
  const { server, url, withFetch } = context;
  return {
    async headers({ method, url: target }) {
      const tokens = await provider.tokens();
      if (!tokens) return {};
      const { access_token: token, token_type: type } = tokens;
      const session = type.toLowerCase() === "dpop" ? await provider.dpop?.() : undefined;
      if (!session) return { authorization: bearer(server, token) };
      const dpop = await session.buildProof({ htm: method, htu: target, accessToken: token });
      return { authorization: bearer(server, token).replace("Bearer", "DPoP"), dpop };
    },
    async renew({ challenge }) {
      const { auth } = await import("@modelcontextprotocol/client");
      const { resourceMetadataUrl, scope } = parseChallenge(challenge);
      const outcome = await withFetch((fetchFn) =>
        auth(provider, {
          serverUrl: url,
          fetchFn,
          ...(resourceMetadataUrl && { resourceMetadataUrl }),
          ...(scope !== undefined && { scope }),
        }),
      ).catch((error: unknown) => rejectAsLogin(server, error));
      if (outcome !== "AUTHORIZED") throw wanted(server);
    },
    async useNonce(nonce, target) {
      (await provider.dpop?.())?.rememberNonce(target, nonce);
    },
  };
}

/** The SDK's own error for a login that only a person can give. */
async function rejectAsLogin(server: string, error: unknown): Promise<never> {
  const { UnauthorizedError } = await import("@modelcontextprotocol/client");
  throw UnauthorizedError.isInstance(error) ? wanted(server, error) : error;
}

function wanted(server: string, cause?: unknown): PlugboardError {
  return new PlugboardError("auth-required", `"${server}" wants a login.`, { server, cause });
}
