import type { Credentials } from "../credentials.ts";
import type { OAuthConfig } from "./client.ts";
import { hasExpired, loginKey } from "./record.ts";
import type { Login } from "./record.ts";
import { readLogin } from "./token-refresh.ts";

/** A login as shown to a person: the user, when it expires, its scopes. Contains no secrets. */
export interface Account {
  profile: string;
  issuer: string;
  /** The user's name, as reported by the authorization server. */
  user?: string;
  scopes: string[];
  /** When its access token expires, in milliseconds since the epoch. */
  expiresAt?: number;
  /** True if it can be renewed after that without a person. */
  renewable: boolean;
  /** True if a person has to log in again. */
  ended: boolean;
}

/** The stored login for a URL. Sends no request and asks nobody. */
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
