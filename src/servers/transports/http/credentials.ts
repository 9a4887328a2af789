import { type FetchLike, type OAuthClientProvider, withDpopFromProvider } from "@modelcontextprotocol/client";
import type { ServerAuth } from "../../target.ts";
import type { TokenSource } from "./http-lane.ts";

/** What a server is shown: ours, or a provider of the SDK's kind that the host program supplies. */
export type HttpCredentials = ServerAuth | OAuthClientProvider;

/** The fetch of a server whose credentials sign every request; the SDK does that for providers of its own kind. */
export function signing(provider: HttpCredentials | undefined, fetch: FetchLike): FetchLike {
  return provider && "wrapFetch" in provider ? (provider.wrapFetch?.(fetch) ?? fetch) : fetch;
}

/** The same for requests that do not go through the SDK: proofs for its own kind of provider as well. */
export function proving(provider: HttpCredentials | undefined, fetch: FetchLike): FetchLike {
  const isTheirs = provider !== undefined && "tokens" in provider;
  return isTheirs ? withDpopFromProvider(provider)(fetch) : signing(provider, fetch);
}

/** What may be wrong with what was refused. */
export function explainRefusal(provider: HttpCredentials | undefined): string | undefined {
  return provider && "explainRefusal" in provider ? provider.explainRefusal?.() : undefined;
}

export function signsRequests(provider: HttpCredentials | undefined): boolean {
  if (provider === undefined) return false;
  if ("tokens" in provider) return provider.dpop !== undefined;
  return provider.signs === true;
}

export function tokenSource(provider: HttpCredentials | undefined): TokenSource | undefined {
  if (provider === undefined) return undefined;
  if ("tokens" in provider) return async () => (await provider.tokens())?.access_token;
  return () => provider.token();
}
