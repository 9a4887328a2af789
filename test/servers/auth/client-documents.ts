import type { ClientSettings, Fields } from "./options.ts";
import { isLoopback } from "./redirect-uris.ts";
import { Refusal } from "./refusal.ts";
import type { AuthState } from "./state.ts";

const LIMIT_BYTES = 65_536;

/** A client whose id is the URL of its own description. */
export async function clientFromDocument(state: AuthState, id: string): Promise<ClientSettings | undefined> {
  const { clientDocuments = true } = state.options;
  const url = URL.parse(id);
  if (clientDocuments === false || url === null || url.pathname === "/") return undefined;
  if (url.protocol !== "https:" && !(url.protocol === "http:" && isLoopback(url.hostname))) return undefined;
  state.stats.documents++;
  const given = clientDocuments === true ? undefined : clientDocuments[id];
  return check(id, given ?? (await fetchDocument(url)));
}

async function fetchDocument(url: URL): Promise<Fields> {
  try {
    const response = await fetch(url, { redirect: "error", signal: AbortSignal.timeout(10_000) });
    if (!response.ok) throw new Error(`HTTP ${response.status}`);
    const text = await response.text();
    if (text.length > LIMIT_BYTES) throw new Error("too long");
    return JSON.parse(text) as Fields;
  } catch (error) {
    throw refuse(`its document cannot be had: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function check(id: string, document: Fields): ClientSettings {
  const { client_id, client_name, redirect_uris, jwks, token_endpoint_auth_method = "none" } = document;
  if (client_id !== id) throw refuse("client_id is not the address of its document");
  if (typeof client_name !== "string") throw refuse("client_name is missing");
  if (!isStrings(redirect_uris) || redirect_uris.length === 0) throw refuse("redirect_uris are missing");
  if ("client_secret" in document) throw refuse("a public document holds a secret");
  if (token_endpoint_auth_method !== "none" && token_endpoint_auth_method !== "private_key_jwt")
    throw refuse("it cannot authenticate with a shared secret");
  return {
    client_id: id,
    client_name,
    redirect_uris,
    token_endpoint_auth_method,
    ...(isStrings(document["grant_types"]) && { grant_types: document["grant_types"] }),
    ...(jwks !== undefined && { jwks: jwks as NonNullable<ClientSettings["jwks"]> }),
  };
}

function isStrings(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}

function refuse(why: string): Refusal {
  return new Refusal("invalid_client", why, { status: 401 });
}
