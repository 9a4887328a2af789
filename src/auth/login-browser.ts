import { randomBytes } from "node:crypto";
import type { FetchLike, OAuthTokens } from "@modelcontextprotocol/client";
import { PlugboardError } from "../errors.ts";
import { startCallbackServer } from "./callback-server.ts";
import type { Callback } from "./callback-server.ts";
import { pastedParams, readAuthorizationResponse } from "./login-response.ts";
import type { LoginOptions, LoginSettings } from "./login.ts";
import { chooseClient, forgetRegistration, knownPort } from "./oauth-client.ts";
import type { Discovery } from "./oauth-discovery.ts";
import { oauthCode, requestFailed } from "./oauth-errors.ts";
import type { OAuthClient } from "./oauth-record.ts";
import { openableAddress } from "./open-url.ts";

interface Obtained {
  client: OAuthClient;
  tokens: OAuthTokens;
}

/** A person agrees in their browser, which comes back to our door or whose last address is pasted. */
export async function logInByBrowser(
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

function notFinished(server: string, signal: AbortSignal): PlugboardError {
  const isLate = signal.reason instanceof DOMException && signal.reason.name === "TimeoutError";
  const why = isLate ? "was not finished in time" : "was not finished";
  return new PlugboardError("auth-required", `The login to "${server}" ${why}.`, { server });
}
