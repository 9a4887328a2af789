import type { FetchLike } from "@modelcontextprotocol/client";
import { PlugboardError } from "../../errors.ts";
import type { AuthChanged } from "../../events.ts";
import type { Challenge } from "../challenge.ts";
import type { Credentials } from "../credentials.ts";
import { openDpopSession } from "./dpop-key.ts";
import { defaultProfile, expiryOf, isDue, keyOf, loginLock, loginName, parseLogin } from "./record.ts";
import type { Login, LoginKey } from "./record.ts";
import { forgetRegistration } from "./client.ts";
import type { OAuthConfig } from "./client.ts";
import { loginRequired, oauthCode, requestFailed } from "./errors.ts";
import { requestTokens } from "./token-request.ts";
import type { Vault } from "../vault/vault.ts";

export interface RefreshSettings {
  server: string;
  key: LoginKey;
  oauth: OAuthConfig;
  credentials: Credentials;
  /** Lends a fetch that is guarded and goes the server's own way out. */
  withFetch<T>(work: (fetch: FetchLike) => Promise<T>): Promise<T>;
  now(): number;
  emit(event: AuthChanged): void;
  /** What is configured now, every value filled in anew: tokens of workloads change, and so may who they are for. */
  again?: ((signal: AbortSignal) => Promise<{ oauth: OAuthConfig; key: LoginKey } | undefined>) | undefined;
}

export async function readLogin(
  settings: Pick<RefreshSettings, "key" | "oauth" | "credentials">,
): Promise<Login | undefined> {
  const { key, oauth, credentials } = settings;
  const vault = await credentials.vault();
  const own = parseLogin(await vault.get(loginName(key)), key, oauth.issuer);
  if (own || key.onlyIssuer === undefined) return own;
  // One from before the issuer was configured is as good, if it is this issuer's.
  const before = { ...key, onlyIssuer: undefined };
  return parseLogin(await vault.get(loginName(before)), before, key.onlyIssuer);
}

/** Where the login is kept that these settings find, or where it would be. */
export async function findKey(
  settings: Pick<RefreshSettings, "key" | "oauth" | "credentials">,
): Promise<LoginKey> {
  const login = settings.key.onlyIssuer === undefined ? undefined : await readLogin(settings);
  return login ? keyOf(login) : settings.key;
}

/**
 * A login with another access token than `refused`, and one that is not about to expire. Among all processes on the
 * machine one asks for it; the others find it when it is their turn. What cannot be renewed stays as it is, unless
 * the authorization server says that it is over.
 */
export async function renewLogin(
  asked: RefreshSettings & { url: URL },
  refused: string | undefined,
  challenge?: Challenge,
): Promise<Login> {
  const settings = { ...asked, key: await findKey(asked) };
  const { key, credentials, now, server } = settings;
  return credentials.lock(loginLock(key), async (signal) => {
    const login = await readLogin(settings);
    if (login && login.tokens.access_token !== refused && !isDue(login, now())) return login;
    if (settings.oauth.grant !== undefined) return obtainAgain(settings, refused, challenge, signal);
    if (!login) throw wantsLogin(settings, `"${server}" wants a login.`);
    if (login.tokens.refresh_token === undefined || login.ended)
      throw wantsLogin(settings, `The login to "${server}" has expired.`);
    await assertReplaceable(settings);
    return renew(settings, login, login.tokens.refresh_token, signal);
  });
}

/** A refresh token is often good for one use: what takes its place must not be lost, or the login is. */
async function assertReplaceable({ server, key, credentials }: RefreshSettings): Promise<void> {
  const vault: Partial<Vault> = await credentials.vault();
  if ((await vault.canReplace?.(loginName(key))) ?? true) return;
  const message = `The login to "${server}" has to be renewed, and what comes of it cannot be written down.`;
  throw new PlugboardError("store-unavailable", message, {
    server,
    data: { reason: "unwritable" },
    hint: "Make the state folder that `plugboard config path` shows writable, or free some space. Nothing is lost.",
  });
}

/** Where nobody has to be asked, a new login is as good as a renewed one. */
async function obtainAgain(
  settings: RefreshSettings & { url: URL },
  refused: string | undefined,
  challenge: Challenge | undefined,
  signal: AbortSignal,
): Promise<Login> {
  const { server, emit, now } = settings;
  const { logIn } = await import("./login/login.ts");
  const current = { ...settings, ...(await settings.again?.(signal)) };
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
  signal: AbortSignal,
): Promise<Login> {
  const { server, emit, now } = settings;
  const client = currentClient(settings, login);
  const metadata = {
    ...login.endpoints,
    issuer: login.issuer,
    authorization_endpoint: login.issuer,
    response_types_supported: ["code"],
  };
  const found = { address: login.issuer, metadata, resource: login.resource };
  const dpop = login.dpop && (await openDpopSession(login.dpop));
  const grant = { grant_type: "refresh_token", refresh_token: refreshToken };
  try {
    const tokens = await settings.withFetch((fetch) => {
      // Somebody else has the turn by now: the token is theirs to use.
      signal.throwIfAborted();
      return requestTokens({ ...settings, found, client, dpop, fetch }, grant);
    });
    const { access_token, refresh_token = refreshToken, scope } = tokens;
    const at = now();
    const renewed: Login = {
      ...login,
      tokens: { access_token, refresh_token },
      dpop: tokens.token_type.toLowerCase() === "dpop" ? login.dpop : undefined,
      scopes: scope?.split(/\s+/).filter(Boolean) ?? login.scopes,
      obtainedAt: at,
      expiresAt: expiryOf(tokens, at),
    };
    const kept = await keep(settings, refreshToken, renewed);
    emit({ type: "auth-changed", server, change: "refresh", at });
    return kept;
  } catch (error) {
    const code = oauthCode(error);
    // Unknown there by now: whoever logs in next registers anew.
    if (code === "invalid_client" || code === "unauthorized_client")
      await forgetRegistration(settings.credentials, settings.key, login.issuer);
    if (code !== "invalid_grant") {
      const secrets = [refreshToken, login.tokens.access_token, client.client_secret ?? ""];
      throw requestFailed(error, { server, step: "the renewal of the login", secrets });
    }
    return afterRefusal(settings, login, refreshToken);
  }
}

/** Somebody without the lock may have been faster; then theirs is the newer one and stays. */
async function keep(settings: RefreshSettings, used: string, renewed: Login): Promise<Login> {
  const newest = await readLogin(settings);
  if (newest && newest.tokens.refresh_token !== used) return newest;
  // Logged out meanwhile: what was renewed is used up to its end, but not written down again.
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
  throw wantsLogin(
    settings,
    `The login to "${server}" has ended: its authorization server does not renew it.`,
  );
}

/** A secret that is configured now counts, not the one from the time of the login. */
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

export function wantsLogin({ server, key }: Pick<RefreshSettings, "server" | "key">, why: string) {
  return loginRequired(server, why, key.profile === defaultProfile ? undefined : key.profile);
}
