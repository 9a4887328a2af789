import type { AuthProvider, FetchLike, OAuthClientProvider } from "@modelcontextprotocol/client";
import { PlugboardError } from "../errors.ts";
import { parseChallenge } from "./challenge.ts";
import { bearer } from "./oauth/tokens.ts";
import type { ServerAuth, Unauthorized } from "./server-auth.ts";

/** Credentials supplied by the host program: a token source, or an OAuth client as the SDK defines it. */
export type SuppliedProvider = AuthProvider | OAuthClientProvider;

export interface SuppliedContext {
  server: string;
  /** The provider's name in the configuration. */
  id: string;
  url: URL;
  /** Runs `work` with a fetch that uses the server's network settings. */
  withFetch<T>(work: (fetch: FetchLike) => Promise<T>): Promise<T>;
}

export function suppliedAuth(provider: SuppliedProvider, context: SuppliedContext): ServerAuth {
  const auth = "tokens" in provider ? oauthClient(provider, context) : tokenSource(provider, context);
  return { ...auth, source: sourceHint(context) };
}

function sourceHint({ id }: SuppliedContext): string {
  return `Check the credentials "${id}" (\`auth\`), which the program that uses Plugboard supplies.`;
}

function tokenSource(provider: AuthProvider, context: SuppliedContext): ServerAuth {
  const { server, url, withFetch } = context;
  const headers = async () => {
    const token = await provider.token();
    return token ? { authorization: bearer(server, token) } : {};
  };
  if (!provider.onUnauthorized) return { headers };
  const renew = ({ challenge }: Unauthorized) =>
    withFetch(async (fetchFn) => {
      const init = { status: 401, ...(challenge && { headers: { "www-authenticate": challenge } }) };
      await provider.onUnauthorized?.({ response: new Response(null, init), serverUrl: url, fetchFn });
    }).catch((error: unknown) => rejectAsLogin(context, error));
  return { headers, renew };
}

/** Uses the provider the way the SDK's transports do. */
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
      ).catch((error: unknown) => rejectAsLogin(context, error));
      if (outcome !== "AUTHORIZED") throw requiresLogin(context);
    },
    async useNonce(nonce, target) {
      (await provider.dpop?.())?.rememberNonce(target, nonce);
    },
  };
}

/** Converts the SDK's error for a login that needs a person. */
async function rejectAsLogin(context: SuppliedContext, error: unknown): Promise<never> {
  const { UnauthorizedError } = await import("@modelcontextprotocol/client");
  throw UnauthorizedError.isInstance(error) ? requiresLogin(context, error) : error;
}

function requiresLogin(context: SuppliedContext, cause?: unknown): PlugboardError {
  const { server } = context;
  const hint = sourceHint(context);
  return new PlugboardError("auth-required", `"${server}" requires a login.`, { server, hint, cause });
}
