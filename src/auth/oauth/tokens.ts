import type { FetchLike, OAuthTokens } from "@modelcontextprotocol/client";
import { authFailed, operatorHint } from "./errors.ts";
import { startDeadline } from "../../lib/deadline.ts";
import { isRecord } from "../../lib/record.ts";
import { readClaims } from "./token-claims.ts";

/** Whether a token must be bound to a key: the server can ask for it, the configuration can require it. */
export type Binding = "none" | "wanted" | "required";

/** Refuses tokens of the wrong type and tokens that cannot be sent in a header. */
export function checkTokens(server: string, tokens: OAuthTokens, binding: Binding): OAuthTokens {
  const what = tokenFault(tokens, binding);
  if (what === undefined) return tokens;
  throw authFailed(server, `The authorization server of "${server}" issued a token ${what}.`, {
    data: { reason: "token" },
    hint: operatorHint,
  });
}

function tokenFault({ token_type, access_token }: OAuthTokens, binding: Binding): string | undefined {
  const type = token_type.toLowerCase();
  if (type === "bearer" && binding === "required")
    return "that is not bound to a key (token_type), which `oauth.dpop` requires";
  if (type !== "bearer" && !(type === "dpop" && binding !== "none"))
    return "of a type that was not requested (token_type)";
  return fitsHeader(access_token) ? undefined : "that cannot be sent in a header (access_token)";
}

/** An `Authorization` value; a token that could break out of its header is refused and never shown. */
export function bearer(server: string, token: string): string {
  if (fitsHeader(token)) return `Bearer ${token}`;
  throw authFailed(
    server,
    `The access token for "${server}" contains characters that cannot be sent in a header.`,
  );
}

function fitsHeader(token: string): boolean {
  return /^[\x21-\x7e]+$/.test(token);
}

/** The user's name, as reported by the authorization server. It is only for display, so failures are ignored. */
export async function accountOf(
  tokens: OAuthTokens,
  metadata: Record<string, unknown>,
  fetch: FetchLike,
): Promise<string | undefined> {
  const named = nameIn(readClaims(tokens.id_token));
  if (named !== undefined) return named;
  const { userinfo_endpoint: address, token_endpoint: issuing } = metadata;
  // The token is sent only to the origin that issued it.
  const url = typeof address === "string" ? URL.parse(address) : undefined;
  if (!url || url.origin !== URL.parse(String(issuing))?.origin) return undefined;
  using deadline = startDeadline(5_000);
  try {
    const headers = { authorization: `Bearer ${tokens.access_token}`, accept: "application/json" };
    const response = await fetch(url, { headers, signal: deadline.signal });
    const text = await response.text();
    return response.ok ? nameIn(JSON.parse(text)) : undefined;
  } catch {
    return undefined;
  }
}

function nameIn(claims: unknown): string | undefined {
  if (!isRecord(claims)) return undefined;
  const names = ["email", "preferred_username", "name", "sub"].map((claim) => claims[claim]);
  const name = names.find((one) => typeof one === "string" && one !== "");
  return typeof name === "string" ? name.slice(0, 200) : undefined;
}
