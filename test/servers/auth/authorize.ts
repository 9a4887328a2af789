import { findClient } from "./clients.ts";
import type { Answer, AuthReceived } from "./listener.ts";
import { GRANTS } from "./options.ts";
import { consentPage, messagePage } from "./pages.ts";
import { isRegistered } from "./redirect-uris.ts";
import { Refusal, required, single } from "./refusal.ts";
import { askedBy } from "./scopes.ts";
import { type AuthorizationRequest, type AuthState, type Client, secret } from "./state.ts";

/** The authorization endpoint: a page, or the redirect that the page would have led to. */
export async function authorize(state: AuthState, { params }: AuthReceived): Promise<Answer> {
  let client: Client;
  let redirectUri: string;
  try {
    client = await findClient(state, required(params, "client_id"));
    redirectUri = redirectUriOf(client, params);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    // Nobody may be sent to an address that was not registered.
    return messagePage(400, "This request cannot be trusted", error.message);
  }
  const back = { redirectUri, state: params.get("state") ?? undefined };
  try {
    const request = { ...checkRequest(state, client, params), ...back };
    const { autoConsent = false } = state.options;
    if (autoConsent !== false) return decide(state, request, autoConsent === true ? {} : "denied");
    return ask(state, request);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return respond(state, back, { error: error.error, error_description: error.message });
  }
}

/** What the page sends; each page counts once. */
export function consent(state: AuthState, { params }: AuthReceived): Answer {
  const key = params.get("request") ?? "";
  const request = state.pages.get(key);
  if (!state.pages.delete(key) || request === undefined) {
    return messagePage(
      400,
      "This page is no longer good",
      "Start again from the program that sent you here.",
    );
  }
  if (params.get("decision") !== "allow") return decide(state, request, "denied");
  const user = params.get("user") ?? undefined;
  if (!state.admits(user)) return ask(state, request, user ?? "");
  return decide(state, request, { user });
}

function ask(state: AuthState, request: AuthorizationRequest, unknown?: string): Answer {
  const key = secret();
  state.pages.set(key, request);
  return consentPage(state, request, { action: `${state.issuer}/consent`, key, unknown });
}

function decide(
  state: AuthState,
  request: AuthorizationRequest,
  decision: "denied" | { user?: string | undefined },
): Answer {
  if (decision === "denied") {
    return respond(state, request, { error: "access_denied", error_description: "The user said no" });
  }
  const wanted = decision.user ?? request.loginHint;
  const user = state.users.find((name) => name === wanted) ?? state.users[0];
  const grant = state.addGrant(GRANTS.code, request, user);
  const code = state.createToken("code");
  const expiresMs = state.now() + (state.options.codeMs ?? 60_000);
  state.codes.set(code, { request, grant, expiresMs, spent: false });
  state.stats.authorizations++;
  return respond(state, request, { code });
}

function respond(
  { options, issuer }: AuthState,
  back: { redirectUri: string; state: string | undefined },
  fields: Record<string, string>,
): Answer {
  const response = new URLSearchParams(fields);
  if (back.state !== undefined) response.set("state", back.state);
  if (options.iss !== false) response.set("iss", issuer);
  const url = new URL(back.redirectUri);
  for (const [name, value] of options.alter?.authorization?.(response) ?? response) {
    url.searchParams.append(name, value);
  }
  return { status: 302, headers: { location: url.href, "cache-control": "no-store" } };
}

function redirectUriOf(client: Client, params: URLSearchParams): string {
  const asked = required(params, "redirect_uri");
  if (!isRegistered(asked, client.redirect_uris)) {
    throw new Refusal("invalid_request", `redirect_uri ${asked} is not registered for this client`);
  }
  return asked;
}

function checkRequest(
  state: AuthState,
  client: Client,
  params: URLSearchParams,
): Omit<AuthorizationRequest, "redirectUri" | "state"> {
  single(params, "state");
  if (required(params, "response_type") !== "code") {
    throw new Refusal("unsupported_response_type", "only code is supported");
  }
  if (!client.grant_types.includes(GRANTS.code)) {
    throw new Refusal("unauthorized_client", "the client is not registered for authorization_code");
  }
  return {
    ...askedBy(state, client, params),
    challenge: challengeOf(state, params),
    thumbprint: (state.options.dpop ?? "off") === "off" ? undefined : single(params, "dpop_jkt"),
    loginHint: single(params, "login_hint"),
  };
}

/** RFC 7636. */
function challengeOf(state: AuthState, params: URLSearchParams): AuthorizationRequest["challenge"] {
  const { pkce = ["S256"] } = state.options;
  const value = single(params, "code_challenge");
  if (value === undefined) {
    if (pkce.length === 0) return undefined;
    throw new Refusal("invalid_request", "code_challenge is missing");
  }
  const method = single(params, "code_challenge_method") ?? "plain";
  if (!pkce.some((known) => known === method)) {
    throw new Refusal("invalid_request", `code_challenge_method ${method} is not supported`);
  }
  if (!/^[\w.~-]{43,128}$/.test(value)) throw new Refusal("invalid_request", "code_challenge is malformed");
  return { value, method };
}
