import type { DpopSession, FetchLike, OAuthTokens } from "@modelcontextprotocol/client";
import type { AuthEvent } from "../../../events.ts";
import { parseChallenge } from "../../challenge.ts";
import type { Challenge } from "../../challenge.ts";
import { untilAborted } from "../../../lib/abortable.ts";
import { startDeadline } from "../../../lib/deadline.ts";
import { newDpopKey, openDpopSession } from "../dpop-key.ts";
import { logInByBrowser, notFinished } from "./browser.ts";
import { logInByDevice } from "./device.ts";
import type { DeviceCode } from "./device.ts";
import { logInByGrant } from "../machine-grant.ts";
import type { ClientSettings } from "../client.ts";
import { discover } from "../discovery.ts";
import type { Discovery } from "../discovery.ts";
import { authFailed, shown } from "../errors.ts";
import { knownIssuer, settleIssuer } from "../known-issuer.ts";
import type { AcceptIssuer } from "../known-issuer.ts";
import { expiryOf, loginLock, loginName } from "../record.ts";
import type { Login, OAuthClient } from "../record.ts";
import { accountOf } from "../tokens.ts";
import { isUnwritable } from "../../vault/error.ts";
import type { Vault } from "../../vault/vault.ts";
import { isPlugboardError } from "../../../errors.ts";
import { readLogin } from "../token-refresh.ts";

/** The first four options are those of `LoginWays`, which documents them. */
export interface LoginOptions {
  openUrl?: ((url: URL) => void | Promise<void>) | undefined;
  askRedirect?: ((url: URL, signal: AbortSignal) => Promise<string | undefined>) | undefined;
  device?: ((code: DeviceCode) => void | Promise<void>) | undefined;
  acceptIssuer?: AcceptIssuer | undefined;
  /** Use this account instead of the configured one. */
  profile?: string | undefined;
  /**
   * The scopes to request, instead of those from the server and the configuration. If one starts with `+`, the scopes
   * of the current login are requested too.
   */
  scopes?: string[] | undefined;
  /** The server's challenge to a request without a login; without this option, Plugboard sends such a request. */
  challenge?: Challenge | undefined;
  signal?: AbortSignal | undefined;
  /** Five minutes by default. */
  timeoutMs?: number | undefined;
}

export interface LoginSettings extends ClientSettings {
  url: URL;
  emit(event: AuthEvent): void;
}

const defaultTimeoutMs = 300_000;

/** Runs a complete login: discovery, client, consent, tokens. The login is stored before this resolves. */
export async function logIn(own: LoginSettings, options: LoginOptions): Promise<Login> {
  using deadline = startDeadline(options.timeoutMs ?? defaultTimeoutMs);
  const signal = options.signal ? AbortSignal.any([options.signal, deadline.signal]) : deadline.signal;
  const settings = { ...own, fetch: fetchUntil(own, signal) };
  try {
    return await attemptLogin(settings, options, signal);
  } catch (error) {
    // After an abort, the error from the interrupted step would be misleading.
    throw signal.aborted ? notFinished(own.server, signal) : error;
  }
}

async function attemptLogin(
  settings: LoginSettings,
  options: LoginOptions,
  signal: AbortSignal,
): Promise<Login> {
  const { server, url, oauth, fetch } = settings;
  if (oauth.grant === undefined) await assertStorable(settings);
  const challenge = options.challenge ?? (await askForChallenge(url, fetch));
  const known = await knownIssuer(settings);
  const { issuer, resource } = oauth;
  const found = await discover(
    { server, url, issuer, resource, known: known.place?.issuer, fetch },
    challenge,
  );
  await settleIssuer(settings, found, known, async (change) => {
    const answer = options.acceptIssuer?.(change, signal) ?? false;
    return untilAborted(Promise.resolve(answer), signal);
  });
  const scopes = await scopesFor(found, settings, options);
  const key = (oauth.dpop ?? found.wantsDpop) ? newDpopKey() : undefined;
  const dpop = key && (await openDpopSession(key));
  const keep = async (client: OAuthClient, tokens: OAuthTokens): Promise<Login> => {
    const isBound = tokens.token_type.toLowerCase() === "dpop";
    const own = dpop && isBound ? { ...settings, fetch: await provingFetch(fetch, dpop, tokens) } : settings;
    const login = await describe(own, found, client, tokens, scopes);
    const kept = { ...login, ...(key && isBound && { dpop: key }) };
    const { credentials, key: name } = settings;
    // No person has to repeat a machine login, so it may be this process's own.
    const orHere = oauth.grant !== undefined;
    const write = async () => (await credentials.vault()).set(loginName(name), kept, { orHere });
    // The lock keeps a renewal in progress from overwriting this. A machine login runs inside a renewal, which holds it.
    await (oauth.grant === undefined ? credentials.lock(loginLock(name), write) : write());
    return kept;
  };
  const attempt: LoginAttempt = { ...settings, found, scopes, dpop, signal, keep };
  if (oauth.grant !== undefined) return logInByGrant(attempt);
  const { device } = options;
  if (!device) return logInByBrowser(attempt, options);
  return logInByDevice(attempt, (prompt) => {
    signal.throwIfAborted();
    return device(prompt);
  });
}

/** Nobody is asked to agree to a login that could not be stored because other processes cannot be locked out. */
async function assertStorable({ server, key, credentials }: LoginSettings): Promise<void> {
  // Not the login's own lock: that may be held for a renewal, and this login would wait for it.
  await credentials.lock("login-check", async ({ onlyHere }) => {
    const vault: Partial<Vault> = await credentials.vault();
    if (!onlyHere) return;
    try {
      await vault.assertReplaceable?.(loginName(key));
    } catch (error) {
      // Then nobody else writes there either, and the login is this process's own.
      if (isUnwritable(error, vault.path ?? "")) return;
      throw isPlugboardError(error) ? error.with({ server }) : error;
    }
  });
}

/** Sends no more requests after a login was aborted, and aborts those in progress. */
function fetchUntil({ server, fetch }: LoginSettings, signal: AbortSignal): FetchLike {
  return async (url, init = {}) => {
    if (signal.aborted) throw notFinished(server, signal);
    const signals = init.signal ? [signal, init.signal] : [signal];
    try {
      return await fetch(url, { ...init, signal: AbortSignal.any(signals) });
    } catch (error) {
      throw signal.aborted ? notFinished(server, signal) : error;
    }
  };
}

/** What all kinds of login share after discovery. */
export interface LoginAttempt extends LoginSettings {
  found: Discovery;
  scopes: string[];
  dpop: DpopSession | undefined;
  signal: AbortSignal;
  /** Stores the login. */
  keep(client: OAuthClient, tokens: OAuthTokens): Promise<Login>;
}

/** Sends an unauthorized request; the server's challenge says where its metadata is and which scopes it needs. */
async function askForChallenge(url: URL, fetch: FetchLike): Promise<Challenge> {
  try {
    const response = await fetch(url, { headers: { accept: "text/event-stream, application/json" } });
    void response.body?.cancel().catch(() => undefined);
    const challenge = response.headers.get("www-authenticate") ?? "";
    return response.status === 401 ? parseChallenge(challenge) : {};
  } catch {
    return {};
  }
}

async function scopesFor(
  found: Discovery,
  settings: LoginSettings,
  { scopes: asked }: LoginOptions,
): Promise<string[]> {
  const { oauth } = settings;
  const isAddition = asked?.some((scope) => scope.startsWith("+")) ?? false;
  const before = isAddition ? await readLogin(settings) : undefined;
  const kept = before?.issuer === found.issuer ? before.scopes : [];
  const named = asked?.map((scope) => scope.replace(/^\+/, ""));
  // Without a person to refuse extra scopes, the configured ones are the limit.
  const limit = oauth.grant !== undefined && oauth.scopes?.length ? oauth.scopes : undefined;
  const isAllowed = (scope: string) => limit?.includes(scope) ?? true;
  const beyond = named?.filter((scope) => !isAllowed(scope)) ?? [];
  if (beyond.length > 0) throw notAllowed(settings.server, beyond);
  const scopes = named && [...kept, ...named];
  const lists = [scopes, found.challenged, oauth.scopes, found.offered];
  const wanted = lists.map((list) => list?.filter(isAllowed) ?? []).find(({ length }) => length > 0) ?? [];
  const renewable = found.metadata.scopes_supported?.includes("offline_access") && wanted.length > 0;
  const also = renewable && (!scopes || isAddition) ? ["offline_access"].filter(isAllowed) : [];
  return [...new Set([...wanted, ...also])];
}

function notAllowed(server: string, scopes: string[]) {
  const message = `"${server}" asks for scopes that its \`oauth.scopes\` do not allow: ${shown(scopes.join(" "))}.`;
  return authFailed(server, message, {
    data: { reason: "insufficient-scope", scopes },
    hint: "To allow them, add them to `oauth.scopes` of the server.",
  });
}

/** A fetch for requests with the new token, which is not accepted without a proof. */
async function provingFetch(
  fetch: FetchLike,
  dpop: DpopSession,
  { access_token: token }: OAuthTokens,
): Promise<FetchLike> {
  const { withDpop } = await import("@modelcontextprotocol/client");
  return withDpop(dpop, () => token)(fetch);
}

async function describe(
  settings: LoginSettings,
  found: Discovery,
  client: OAuthClient,
  tokens: OAuthTokens,
  asked: string[],
): Promise<Login> {
  const { metadata, issuer, resource } = found;
  const all: Record<string, unknown> = metadata;
  const { revocation_endpoint: revocation, device_authorization_endpoint: device } = all;
  const methods = metadata.token_endpoint_auth_methods_supported;
  const at = settings.now();
  return {
    ...settings.key,
    server: settings.server,
    issuer,
    resource,
    client,
    tokens: { access_token: tokens.access_token, refresh_token: tokens.refresh_token },
    scopes: tokens.scope?.split(/\s+/).filter(Boolean) ?? asked,
    endpoints: {
      token_endpoint: metadata.token_endpoint,
      ...(typeof revocation === "string" && { revocation_endpoint: revocation }),
      ...(typeof device === "string" && { device_authorization_endpoint: device }),
      ...(methods && { token_endpoint_auth_methods_supported: methods }),
    },
    account: await accountOf(tokens, all, settings.fetch),
    obtainedAt: at,
    expiresAt: expiryOf(tokens, at),
  };
}
