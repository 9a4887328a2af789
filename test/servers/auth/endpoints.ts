import { authorize, consent } from "./authorize.ts";
import { authenticateClient } from "./clients.ts";
import { authorizeDevice, devicePage } from "./device.ts";
import { presentedToken } from "./dpop.ts";
import { type Answer, type AuthReceived, json } from "./listener.ts";
import { documentAt, metadataOf } from "./metadata.ts";
import type { Endpoint } from "./options.ts";
import { Refusal, required } from "./refusal.ts";
import { register } from "./register.ts";
import type { AuthState } from "./state.ts";
import { tokenEndpoint } from "./token-endpoint.ts";
import { introspect, revoke } from "./tokens.ts";

type Handler = (state: AuthState, request: AuthReceived) => Answer | Promise<Answer>;

/** Below the issuer. */
const endpoints: Record<string, { name: Endpoint; GET?: Handler; POST?: Handler }> = {
  "/authorize": { name: "authorize", GET: authorize },
  "/consent": { name: "consent", POST: consent },
  "/token": { name: "token", POST: tokenEndpoint },
  "/register": { name: "register", POST: register },
  "/device_authorization": { name: "device-authorization", POST: authorizeDevice },
  "/device": { name: "device", GET: devicePage, POST: devicePage },
  "/revoke": { name: "revoke", POST: revocation },
  "/introspect": {
    name: "introspect",
    POST: (state, { params }) => json(200, introspect(state, required(params, "token"))),
  },
  "/userinfo": { name: "userinfo", GET: userinfo },
  "/jwks": { name: "jwks", GET: ({ key }) => json(200, { keys: [key.jwk] }) },
};

/** The name of what is at a path, or `unknown`. */
export function endpointAt(state: AuthState, pathname: string): Endpoint | "unknown" {
  if (documentAt(state, pathname) !== undefined) return "metadata";
  return endpoints[below(state, pathname)]?.name ?? "unknown";
}

/** What a correct server answers. */
export async function answerTo(state: AuthState, request: AuthReceived, pathname: string): Promise<Answer> {
  const document = documentAt(state, pathname);
  if (document !== undefined) return json(200, metadataOf(state, document));
  const found = endpoints[below(state, pathname)];
  const { method } = request;
  const handler = method === "GET" || method === "POST" ? found?.[method] : undefined;
  if (handler === undefined) return { status: found === undefined ? 404 : 405 };
  try {
    return await handler(state, request);
  } catch (error) {
    if (error instanceof Refusal) return error.answer();
    throw error;
  }
}

function below({ options: { path = "" } }: AuthState, pathname: string): string {
  return pathname.startsWith(path) ? pathname.slice(path.length) : "";
}

async function revocation(state: AuthState, request: AuthReceived): Promise<Answer> {
  const client = await authenticateClient(state, request);
  revoke(state, client, required(request.params, "token"));
  return { status: 200 };
}

function userinfo(state: AuthState, request: AuthReceived): Answer {
  const presented = presentedToken(request);
  const known = introspect(state, presented?.token ?? "");
  if (presented === undefined || !known.active)
    return { status: 401, headers: { "www-authenticate": 'Bearer error="invalid_token"' } };
  const wanted = { url: `${state.issuer}/userinfo`, nonce: state.options.dpop === "nonce" };
  try {
    state.proofs.checkBinding(request, { ...presented, ...wanted, known });
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { status: 401, headers: { "www-authenticate": `DPoP error="${error.error}"`, ...error.headers } };
  }
  return json(200, { sub: known.sub, name: known.sub });
}
