import type { Credentials } from "../credentials.ts";
import type { OAuthConfig } from "./client.ts";
import { hasExpired, loginKey } from "./record.ts";
import type { Login } from "./record.ts";
import { readLogin } from "./token-refresh.ts";

/** A login as a person sees it: who, until when, with which rights. Nothing in it is secret. */
export interface Account {
  profile: string;
  issuer: string;
  /** Who the authorization server says it is. */
  user?: string;
  scopes: string[];
  /** When its access token ends, milliseconds since the epoch. */
  expiresAt?: number;
  /** Whether it goes on after that by itself. */
  renewable: boolean;
  /** Over: a person has to log in again. */
  ended: boolean;
}

/** The login that is kept for an address, without filling in or asking anything. */
export async function storedAccount({
  url,
  server,
  oauth,
  credentials,
  now = Date.now,
}: {
  url: string;
  /** The entry's name. */
  server?: string;
  oauth: OAuthConfig;
  credentials: Credentials;
  now?: () => number;
}): Promise<Account | undefined> {
  const address = URL.parse(url);
  if (!address) return undefined;
  const login = await readLogin({ key: loginKey(address, oauth, server), oauth, credentials });
  return login && describeLogin(login, now());
}

export function describeLogin(login: Login, now: number): Account {
  const { profile, issuer, account, scopes, expiresAt, tokens } = login;
  const renewable = tokens.refresh_token !== undefined && !login.ended;
  return {
    profile,
    issuer,
    ...(account !== undefined && { user: account }),
    scopes,
    ...(expiresAt !== undefined && { expiresAt }),
    renewable,
    ended: login.ended === true || (!renewable && hasExpired(login, now)),
  };
}
