import { createHash } from "node:crypto";
import type { AuthorizationServerMetadata, OAuthTokens } from "@modelcontextprotocol/client";
import { isRecord } from "../../lib/record.ts";
import type { DpopKey } from "./dpop-key.ts";
import type { OAuthConfig } from "./client.ts";
import { readClaims } from "./token-claims.ts";

/** Identifies a login. A login is never used for another URL, account, configured client, machine or issuer. */
export interface LoginKey {
  url: string;
  profile: string;
  /** Absent when Plugboard registers its own client. */
  clientId?: string | undefined;
  /** The grant and identity of a machine login; absent for people. */
  machine?: string | undefined;
  /** The configured issuer, if any; no other is accepted. */
  onlyIssuer?: string | undefined;
}

export interface OAuthClient {
  client_id: string;
  client_secret?: string | undefined;
  token_endpoint_auth_method?: string | undefined;
}

/** For requests without a client. */
export const noClient: OAuthClient = { client_id: "" };

/** A stored login. It belongs to its issuer: none of it is ever sent to another issuer. */
export interface Login extends LoginKey {
  /** The name of the server's entry at the time of the login; only for finding it later. */
  server?: string | undefined;
  issuer: string;
  client: OAuthClient;
  tokens: { access_token: string; refresh_token?: string | undefined };
  /** The key that the tokens are bound to, if any; bound tokens cannot be used without it. */
  dpop?: DpopKey | undefined;
  scopes: string[];
  /** What the tokens were requested for; absent if that was left out. */
  resource?: string | undefined;
  /** For renewing and revoking it. */
  endpoints: LoginEndpoints;
  /** The user's name, as reported by the authorization server; only for display. */
  account?: string | undefined;
  /** Milliseconds since the epoch. */
  obtainedAt: number;
  expiresAt?: number | undefined;
  /** True if the authorization server no longer renews it. */
  ended?: boolean | undefined;
}

export type LoginEndpoints = Pick<AuthorizationServerMetadata, "token_endpoint"> & {
  revocation_endpoint?: string | undefined;
  /** Only to recognise it at the next login. */
  device_authorization_endpoint?: string | undefined;
  token_endpoint_auth_methods_supported?: string[] | undefined;
};

export const defaultProfile = "default";

/** `server` distinguishes machine logins that are otherwise identical. */
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

export function keyOf({ url, profile, clientId, machine, onlyIssuer }: LoginKey): LoginKey {
  return { url, profile, clientId, machine, onlyIssuer };
}

/** Identifies a machine by the subject of its assertion, because the assertion itself changes often. */
function machineOf({ grant, assertion, identityProvider }: OAuthConfig, server: string): string | undefined {
  if (grant === undefined || grant === "client-credentials") return grant;
  const { iss, sub } = readClaims(assertion) ?? {};
  const who = typeof sub === "string" ? { iss, sub } : { server };
  const all = JSON.stringify({ ...who, provider: identityProvider?.issuer });
  return `${grant} ${createHash("sha256").update(all).digest("base64url")}`;
}

/** A URL never starts with `as:`, `by:` or `at:`, so these parts cannot be confused with other names. */
export function loginName({ url, profile, clientId, machine, onlyIssuer }: LoginKey): string {
  const marks = Object.entries({ as: clientId, by: machine, at: onlyIssuer })
    .filter(([, value]) => value !== undefined)
    .map(([mark, value]) => `${mark}:${JSON.stringify(value)}|`);
  return `tokens/${marks.join("")}${url}|${profile}`;
}

/** The lock for renewing or ending a login. It is a hash because lock names are stored in plain text and a URL may contain a key. */
export function loginLock(key: LoginKey): string {
  return `renew/${createHash("sha256").update(loginName(key)).digest("base64url")}`;
}

const keyFields = ["url", "profile", "clientId", "machine", "onlyIssuer"] as const;

/** Returns undefined if the record is incomplete or belongs to another key or, if one is given, another issuer. */
export function parseLogin(value: unknown, key: LoginKey, issuer: string | undefined): Login | undefined {
  if (!isRecord(value) || keyFields.some((field) => value[field] !== key[field])) return undefined;
  const { client, tokens, endpoints, scopes } = value;
  const isWhole =
    typeof value["issuer"] === "string" &&
    ["string", "undefined"].includes(typeof value["resource"]) &&
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

/** When an access token expires; undefined if the server does not say or the value makes no sense. */
export function expiryOf({ expires_in: seconds }: Pick<OAuthTokens, "expires_in">, now: number) {
  const lifeMs = Number(seconds) * 1000;
  return lifeMs > 0 && lifeMs <= longestLifeMs ? now + lifeMs : undefined;
}

const longestMarginMs = 60_000;

/** True if the token should be renewed before use: in its last minute, or the last tenth of a short lifetime. */
export function isDue({ obtainedAt, expiresAt }: Login, now: number): boolean {
  if (expiresAt === undefined) return false;
  return now >= expiresAt - Math.min(longestMarginMs, (expiresAt - obtainedAt) / 10);
}

export function hasExpired({ expiresAt }: Login, now: number): boolean {
  return expiresAt !== undefined && now >= expiresAt;
}
