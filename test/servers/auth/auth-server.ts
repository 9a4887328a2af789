import { addClient } from "./clients.ts";
import { decideDevice } from "./device.ts";
import { answerTo, endpointAt } from "./endpoints.ts";
import { Faults } from "./faults.ts";
import { createIdToken } from "./id-token.ts";
import type { Jwk } from "./jwt.ts";
import { type AuthReceived, listen } from "./listener.ts";
import type { AuthOptions } from "./options.ts";
import { AuthState, type Client, type Grant } from "./state.ts";
import { introspect, type Introspection } from "./tokens.ts";

export interface AuthServer extends AsyncDisposable {
  /** Exactly as its metadata says, unless that was altered. */
  readonly issuer: string;
  /** Where it listens, without the path of the issuer. */
  readonly url: string;
  /** Every request in the order of arrival. */
  readonly received: AuthReceived[];
  /** By client id; a deleted client is unknown. */
  readonly clients: Map<string, Client>;
  readonly grants: Grant[];
  /** What tokens can be had for, or anything while it is empty; protected servers add themselves. */
  readonly resources: Set<string>;
  readonly stats: AuthState["stats"];
  /** The public keys that it signs with, for the `trusted` of another server. */
  readonly keys: Jwk[];
  /** Faults of the server itself; a test can expect that there are none. */
  readonly errors: unknown[];
  /** Changes options from now on; what is not given stays. */
  set(change: Omit<AuthOptions, "path" | "clients">): void;
  /** Lets time pass, by its own clock. */
  advance(ms: number): void;
  /** Makes every access token that was given out expire. */
  expireAccessTokens(): void;
  /** With `dpop: "nonce"`: from now on another nonce is wanted. */
  rotateNonce(): void;
  approveDevice(userCode: string, user?: string): void;
  denyDevice(userCode: string): void;
  /** The ID token of a user who logged in to a client, without the login. */
  idToken(clientId: string, user?: string): string;
  /** What a resource is told about an access token. */
  introspect(accessToken: string): Introspection;
  close(): Promise<void>;
}

/** A small but real authorization server on a free port of 127.0.0.1, in this process. */
export async function startAuthServer(options: AuthOptions = {}): Promise<AuthServer> {
  const state = new AuthState(options);
  const faults = new Faults();
  const listener = await listen({
    endpointOf: (url) => endpointAt(state, url.pathname),
    answer: async (exchange) => {
      const { received, url } = exchange;
      const endpoint = endpointAt(state, url.pathname);
      if (endpoint === "unknown") return { status: 404 };
      return faults.apply(state.options.faults?.[endpoint], exchange, () =>
        answerTo(state, received, url.pathname),
      );
    },
  });
  state.origin = listener.origin;
  for (const client of options.clients ?? []) addClient(state, client, "configured");
  return {
    issuer: state.issuer,
    url: listener.origin,
    received: listener.received,
    clients: state.clients,
    grants: state.grants,
    resources: state.resources,
    stats: state.stats,
    keys: [state.key.jwk],
    errors: listener.errors,
    set: (change) => {
      state.options = { ...state.options, ...change };
    },
    advance: (ms) => state.advance(ms),
    expireAccessTokens: () => {
      for (const token of state.tokens.values()) if (token.kind === "access") token.expiresMs = state.now();
    },
    rotateNonce: () => state.proofs.rotateNonce(),
    approveDevice: (userCode, user) => decideDevice(state, userCode, { user }),
    denyDevice: (userCode) => decideDevice(state, userCode, "denied"),
    idToken: (clientId, user) => createIdToken(state, clientId, user ?? state.users[0] ?? "nobody"),
    introspect: (accessToken) => introspect(state, accessToken),
    close: listener.close,
    [Symbol.asyncDispose]: listener.close,
  };
}
