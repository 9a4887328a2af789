import { randomBytes } from "node:crypto";
import type { FetchLike, OAuthTokens } from "@modelcontextprotocol/client";
import { PlugboardError } from "../errors.ts";
import { startCallbackServer } from "./callback-server.ts";
import type { Callback } from "./callback-server.ts";
import { logInByDevice } from "./login-device.ts";
import type { DevicePrompt } from "./login-device.ts";
import { pastedParams, readAuthorizationResponse } from "./login-response.ts";
import { chooseClient, forgetRegistration, knownPort } from "./oauth-client.ts";
import type { ClientSettings } from "./oauth-client.ts";
import { discover } from "./oauth-discovery.ts";
import type { Challenge, Discovery } from "./oauth-discovery.ts";
import { oauthCode, requestFailed } from "./oauth-errors.ts";
import { expiryOf, loginName } from "./oauth-record.ts";
import type { Login, OAuthClient } from "./oauth-record.ts";
import { accountOf, checkTokens } from "./oauth-tokens.ts";
import { readLogin } from "./token-refresh.ts";
import { openableAddress } from "./open-url.ts";

export interface LoginOptions {
  /** Another account than the configured one. */
  profile?: string | undefined;
  /**
   * What to ask for, instead of what the server and the configuration say. One that begins with `+` is asked for
   * besides what the login has already.
   */
  scopes?: string[] | undefined;
  /** Shows a person the page. The address is safe to open, and rejecting means only that they open it themselves. */
  openUrl?: ((url: URL) => void | Promise<void>) | undefined;
  /** Asks for the address that the browser ended at, for machines whose browser is elsewhere. */
  askRedirect?: ((url: URL, signal: AbortSignal) => Promise<string | undefined>) | undefined;
  /** Uses a code that is typed in elsewhere; shows it. */
  device?: ((prompt: DevicePrompt) => void | Promise<void>) | undefined;
  signal?: AbortSignal | undefined;
  /** Default five minutes. */
  timeoutMs?: number | undefined;
}

export interface LoginSettings extends ClientSettings {
  url: URL;
}

const patienceMs = 300_000;

/** The whole of a login: who to ask, as whom, the person's consent, the tokens; kept before anybody hears of it. */
export async function logIn(settings: LoginSettings, options: LoginOptions): Promise<Login> {
  const { server, url, oauth, fetch } = settings;
  const deadline = AbortSignal.timeout(options.timeoutMs ?? patienceMs);
  const signal = options.signal ? AbortSignal.any([options.signal, deadline]) : deadline;
  const challenge = await askForChallenge(url, fetch);
  const found = await discover({ server, url, issuer: oauth.issuer, fetch }, challenge);
  const scopes = await scopesFor(found, settings, options);
  const { client, tokens } = options.device
    ? await logInByDevice({ ...settings, found, scopes, show: options.device, signal })
    : await logInByBrowser(settings, found, scopes, options, signal);
  const login = await describe(settings, found, client, checkTokens(server, tokens), scopes);
  await (await settings.credentials.vault()).set(loginName(settings.key), login);
  return login;
}

/** An unauthorized request tells where the metadata is and which scopes are wanted. */
async function askForChallenge(url: URL, fetch: FetchLike): Promise<Challenge> {
  const { extractWWWAuthenticateParams } = await import("@modelcontextprotocol/client");
  try {
    const response = await fetch(url, { headers: { accept: "text/event-stream, application/json" } });
    void response.body?.cancel().catch(() => undefined);
    return response.status === 401 ? extractWWWAuthenticateParams(response) : {};
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
  const scopes = asked && [...kept, ...asked.map((scope) => scope.replace(/^\+/, ""))];
  const wanted = [scopes, found.challenged, oauth.scopes, found.offered].find((list) => list?.length) ?? [];
  const renewable = found.metadata.scopes_supported?.includes("offline_access") && wanted.length > 0;
  return [...new Set([...wanted, ...(renewable && !scopes ? ["offline_access"] : [])])];
}

interface Obtained {
  client: OAuthClient;
  tokens: OAuthTokens;
}

async function logInByBrowser(
  settings: LoginSettings,
  found: Discovery,
  scopes: string[],
  options: LoginOptions,
  signal: AbortSignal,
): Promise<Obtained> {
  const { server, oauth, fetch } = settings;
  const fixed = oauth.callbackPort ?? undefined;
  const known = await knownPort(settings, found.issuer);
  const callback = await startCallbackServer(server, fixed ? [fixed] : known ? [known, 0] : [0]);
  try {
    const { redirectUri } = callback;
    const client = await chooseClient(settings, found, redirectUri);
    const { startAuthorization } = await import("@modelcontextprotocol/client");
    const state = randomBytes(32).toString("base64url");
    const { authorizationUrl, codeVerifier } = await startAuthorization(found.address, {
      metadata: found.metadata,
      clientInformation: client,
      redirectUrl: redirectUri,
      state,
      resource: new URL(found.resource),
      ...(scopes.length > 0 && { scope: scopes.join(" ") }),
    });
    const response = await untilBack(server, new URL(openableAddress(authorizationUrl)), options, {
      received: callback.received,
      signal,
    });
    try {
      const code = readAuthorizationResponse(response.params, {
        server,
        state,
        issuer: found.issuer,
        namesItself: found.metadata.authorization_response_iss_parameter_supported === true,
      });
      const sent = { code, codeVerifier, redirectUri, iss: response.params.get("iss") ?? undefined };
      const tokens = await exchange(settings, found, client, sent, fetch);
      response.show({ ok: true, text: "You can close this page and go back to the terminal." });
      return { client, tokens };
    } catch (error) {
      response.show({ ok: false, text: "Something went wrong. The terminal says what." });
      throw error;
    }
  } finally {
    await callback.close();
  }
}

/** Whichever comes first: the browser at our door, or what a person pastes. */
async function untilBack(
  server: string,
  url: URL,
  { openUrl, askRedirect }: LoginOptions,
  { received, signal }: { received: Promise<Callback>; signal: AbortSignal },
): Promise<Callback> {
  const over = new AbortController();
  const { promise: ended, reject } = Promise.withResolvers<never>();
  const onAbort = () => reject(notFinished(server, signal));
  signal.addEventListener("abort", onAbort, { once: true });
  if (signal.aborted) onAbort();
  try {
    await openUrl?.(url);
    const ways: Promise<Callback>[] = [received, ended];
    if (askRedirect) {
      const asked = askRedirect(url, AbortSignal.any([signal, over.signal]));
      const pasted = asked.then((text): Callback => {
        if (text === undefined || text.trim() === "") throw notFinished(server, signal);
        return { params: pastedParams(text), show: () => undefined };
      });
      ways.push(pasted);
    }
    return await Promise.race(ways);
  } finally {
    over.abort();
    signal.removeEventListener("abort", onAbort);
    ended.catch(() => undefined);
  }
}

async function exchange(
  settings: LoginSettings,
  found: Discovery,
  client: OAuthClient,
  sent: { code: string; codeVerifier: string; redirectUri: string; iss: string | undefined },
  fetch: FetchLike,
): Promise<OAuthTokens> {
  const { server, credentials, key } = settings;
  const { exchangeAuthorization } = await import("@modelcontextprotocol/client");
  try {
    return await exchangeAuthorization(found.address, {
      metadata: found.metadata,
      clientInformation: client,
      authorizationCode: sent.code,
      codeVerifier: sent.codeVerifier,
      redirectUri: sent.redirectUri,
      resource: new URL(found.resource),
      fetchFn: fetch,
      ...(sent.iss !== undefined && { iss: sent.iss }),
    });
  } catch (error) {
    if (oauthCode(error) === "invalid_client") await forgetRegistration(credentials, key, found.issuer);
    const secrets = [sent.code, sent.codeVerifier, client.client_secret ?? ""];
    throw requestFailed(error, { server, step: "the exchange of the code", secrets });
  }
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

function notFinished(server: string, signal: AbortSignal): PlugboardError {
  const isLate = signal.reason instanceof DOMException && signal.reason.name === "TimeoutError";
  const why = isLate ? "was not finished in time" : "was not finished";
  return new PlugboardError("auth-required", `The login to "${server}" ${why}.`, { server });
}
