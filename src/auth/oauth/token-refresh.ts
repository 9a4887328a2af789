import type { FetchLike } from "@modelcontextprotocol/client";
import { isPlugboardError } from "../../errors.ts";
import type { PlugboardError } from "../../errors.ts";
import type { AuthEvent } from "../../events.ts";
import type { Challenge } from "../challenge.ts";
import type { Credentials } from "../credentials.ts";
import { openDpopSession } from "./dpop-key.ts";
import { defaultProfile, expiryOf, isDue, keyOf, loginLock, loginName, parseLogin } from "./record.ts";
import type { Login, LoginKey, OAuthClient } from "./record.ts";
import { forgetRegistration } from "./client.ts";
import type { OAuthConfig } from "./client.ts";
import { loginRequired, oauthCode, requestFailed, shown } from "./errors.ts";
import { chosenResource } from "./resource.ts";
import { requestTokens } from "./token-request.ts";
import { assertNotLost } from "../../lib/held.ts";
import type { Held } from "../../lib/held.ts";
import type { Vault } from "../vault/vault.ts";

export interface RefreshSettings {
  server: string;
  key: LoginKey;
  oauth: OAuthConfig;
  credentials: Credentials;
  /** Runs `work` with a guarded fetch that uses the server's network settings. */
  withFetch<T>(work: (fetch: FetchLike) => Promise<T>): Promise<T>;
  now(): number;
  emit(event: AuthEvent): void;
  /** Reads the configuration again and expands it: workload tokens change, and so may their subject. */
  readConfig?:
    | ((signal: AbortSignal) => Promise<{ oauth: OAuthConfig; key: LoginKey } | undefined>)
    | undefined;
}

export async function readLogin(
  settings: Pick<RefreshSettings, "key" | "oauth" | "credentials">,
): Promise<Login | undefined> {
  const { key, oauth, credentials } = settings;
  const vault = await credentials.vault();
  const own = parseLogin(await vault.get(loginName(key)), key, oauth.issuer);
  if (own || key.onlyIssuer === undefined) return own;
  // A login from before the issuer was configured is also valid if it is from this issuer.
  const before = { ...key, onlyIssuer: undefined };
  return parseLogin(await vault.get(loginName(before)), before, key.onlyIssuer);
}

/** The key of the login that these settings find, or under which a new one would be stored. */
export async function findKey(
  settings: Pick<RefreshSettings, "key" | "oauth" | "credentials">,
): Promise<LoginKey> {
  const login = settings.key.onlyIssuer === undefined ? undefined : await readLogin(settings);
  return login ? keyOf(login) : settings.key;
}

/**
 * Returns a login whose access token is not `refused` and not about to expire. Only one process on the machine renews
 * it; the others wait for the lock and then find the new one. If the renewal fails, the login stays unchanged, unless
 * the authorization server says that it has ended.
 */
export async function renewLogin(
  asked: RefreshSettings & { url: URL },
  refused: string | undefined,
  challenge?: Challenge,
): Promise<Login> {
  const settings = { ...asked, key: await findKey(asked) };
  const { key, credentials, now, server } = settings;
  return credentials.lock(loginLock(key), async (held) => {
    const login = await readLogin(settings);
    if (login && login.tokens.access_token !== refused && !isDue(login, now())) return login;
    if (settings.oauth.grant !== undefined) return logInAgain(settings, refused, challenge, held.signal);
    if (!login) throw requiresLogin(settings, `"${server}" requires a login.`);
    if (login.tokens.refresh_token === undefined || login.ended)
      throw requiresLogin(settings, `The login to "${server}" has expired.`);
    await assertReplaceable(settings, held);
    return renew(settings, login, login.tokens.refresh_token, held);
  });
}

/**
 * Many refresh tokens work only once: if the new one cannot be stored, or another process uses the same one at the same
 * time, the login is lost. A login that only this process has needs neither.
 */
async function assertReplaceable(settings: RefreshSettings, held: Held): Promise<void> {
  const { server } = settings;
  const problem = await notReplaceable(settings, held);
  if (!problem) return;
  const message = `The login to "${server}" has to be renewed, but the new login could not be stored. ${problem.message}`;
  throw problem.with({ server, message, hint: `${problem.hint} Nothing is lost.` });
}

async function notReplaceable(
  { key, credentials }: RefreshSettings,
  { onlyHere }: Held,
): Promise<PlugboardError | undefined> {
  const vault: Partial<Vault> = await credentials.vault();
  try {
    const place = await vault.assertReplaceable?.(loginName(key));
    return place === "memory" ? undefined : onlyHere;
  } catch (error) {
    if (isPlugboardError(error, "store-unavailable")) return error;
    throw error;
  }
}

/** Machine logins need no person, so they log in again instead of renewing. */
async function logInAgain(
  settings: RefreshSettings & { url: URL },
  refused: string | undefined,
  challenge: Challenge | undefined,
  signal: AbortSignal,
): Promise<Login> {
  const { server, emit, now } = settings;
  const { logIn } = await import("./login/login.ts");
  const current = { ...settings, ...(await settings.readConfig?.(signal)) };
  if (loginName(current.key) !== loginName(settings.key)) {
    const kept = await readLogin(current);
    if (kept && kept.tokens.access_token !== refused && !isDue(kept, now())) return kept;
  }
  const login = await settings.withFetch((fetch) => logIn({ ...current, fetch }, { challenge, signal }));
  emit({ type: "auth-changed", server, change: "refresh", at: now() });
  return login;
}

async function renew(
  settings: RefreshSettings,
  login: Login,
  refreshToken: string,
  held: Held,
): Promise<Login> {
  const { server, emit, now } = settings;
  const client = currentClient(settings, login);
  const metadata = {
    ...login.endpoints,
    issuer: login.issuer,
    authorization_endpoint: login.issuer,
    response_types_supported: ["code"],
  };
  const resource = chosenResource(settings.oauth.resource, login.resource);
  const found = { address: login.issuer, metadata, resource };
  const dpop = login.dpop && (await openDpopSession(login.dpop));
  const grant = { grant_type: "refresh_token", refresh_token: refreshToken };
  try {
    const tokens = await settings.withFetch(async (fetch) => {
      announceSecret(settings, login, client);
      // If the lock was lost, another process may use the refresh token now.
      await assertNotLost(held);
      return requestTokens({ ...settings, found, client, dpop, fetch }, grant);
    });
    const { access_token, refresh_token = refreshToken, scope } = tokens;
    const at = now();
    const renewed: Login = {
      ...login,
      client: { ...login.client, ...client },
      tokens: { access_token, refresh_token },
      dpop: tokens.token_type.toLowerCase() === "dpop" ? login.dpop : undefined,
      scopes: scope?.split(/\s+/).filter(Boolean) ?? login.scopes,
      resource,
      obtainedAt: at,
      expiresAt: expiryOf(tokens, at),
    };
    const kept = await keep(settings, refreshToken, renewed);
    emit({ type: "auth-changed", server, change: "refresh", at });
    return kept;
  } catch (error) {
    const code = oauthCode(error);
    // The authorization server no longer knows the client, so the next login must register a new one.
    if (code === "invalid_client" || code === "unauthorized_client")
      await forgetRegistration(settings.credentials, settings.key, login.issuer);
    if (code !== "invalid_grant") {
      const secrets = [refreshToken, login.tokens.access_token, client.client_secret ?? ""];
      throw requestFailed(error, { server, step: "the renewal of the login", secrets });
    }
    return afterRefusal(settings, login, refreshToken);
  }
}

/** Another process may have stored a newer login without the lock; that one stays. */
async function keep(settings: RefreshSettings, used: string, renewed: Login): Promise<Login> {
  const newest = await readLogin(settings);
  if (newest && newest.tokens.refresh_token !== used) return newest;
  // If the user logged out meanwhile, the renewed login is used until it expires but not stored.
  if (newest) await (await settings.credentials.vault()).set(loginName(settings.key), renewed);
  return renewed;
}

async function afterRefusal(settings: RefreshSettings, login: Login, used: string): Promise<Login> {
  const { server, emit, now } = settings;
  const newest = await readLogin(settings);
  if (newest && newest.tokens.refresh_token !== used) return newest;
  if (newest)
    await (await settings.credentials.vault()).set(loginName(settings.key), { ...login, ended: true });
  emit({ type: "auth-changed", server, change: "expired", at: now() });
  throw requiresLogin(
    settings,
    `The login to "${server}" has ended: its authorization server does not renew it.`,
  );
}

/** Uses the client secret that is configured now, not the one from the time of the login. */
function currentClient({ oauth }: RefreshSettings, { client }: Login) {
  const isSame = oauth.clientId === client.client_id && oauth.clientSecret !== undefined;
  return {
    client_id: client.client_id,
    ...((isSame || client.client_secret !== undefined) && {
      client_secret: isSame ? oauth.clientSecret : client.client_secret,
    }),
    ...(client.token_endpoint_auth_method !== undefined && {
      token_endpoint_auth_method: client.token_endpoint_auth_method,
    }),
  };
}

/** A secret that was configured after the login goes to an issuer that may be the server's choice. */
function announceSecret({ server, oauth, emit, now }: RefreshSettings, login: Login, client: OAuthClient) {
  const isNew = client.client_secret !== undefined && login.client.client_secret === undefined;
  if (!isNew || oauth.issuer !== undefined || oauth.privateKey !== undefined) return;
  const endpoints = [new URL(login.endpoints.token_endpoint).origin];
  const sends = ["client secret"];
  emit({ type: "issuer-chosen", server, issuer: shown(login.issuer), endpoints, sends, at: now() });
}

export function requiresLogin({ server, key }: Pick<RefreshSettings, "server" | "key">, why: string) {
  return loginRequired(server, why, key.profile === defaultProfile ? undefined : key.profile);
}
