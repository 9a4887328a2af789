import { createHash } from "node:crypto";
import type { AuthorizationServerMetadata, OAuthTokens } from "@modelcontextprotocol/client";
import { isRecord } from "../../lib/record.ts";
import type { DpopKey } from "./dpop-key.ts";
import type { OAuthConfig } from "./client.ts";
import { readClaims } from "./token-claims.ts";

/** Whose login it is: a record never answers for another address, account, configured client, machine or issuer. */
export interface LoginKey {
  url: string;
  profile: string;
  /** Absent where we register ourselves. */
  clientId?: string | undefined;
  /** How a machine logs in, and as whom; absent for people. */
  machine?: string | undefined;
  /** The only issuer that is accepted, where one is configured. */
  onlyIssuer?: string | undefined;
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

/** `server` tells machines apart that nothing else does. */
export function loginKey(url: URL, oauth: OAuthConfig, server = ""): LoginKey {
  const { profile = defaultProfile, clientId, issuer } = oauth;
  const bare = new URL(url);
  bare.hash = "";
  const machine = machineOf(oauth, server);
  return {
    url: bare.href,
    profile,
    ...(clientId !== undefined && { clientId }),
    ...(machine !== undefined && { machine }),
    ...(issuer !== undefined && { onlyIssuer: issuer }),
  };
}

/** The key of a login, from the login. */
export function keyOf({ url, profile, clientId, machine, onlyIssuer }: LoginKey): LoginKey {
  return { url, profile, clientId, machine, onlyIssuer };
}

/** What vouches for a machine changes all the time; for whom it does, rarely. */
function machineOf({ grant, assertion, identityProvider }: OAuthConfig, server: string): string | undefined {
  if (grant === undefined || grant === "client-credentials") return grant;
  const { iss, sub } = readClaims(assertion) ?? {};
  const who = typeof sub === "string" ? { iss, sub } : { server };
  const all = JSON.stringify({ ...who, provider: identityProvider?.issuer });
  return `${grant} ${createHash("sha256").update(all).digest("base64url")}`;
}

/** An address never begins with `as:`, `by:` or `at:`, so no account's name can be taken for one of these. */
export function loginName({ url, profile, clientId, machine, onlyIssuer }: LoginKey): string {
  const marks = Object.entries({ as: clientId, by: machine, at: onlyIssuer })
    .filter(([, value]) => value !== undefined)
    .map(([mark, value]) => `${mark}:${JSON.stringify(value)}|`);
  return `tokens/${marks.join("")}${url}|${profile}`;
}

/** Who may renew or end it. The name of a lock stands in a file, and an address may hold a key. */
export function loginLock(key: LoginKey): string {
  return `renew/${createHash("sha256").update(loginName(key)).digest("base64url")}`;
}

const keyFields = ["url", "profile", "clientId", "machine", "onlyIssuer"] as const;

/**
 * A record as it is, or nothing when it is not about this address, this account, this client or machine and, where
 * one is set, this issuer.
 */
export function parseLogin(value: unknown, key: LoginKey, issuer: string | undefined): Login | undefined {
  if (!isRecord(value) || keyFields.some((field) => value[field] !== key[field])) return undefined;
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
