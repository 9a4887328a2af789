import { addClient } from "./clients.ts";
import { type Answer, type AuthReceived, json } from "./listener.ts";
import type { ClientAuthentication } from "./options.ts";
import { checkRedirectUri } from "./redirect-uris.ts";
import { Refusal } from "./refusal.ts";
import { type AuthState, secret } from "./state.ts";

const METHODS: ClientAuthentication[] = [
  "none",
  "client_secret_basic",
  "client_secret_post",
  "private_key_jwt",
];

/** RFC 7591. */
export function register(state: AuthState, { message }: AuthReceived): Answer {
  const { registration = true, alter } = state.options;
  if (registration === false) return { status: 404 };
  if (registration === "reject") throw bad("clients are registered by the administrator of this server");
  if (message === undefined) throw bad("the body is not JSON");
  const asked = {
    grant_types: ["authorization_code"],
    token_endpoint_auth_method: "client_secret_basic",
    ...message,
  };
  const {
    redirect_uris = [],
    grant_types,
    application_type = "web",
    client_name,
  } = asked as Record<string, unknown>;
  const method = METHODS.find((known) => known === asked.token_endpoint_auth_method);
  if (method === undefined) throw bad("token_endpoint_auth_method is not supported");
  if (!isStrings(redirect_uris) || !isStrings(grant_types)) throw bad("a list of strings is expected");
  if (grant_types.includes("authorization_code") && redirect_uris.length === 0)
    throw new Refusal("invalid_redirect_uri", "redirect_uris are missing");
  for (const uri of redirect_uris)
    checkRedirectUri(uri, registration === "strict" ? String(application_type) : undefined);

  state.stats.registrations++;
  const client_id = `client-${secret()}`;
  const secrets = method.startsWith("client_secret") && {
    client_secret: secret(),
    client_secret_expires_at: 0,
  };
  const client = { ...asked, client_id, ...secrets, client_id_issued_at: Math.floor(state.now() / 1000) };
  const said = alter?.registration?.(client) ?? client;
  addClient(
    state,
    {
      client_id,
      redirect_uris,
      grant_types,
      token_endpoint_auth_method: method,
      ...(secrets && { client_secret: secrets.client_secret }),
      ...(typeof client_name === "string" && { client_name }),
      ...("jwks" in asked && { jwks: asked.jwks as { keys: [] } }),
    },
    "registered",
  );
  return json(201, said);
}

function isStrings(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}

function bad(why: string): Refusal {
  return new Refusal("invalid_client_metadata", why);
}
