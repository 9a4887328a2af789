import { createIdToken } from "./id-token.ts";
import type { Fields } from "./options.ts";
import type { AuthState, Client, Grant, Token } from "./state.ts";

/** A token request whose client is known. */
export interface TokenRequest {
  state: AuthState;
  client: Client;
  params: URLSearchParams;
  /** The key that the client proved to have. */
  thumbprint: string | undefined;
}

/** What a resource may know about a token, in the words of RFC 7662. */
export interface Introspection {
  active: boolean;
  client_id?: string;
  sub?: string;
  scope?: string;
  aud?: string;
  iss?: string;
  exp?: number;
  cnf?: { jkt: string };
}

/** A token response, with a refresh token when this grant gets one. */
export function issue(
  state: AuthState,
  client: Client,
  grant: Grant,
  {
    scopes = grant.scopes,
    thumbprint,
    refresh = false,
  }: { scopes?: string[]; thumbprint?: string | undefined; refresh?: boolean },
): Fields {
  const {
    accessTokenMs = 3_600_000,
    refreshTokenMs = 30 * 86_400_000,
    refreshTokens = "always",
  } = state.options;
  // A client that authenticates is bound by that; its refresh tokens survive a change of keys.
  const isBound = (kind: Token["kind"]): boolean =>
    kind === "access" || client.token_endpoint_auth_method === "none";
  const add = (kind: Token["kind"], lifeMs: number): string => {
    const token = {
      value: state.createToken(kind),
      kind,
      grant,
      expiresMs: state.now() + lifeMs,
      spent: false,
    };
    state.tokens.set(token.value, {
      ...token,
      scopes: kind === "access" ? scopes : grant.scopes,
      ...(thumbprint !== undefined && isBound(kind) && { thumbprint }),
    });
    return token.value;
  };
  const wanted =
    refreshTokens === "always" ||
    (refreshTokens === "offline_access" && grant.scopes.includes(refreshTokens));
  state.stats.tokens++;
  const response = {
    access_token: add("access", accessTokenMs),
    token_type: thumbprint === undefined ? "Bearer" : "DPoP",
    expires_in: Math.floor(accessTokenMs / 1000),
    scope: scopes.join(" "),
    ...(refresh &&
      wanted &&
      client.grant_types.includes("refresh_token") && { refresh_token: add("refresh", refreshTokenMs) }),
    ...(scopes.includes("openid") &&
      grant.user !== undefined && { id_token: createIdToken(state, client.client_id, grant.user) }),
  };
  return state.options.alter?.token?.(response) ?? response;
}

export function isLive(state: AuthState, token: Token): boolean {
  return !token.spent && token.grant.revoked === undefined && state.now() < token.expiresMs;
}

export function introspect(state: AuthState, value: string): Introspection {
  const token = state.tokens.get(value);
  if (token === undefined || token.kind !== "access" || !isLive(state, token)) return { active: false };
  const { grant, scopes, expiresMs, thumbprint } = token;
  return {
    active: true,
    client_id: grant.clientId,
    sub: grant.user ?? grant.clientId,
    scope: scopes.join(" "),
    iss: state.issuer,
    exp: Math.floor(expiresMs / 1000),
    ...(grant.audience !== undefined && { aud: grant.audience }),
    ...(thumbprint !== undefined && { cnf: { jkt: thumbprint } }),
  };
}

/** RFC 7009: with its refresh token a whole grant ends, an access token ends alone. */
export function revoke(state: AuthState, client: Client, value: string): void {
  const token = state.tokens.get(value);
  if (token === undefined || token.grant.clientId !== client.client_id) return;
  state.stats.revocations++;
  if (token.kind === "refresh") token.grant.revoked ??= "requested";
  token.spent = true;
}
