import { randomBytes } from "node:crypto";
import type { AuthorizationServerMetadata, OAuthTokens } from "@modelcontextprotocol/client";
import { PlugboardError, isPlugboardError } from "../../../errors.ts";
import { startCallbackServer } from "./callback-server.ts";
import type { Callback } from "./callback-server.ts";
import { pastedParams, readAuthorizationResponse } from "./response.ts";
import type { LoginAttempt, LoginOptions } from "./login.ts";
import { chooseClient, forgetRegistration, knownPort } from "../client.ts";
import { authFailed, oauthCode, operatorHint, requestFailed, shown } from "../errors.ts";
import type { Login, OAuthClient } from "../record.ts";
import { openableAddress } from "../../open-url.ts";
import { requestTokens } from "../token-request.ts";

/** Logs in with a browser, which is redirected to our callback server; or the person pastes the final URL. */
export async function logInByBrowser(attempt: LoginAttempt, options: LoginOptions): Promise<Login> {
  const { server, oauth, found, scopes, signal } = attempt;
  assertPkce(server, found.metadata);
  const fixed = oauth.callbackPort ?? undefined;
  const known = await knownPort(attempt, found.issuer);
  const state = randomBytes(32).toString("base64url");
  const callback = await startCallbackServer(server, state, fixed ? [fixed] : known ? [known, 0] : [0]);
  try {
    const { redirectUri } = callback;
    const client = await chooseClient(attempt, found, redirectUri);
    const { startAuthorization } = await import("@modelcontextprotocol/client");
    const { authorizationUrl, codeVerifier } = await startAuthorization(found.address, {
      metadata: found.metadata,
      clientInformation: client,
      redirectUrl: redirectUri,
      state,
      ...(scopes.length > 0 && { scope: scopes.join(" ") }),
    });
    if (found.resource !== undefined) authorizationUrl.searchParams.set("resource", found.resource);
    const response = await waitForCallback(server, new URL(openableAddress(authorizationUrl)), options, {
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
      const tokens = await exchange(attempt, client, { code, codeVerifier, redirectUri });
      const login = await attempt.keep(client, tokens);
      response.show({ ok: true, text: "You can close this page and return to the terminal." });
      return login;
    } catch (error) {
      const isRefused = isPlugboardError(error) && error.reason === "refused";
      const why = isRefused
        ? "The login was refused."
        : "Something went wrong. See the terminal for details.";
      response.show({ ok: false, text: why });
      throw error;
    }
  } finally {
    await callback.close();
  }
}

/** Resolves with the browser's callback or the pasted URL, whichever comes first. */
async function waitForCallback(
  server: string,
  url: URL,
  { openUrl, askRedirect }: LoginOptions,
  { received, signal }: { received: Promise<Callback>; signal: AbortSignal },
): Promise<Callback> {
  if (signal.aborted) throw notFinished(server, signal);
  const over = new AbortController();
  const { promise: ended, reject } = Promise.withResolvers<never>();
  const onAbort = () => reject(notFinished(server, signal));
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    // Not awaited: showing the page may take as long as the person does.
    void Promise.resolve(openUrl?.(url)).catch(() => undefined);
    const outcomes: Promise<Callback>[] = [received, ended];
    if (askRedirect) {
      const asked = askRedirect(url, AbortSignal.any([signal, over.signal]));
      const pasted = asked.then((text): Callback => {
        if (text === undefined || text.trim() === "") throw notFinished(server, signal);
        return { params: pastedParams(text), show: () => undefined };
      });
      outcomes.push(pasted);
    }
    return await Promise.race(outcomes);
  } finally {
    over.abort();
    signal.removeEventListener("abort", onAbort);
    ended.catch(() => undefined);
  }
}

async function exchange(
  attempt: LoginAttempt,
  client: OAuthClient,
  { code, codeVerifier, redirectUri }: { code: string; codeVerifier: string; redirectUri: string },
): Promise<OAuthTokens> {
  const { server, credentials, key, found } = attempt;
  try {
    return await requestTokens(
      { ...attempt, client },
      {
        grant_type: "authorization_code",
        code,
        code_verifier: codeVerifier,
        redirect_uri: redirectUri,
      },
    );
  } catch (error) {
    if (oauthCode(error) === "invalid_client") await forgetRegistration(credentials, key, found.issuer);
    const secrets = [code, codeVerifier, client.client_secret ?? ""];
    throw requestFailed(error, { server, step: "the exchange of the code", secrets });
  }
}

function assertPkce(
  server: string,
  { issuer, code_challenge_methods_supported: methods }: AuthorizationServerMetadata,
) {
  if (methods?.includes("S256")) return;
  const message = `The authorization server ${shown(issuer)} of "${server}" does not support PKCE with S256 (code_challenge_methods_supported), so Plugboard does not log in there.`;
  throw authFailed(server, message, { data: { reason: "pkce" }, hint: operatorHint });
}

export function notFinished(server: string, signal: AbortSignal): PlugboardError {
  const isLate = signal.reason instanceof DOMException && signal.reason.name === "TimeoutError";
  const why = isLate ? "was not finished in time" : "was not finished";
  return new PlugboardError("auth-required", `The login to "${server}" ${why}.`, { server });
}
