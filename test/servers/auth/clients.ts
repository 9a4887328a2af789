import { checkAssertion, claimedClient } from "./client-assertion.ts";
import { clientFromDocument } from "./client-documents.ts";
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
  } else if (presented.method !== "none" && !isSecretOf(client, presented.secret)) {
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
    const [id = "", ...password] = Buffer.from(encoded, "base64").toString("utf8").split(":");
    return sameClient(params, {
      id: unescaped(id),
      method: "client_secret_basic",
      secret: password.join(":"),
    });
  }
  if (assertion !== undefined) {
    return sameClient(params, { id: claimedClient(params), method: "private_key_jwt", secret: assertion });
  }
  const id = required(params, "client_id");
  return secret === undefined
    ? { id, method: "none", secret: "" }
    : { id, method: "client_secret_post", secret };
}

/** A client_id besides the proof is allowed, another one is not. */
function sameClient(params: URLSearchParams, presented: Presented): Presented {
  if ((single(params, "client_id") ?? presented.id) === presented.id) return presented;
  throw new Refusal("invalid_client", "client_id is not who authenticates", { status: 401 });
}

function isSecretOf({ client_secret }: Client, presented: string): boolean {
  return client_secret !== undefined && [presented, unescaped(presented)].includes(client_secret);
}

/** RFC 6749 wants form encoding inside Basic; many clients do not do it. */
function unescaped(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return text;
  }
}
