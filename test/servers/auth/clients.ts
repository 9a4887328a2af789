import { clientFromDocument } from "./client-documents.ts";
import { verifyJwt } from "./jwt.ts";
import type { AuthReceived } from "./listener.ts";
import type { ClientAuthentication, ClientSettings } from "./options.ts";
import { Refusal, required, single } from "./refusal.ts";
import type { AuthState, Client } from "./state.ts";

export function addClient(state: AuthState, settings: ClientSettings, source: Client["source"]): Client {
  const { client_secret, jwks } = settings;
  const usual = client_secret !== undefined ? "client_secret_basic" : jwks ? "private_key_jwt" : "none";
  const client: Client = {
    redirect_uris: [],
    grant_types: state.grantTypes,
    token_endpoint_auth_method: usual,
    ...settings,
    source,
  };
  state.clients.set(client.client_id, client);
  return client;
}

export async function findClient(state: AuthState, id: string): Promise<Client> {
  const known = state.clients.get(id) ?? (await clientFromDocument(state, id));
  if (known === undefined) throw new Refusal("invalid_client", "the client is not known", { status: 401 });
  return state.clients.get(id) ?? addClient(state, known, "document");
}

/** Which client sent a request, proved in the one way that it is registered for. */
export async function authenticateClient(state: AuthState, request: AuthReceived): Promise<Client> {
  const presented = presentedBy(request);
  const client = await findClient(state, presented.id);
  const refuse = (why: string): Refusal => {
    const headers = presented.method === "client_secret_basic" ? { "www-authenticate": "Basic" } : {};
    return new Refusal("invalid_client", why, { status: 401, headers });
  };
  if (presented.method !== client.token_endpoint_auth_method) {
    throw refuse(`the client must authenticate with ${client.token_endpoint_auth_method}`);
  }
  if (presented.method === "private_key_jwt") {
    checkAssertion(state, client, presented.secret);
  } else if (presented.method !== "none" && presented.secret !== client.client_secret) {
    throw refuse("the client secret is wrong");
  }
  return client;
}

interface Presented {
  id: string;
  method: ClientAuthentication;
  secret: string;
}

function presentedBy({ params, headers }: AuthReceived): Presented {
  const { authorization } = headers;
  const secret = single(params, "client_secret");
  const assertion = single(params, "client_assertion");
  const ways = [authorization, secret, assertion].filter((way) => way !== undefined);
  if (ways.length > 1) throw new Refusal("invalid_request", "the client authenticates in more than one way");
  if (typeof authorization === "string") {
    const encoded = /^Basic ([\w+/=-]+)$/i.exec(authorization)?.[1] ?? "";
    const [id = "", password = ""] = Buffer.from(encoded, "base64").toString("utf8").split(":");
    return { id: unescaped(id), method: "client_secret_basic", secret: unescaped(password) };
  }
  if (assertion !== undefined) {
    if (single(params, "client_assertion_type") !== "urn:ietf:params:oauth:client-assertion-type:jwt-bearer")
      throw new Refusal("invalid_client", "client_assertion_type is wrong", { status: 401 });
    return { id: issuerOf(assertion), method: "private_key_jwt", secret: assertion };
  }
  const id = required(params, "client_id");
  return secret === undefined
    ? { id, method: "none", secret: "" }
    : { id, method: "client_secret_post", secret };
}

/** RFC 7523: by the client, for this server, and only once. */
function checkAssertion(state: AuthState, client: Client, assertion: string): void {
  const { claims } = verifyJwt(assertion, { error: "invalid_client", keys: () => client.jwks?.keys ?? [] });
  const { sub, aud, jti, exp } = claims;
  const audiences = [aud].flat();
  const refuse = (why: string): Refusal => new Refusal("invalid_client", why, { status: 401 });
  if (sub !== client.client_id) throw refuse("sub is not the client");
  if (exp === undefined) throw refuse("exp is missing");
  if (!audiences.includes(state.issuer) && !audiences.includes(`${state.issuer}/token`))
    throw refuse("aud is not this server");
  if (typeof jti === "string") {
    if (state.assertions.has(jti)) throw refuse("jti was used before");
    state.assertions.add(jti);
  }
}

function issuerOf(assertion: string): string {
  try {
    const claims = JSON.parse(Buffer.from(assertion.split(".")[1] ?? "", "base64url").toString("utf8")) as {
      iss?: unknown;
    };
    return String(claims.iss);
  } catch {
    throw new Refusal("invalid_client", "client_assertion is not a JWT", { status: 401 });
  }
}

/** RFC 6749 wants form encoding inside Basic; many clients do not do it. */
function unescaped(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
