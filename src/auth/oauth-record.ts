import { createHash } from "node:crypto";
import type { AuthorizationServerMetadata, OAuthTokens } from "@modelcontextprotocol/client";
import { isRecord } from "../lib/record.ts";
import type { DpopKey } from "./dpop-key.ts";

/** Whose login it is: a record never answers for another address, another account or another configured client. */
export interface LoginKey {
  url: string;
  profile: string;
  /** Absent where we register ourselves. */
  clientId?: string | undefined;
}

export interface OAuthClient {
  client_id: string;
  client_secret?: string | undefined;
  token_endpoint_auth_method?: string | undefined;
}

/** For requests that are made in nobody's name. */
export const nobody: OAuthClient = { client_id: "" };

/** What one login left behind. It belongs to its issuer: nothing of it is ever sent to another one. */
export interface Login extends LoginKey {
  issuer: string;
  client: OAuthClient;
  tokens: { access_token: string; refresh_token?: string | undefined };
  /** The key that the tokens are bound to, where they are: without it they are worth nothing. */
  dpop?: DpopKey | undefined;
  scopes: string[];
  resource: string;
  /** Where it is renewed and revoked. */
  endpoints: LoginEndpoints;
  /** Who the authorization server says it is, to be shown. */
  account?: string | undefined;
  /** Milliseconds since the epoch. */
  obtainedAt: number;
  expiresAt?: number | undefined;
  /** The authorization server will not renew it any more. */
  ended?: boolean | undefined;
}

export type LoginEndpoints = Pick<AuthorizationServerMetadata, "token_endpoint"> & {
  revocation_endpoint?: string | undefined;
  token_endpoint_auth_methods_supported?: string[] | undefined;
};

export const defaultProfile = "default";

export function loginKey(
  url: URL,
  { profile = defaultProfile, clientId }: { profile?: string | undefined; clientId?: string | undefined },
): LoginKey {
  const bare = new URL(url);
  bare.hash = "";
  return { url: bare.href, profile, ...(clientId !== undefined && { clientId }) };
}

/** An address never begins with `as:`, so no account's name can be taken for a client's. */
export function loginName({ url, profile, clientId }: LoginKey): string {
  const client = clientId === undefined ? "" : `as:${JSON.stringify(clientId)}|`;
  return `tokens/${client}${url}|${profile}`;
}

/** Who may renew or end it. The name of a lock stands in a file, and an address may hold a key. */
export function loginLock(key: LoginKey): string {
  return `renew/${createHash("sha256").update(loginName(key)).digest("base64url")}`;
}

/**
 * A record as it is, or nothing when it is not about this address, this account, this client and, where one is set,
 * this issuer.
 */
export function parseLogin(value: unknown, key: LoginKey, issuer: string | undefined): Login | undefined {
  if (!isRecord(value) || value["url"] !== key.url || value["profile"] !== key.profile) return undefined;
  if (value["clientId"] !== key.clientId) return undefined;
  const { client, tokens, endpoints, scopes } = value;
  const isWhole =
    typeof value["issuer"] === "string" &&
    typeof value["resource"] === "string" &&
    typeof value["obtainedAt"] === "number" &&
    isRecord(client) &&
    typeof client["client_id"] === "string" &&
    isRecord(tokens) &&
    typeof tokens["access_token"] === "string" &&
    isRecord(endpoints) &&
    typeof endpoints["token_endpoint"] === "string" &&
    Array.isArray(scopes);
  if (!isWhole || (issuer !== undefined && value["issuer"] !== issuer)) return undefined;
  return value as unknown as Login;
}

const longestLifeMs = 10 * 365 * 86_400_000;

/** When an access token ends; unknown when the server does not say, or says nonsense. */
export function expiryOf({ expires_in: seconds }: Pick<OAuthTokens, "expires_in">, now: number) {
  const lifeMs = Number(seconds) * 1000;
  return lifeMs > 0 && lifeMs <= longestLifeMs ? now + lifeMs : undefined;
}

const longestMarginMs = 60_000;

/** Close enough to its end to be renewed first: a minute, or a tenth of a short life. */
export function isDue({ obtainedAt, expiresAt }: Login, now: number): boolean {
  if (expiresAt === undefined) return false;
  return now >= expiresAt - Math.min(longestMarginMs, (expiresAt - obtainedAt) / 10);
}

export function hasExpired({ expiresAt }: Login, now: number): boolean {
  return expiresAt !== undefined && now >= expiresAt;
}
