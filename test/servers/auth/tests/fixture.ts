import { createHash, randomBytes } from "node:crypto";
import {
  Client,
  type OAuthClientInformationMixed,
  type OAuthClientProvider,
  type OAuthDiscoveryState,
  type OAuthTokens,
  StreamableHTTPClientTransport,
  UnauthorizedError,
} from "@modelcontextprotocol/client";
import { expect } from "vitest";
import type { Script } from "../../fake/index.ts";
import {
  type AuthOptions,
  type AuthServer,
  type Endpoint,
  GRANTS,
  type ProtectedMcp,
  type ProtectedOptions,
  startAuthServer,
  startProtectedMcp,
} from "../index.ts";

/** What to close after the test, last first. */
export const closing: (() => Promise<unknown>)[] = [];

export async function closeAll(): Promise<void> {
  for (const close of closing.splice(0).reverse()) await close();
}

export const CALLBACK = "http://127.0.0.1:4711/callback";
export type Json = Record<string, unknown>;

/** Everything in memory; where a browser would open, the address is kept. */
export class MemoryProvider implements OAuthClientProvider {
  redirectUrl = CALLBACK;
  clientMetadata = { client_name: "Test", redirect_uris: [CALLBACK], token_endpoint_auth_method: "none" };
  clientMetadataUrl?: string;
  client: OAuthClientInformationMixed | undefined;
  saved: OAuthTokens | undefined;
  opened: URL | undefined;
  #verifier = "";
  #discovery: OAuthDiscoveryState | undefined;

  state = (): string => "state-1";
  clientInformation = (): OAuthClientInformationMixed | undefined => this.client;
  saveClientInformation = (client: OAuthClientInformationMixed): void => void (this.client = client);
  tokens = (): OAuthTokens | undefined => this.saved;
  saveTokens = (tokens: OAuthTokens): void => void (this.saved = tokens);
  redirectToAuthorization = (url: URL): void => void (this.opened = url);
  saveCodeVerifier = (verifier: string): void => void (this.#verifier = verifier);
  codeVerifier = (): string => this.#verifier;
  saveDiscoveryState = (state: OAuthDiscoveryState): void => void (this.#discovery = state);
  discoveryState = (): OAuthDiscoveryState | undefined => this.#discovery;
}

export async function start(
  options: AuthOptions = {},
  protect: ProtectedOptions = {},
  script: Script = {},
): Promise<{ auth: AuthServer; server: ProtectedMcp }> {
  const auth = await startAuthServer({ autoConsent: true, ...options });
  const server = await startProtectedMcp(auth, script, protect);
  closing.push(async () => {
    await server.close();
    await auth.close();
    expect([...auth.errors, ...server.errors, ...server.mcp.errors]).toEqual([]);
  });
  return { auth, server };
}

export async function connect(
  server: ProtectedMcp,
  authProvider: OAuthClientProvider,
  mode: "legacy" | { pin: string } = "legacy",
): Promise<Client> {
  const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode } });
  await client.connect(new StreamableHTTPClientTransport(new URL(server.url), { authProvider }));
  closing.push(() => client.close());
  return client;
}

/** What a browser would come back with. */
export async function browse(url: URL): Promise<URLSearchParams> {
  const response = await fetch(url, { redirect: "manual" });
  expect(response.status).toBe(302);
  return new URL(response.headers.get("location") ?? "").searchParams;
}

export async function finish(server: ProtectedMcp, provider: MemoryProvider): Promise<URLSearchParams> {
  const back = await browse(provider.opened as URL);
  await new StreamableHTTPClientTransport(new URL(server.url), { authProvider: provider }).finishAuth(back);
  return back;
}

export async function logIn(
  server: ProtectedMcp,
  provider: MemoryProvider,
  mode?: { pin: string },
): Promise<Client> {
  await expect(connect(server, provider, mode)).rejects.toThrow(UnauthorizedError);
  await finish(server, provider);
  return connect(server, provider, mode);
}

export async function sum(client: Client): Promise<unknown> {
  return (await client.callTool({ name: "add", arguments: { a: 1, b: 2 } })).structuredContent;
}

export async function post(
  auth: AuthServer,
  path: string,
  form: Record<string, string>,
  init: RequestInit = {},
): Promise<{ status: number; body: Json }> {
  const response = await fetch(`${auth.issuer}/${path}`, {
    method: "POST",
    body: new URLSearchParams(form),
    ...init,
  });
  const text = await response.text();
  return { status: response.status, body: text === "" ? {} : (JSON.parse(text) as Json) };
}

export function at(auth: AuthServer, endpoint: Endpoint): AuthServer["received"] {
  return auth.received.filter((request) => request.endpoint === endpoint);
}

export const publicClient = { client_id: "cli", redirect_uris: [CALLBACK] };
export const verifier = randomBytes(32).toString("base64url");

/** An authorization URL by hand. */
export function ask(auth: AuthServer, change: Record<string, string | undefined> = {}): URL {
  const url = new URL(`${auth.issuer}/authorize`);
  const params = {
    response_type: "code",
    client_id: "cli",
    redirect_uri: CALLBACK,
    code_challenge: createHash("sha256").update(verifier).digest("base64url"),
    code_challenge_method: "S256",
    ...change,
  };
  for (const [name, value] of Object.entries(params))
    if (value !== undefined) url.searchParams.set(name, value);
  return url;
}

/** The whole authorization code flow by hand, with a public client. */
export async function tokensByHand(auth: AuthServer, change: Record<string, string> = {}): Promise<Json> {
  const code = (await browse(ask(auth, change))).get("code") ?? "";
  const form = {
    grant_type: GRANTS.code,
    client_id: "cli",
    code,
    code_verifier: verifier,
    redirect_uri: CALLBACK,
  };
  return (await post(auth, "token", form)).body;
}
