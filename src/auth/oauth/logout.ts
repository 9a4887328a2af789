import type { FetchLike } from "@modelcontextprotocol/client";
import { clientSignature } from "./client-assertion.ts";
import { forgetRegistration, forgetRegistrations } from "./client.ts";
import { postForm } from "./post.ts";
import { loginLock, loginName } from "./record.ts";
import type { Login } from "./record.ts";
import { readLogin } from "./token-refresh.ts";
import type { RefreshSettings } from "./token-refresh.ts";

/** What became of a login that was ended. */
export interface LogoutResult {
  wasLoggedIn: boolean;
  /** True if the authorization server confirmed that the tokens are revoked. */
  revoked: boolean;
}

/** Deletes the login and revokes its tokens if possible. It is deleted even if the authorization server does not answer. */
export async function logOut(
  settings: Pick<RefreshSettings, "server" | "key" | "oauth" | "credentials" | "withFetch" | "now">,
): Promise<LogoutResult> {
  const { key, oauth, credentials, withFetch } = settings;
  return credentials.lock(loginLock(key), async () => {
    // Finds the login even if it was made with an issuer that is no longer configured.
    const login = await readLogin({ key, credentials, oauth: {} });
    const wasLoggedIn = await (await credentials.vault()).delete(loginName(key));
    const issuer = login?.issuer ?? oauth.issuer;
    // Machine logins do not register clients.
    if (key.machine === undefined) {
      if (issuer === undefined) await forgetRegistrations(credentials, key);
      else await forgetRegistration(credentials, key, issuer);
    }
    if (!login) return { wasLoggedIn, revoked: false };
    const revoked = await withFetch((fetch) => revoke(settings, login, fetch)).catch(() => false);
    return { wasLoggedIn, revoked };
  });
}

async function revoke(
  settings: Pick<RefreshSettings, "server" | "oauth" | "now">,
  login: Login,
  fetch: FetchLike,
): Promise<boolean> {
  const { revocation_endpoint: address } = login.endpoints;
  if (address === undefined) return false;
  const methods = login.endpoints.token_endpoint_auth_methods_supported;
  const { access_token, refresh_token } = login.tokens;
  const { client, issuer } = login;
  const answers = await Promise.all(
    Object.entries({ refresh_token, access_token }).map(async ([hint, token]) => {
      if (token === undefined) return true;
      const form = { token, token_type_hint: hint };
      const sign = clientSignature({ ...settings, client, issuer });
      return (await postForm(fetch, address, form, { client, methods, sign })).ok;
    }),
  );
  return answers.every(Boolean);
}
