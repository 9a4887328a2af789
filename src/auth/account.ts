import { hasExpired } from "./oauth-record.ts";
import type { Login } from "./oauth-record.ts";

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
