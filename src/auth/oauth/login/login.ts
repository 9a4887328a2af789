import type { DpopSession, FetchLike, OAuthTokens } from "@modelcontextprotocol/client";
import { parseChallenge } from "../../challenge.ts";
import type { Challenge } from "../../challenge.ts";
import { newDpopKey, openDpopSession } from "../dpop-key.ts";
import { logInByBrowser, notFinished } from "./browser.ts";
import { logInByDevice } from "./device.ts";
import type { DeviceCode } from "./device.ts";
import { logInByGrant } from "../machine-grant.ts";
import type { ClientSettings } from "../client.ts";
import { discover } from "../discovery.ts";
import type { Discovery } from "../discovery.ts";
import { authFailed, shown } from "../errors.ts";
import { expiryOf, loginLock, loginName } from "../record.ts";
import type { Login, OAuthClient } from "../record.ts";
import { accountOf } from "../tokens.ts";
import { readLogin } from "../token-refresh.ts";

/** The first three are the `LoginWays` of `Interact.logIn`, which explains them. */
export interface LoginOptions {
  openUrl?: ((url: URL) => void | Promise<void>) | undefined;
  askRedirect?: ((url: URL, signal: AbortSignal) => Promise<string | undefined>) | undefined;
  device?: ((code: DeviceCode) => void | Promise<void>) | undefined;
  /** Another account than the configured one. */
  profile?: string | undefined;
  /**
   * What to ask for, instead of what the server and the configuration say. One that begins with `+` is asked for
   * besides what the login has already.
   */
  scopes?: string[] | undefined;
  /** What the server answered to a request without a login; asked for when absent. */
  challenge?: Challenge | undefined;
  signal?: AbortSignal | undefined;
  /** Default five minutes. */
  timeoutMs?: number | undefined;
}

export interface LoginSettings extends ClientSettings {
  url: URL;
}

const patienceMs = 300_000;

/** The whole of a login: who to ask, as whom, the person's consent, the tokens; kept before anybody hears of it. */
export async function logIn(own: LoginSettings, options: LoginOptions): Promise<Login> {
  const deadline = AbortSignal.timeout(options.timeoutMs ?? patienceMs);
  const signal = options.signal ? AbortSignal.any([options.signal, deadline]) : deadline;
  const settings = { ...own, fetch: fetchUntil(own, signal) };
  try {
    return await attemptLogin(settings, options, signal);
  } catch (error) {
    // Whatever it was busy with then says something else.
    throw signal.aborted ? notFinished(own.server, signal) : error;
  }
}

async function attemptLogin(
  settings: LoginSettings,
  options: LoginOptions,
  signal: AbortSignal,
): Promise<Login> {
  const { server, url, oauth, fetch } = settings;
  const challenge = options.challenge ?? (await askForChallenge(url, fetch));
  const found = await discover({ server, url, issuer: oauth.issuer, fetch }, challenge);
  const scopes = await scopesFor(found, settings, options);
  const key = (oauth.dpop ?? found.wantsDpop) ? newDpopKey() : undefined;
  const dpop = key && (await openDpopSession(key));
  const keep = async (client: OAuthClient, tokens: OAuthTokens): Promise<Login> => {
    const isBound = tokens.token_type.toLowerCase() === "dpop";
    const own = dpop && isBound ? { ...settings, fetch: await provingFetch(fetch, dpop, tokens) } : settings;
    const login = await describe(own, found, client, tokens, scopes);
    const kept = { ...login, ...(key && isBound && { dpop: key }) };
    const { credentials, key: name } = settings;
    const write = async () => (await credentials.vault()).set(loginName(name), kept);
    // A renewal that is under way must not come after it. Machines log in during one, which holds the lock.
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

/** Nothing is sent for a login that was given up, and what is on its way is left. */
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

/** What the ways of a login have in common, once it is known who is asked for what. */
export interface LoginAttempt extends LoginSettings {
  found: Discovery;
  scopes: string[];
  dpop: DpopSession | undefined;
  signal: AbortSignal;
  /** Writes it down; only then is it one. */
  keep(client: OAuthClient, tokens: OAuthTokens): Promise<Login>;
}

/** An unauthorized request tells where the metadata is and which scopes are wanted. */
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
  const isMore = asked?.some((scope) => scope.startsWith("+")) ?? false;
  const before = isMore ? await readLogin(settings) : undefined;
  const kept = before?.issuer === found.issuer ? before.scopes : [];
  const named = asked?.map((scope) => scope.replace(/^\+/, ""));
  // Nobody is there to say no to a server that wants more.
  const most = oauth.grant !== undefined && oauth.scopes?.length ? oauth.scopes : undefined;
  const isAllowed = (scope: string) => most?.includes(scope) ?? true;
  const beyond = named?.filter((scope) => !isAllowed(scope)) ?? [];
  if (beyond.length > 0) throw notAllowed(settings.server, beyond);
  const scopes = named && [...kept, ...named];
  const lists = [scopes, found.challenged, oauth.scopes, found.offered];
  const wanted = lists.map((list) => list?.filter(isAllowed) ?? []).find(({ length }) => length > 0) ?? [];
  const renewable = found.metadata.scopes_supported?.includes("offline_access") && wanted.length > 0;
  const also = renewable && (!scopes || isMore) ? ["offline_access"].filter(isAllowed) : [];
  return [...new Set([...wanted, ...also])];
}

function notAllowed(server: string, scopes: string[]) {
  const message = `"${server}" wants more rights than its \`oauth.scopes\` allow: ${shown(scopes.join(" "))}.`;
  return authFailed(server, message, {
    data: { reason: "insufficient-scope", scopes },
    hint: "If it may have that, add it to `oauth.scopes` of the server.",
  });
}

/** For what is asked with the new token itself: it is worth nothing without a proof. */
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
  const revocation = all["revocation_endpoint"];
  const methods = metadata.token_endpoint_auth_methods_supported;
  const at = settings.now();
  return {
    ...settings.key,
    issuer,
    resource,
    client,
    tokens: { access_token: tokens.access_token, refresh_token: tokens.refresh_token },
    scopes: tokens.scope?.split(/\s+/).filter(Boolean) ?? asked,
    endpoints: {
      token_endpoint: metadata.token_endpoint,
      ...(typeof revocation === "string" && { revocation_endpoint: revocation }),
      ...(methods && { token_endpoint_auth_methods_supported: methods }),
    },
    account: await accountOf(tokens, all, settings.fetch),
    obtainedAt: at,
    expiresAt: expiryOf(tokens, at),
  };
}
