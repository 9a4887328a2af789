import type { AuthorizationServerMetadata, FetchLike } from "@modelcontextprotocol/client";
import type { PlugboardError } from "../../errors.ts";
import type { Challenge } from "../challenge.ts";
import { authFailed, formFault, operatorHint, ourCause, ownTokenHint, shown } from "./errors.ts";
import type { OAuthConfig } from "./client.ts";
import { chosenResource, readResourceMetadata } from "./resource.ts";
import { allowsLocal, isSafeUrl, whyUnsafe } from "../../lib/safe-url.ts";

export interface Discovery {
  issuer: string;
  /** The URL whose metadata was used. */
  address: string;
  metadata: AuthorizationServerMetadata;
  /** What tokens are requested for; undefined if the configuration leaves it out. */
  resource: string | undefined;
  /** The scopes that the challenge asks for. */
  challenged: string[];
  /** The scopes that the server's metadata lists. */
  offered: string[];
  /** True if the server asks for tokens that are bound to a key and its authorization server can issue them. */
  wantsDpop: boolean;
  /** True if there is no metadata, so the endpoints are the defaults of protocol revision 2025-03-26. */
  isAssumed: boolean;
}

interface DiscoverySettings {
  server: string;
  url: URL;
  /** The only issuer that is accepted. */
  issuer: string | undefined;
  /** The issuer that was used before. It is preferred if the server names several. */
  known?: string | undefined;
  /** `oauth.resource` */
  resource?: OAuthConfig["resource"];
  fetch: FetchLike;
}

/** Finds the server's authorization server. Fetches only public documents, and checks each before using it. */
export async function discover(settings: DiscoverySettings, challenge: Challenge): Promise<Discovery> {
  const { server, url, issuer: pinned } = settings;
  const about = await readResourceMetadata(settings, challenge.resourceMetadataUrl);
  const address = chooseServer(settings, about?.servers ?? []);
  const described = await readMetadata(settings, address, about !== undefined);
  // Servers of the first revision announce no issuer; any issuer on their own origin is accepted.
  if (described && !about && pinned === undefined && URL.parse(described.issuer)?.origin !== url.origin)
    throw otherIssuer(server, url.origin, described.issuer);
  if (described === undefined && about !== undefined) throw noLogin(server, address);
  const announced = described ?? assumedMetadata(url.origin);
  if (pinned !== undefined && announced.issuer !== pinned)
    throw otherIssuer(server, pinned, announced.issuer);
  const own =
    pinned === undefined || pinned === address ? undefined : await readPinnedMetadata(settings, pinned);
  const metadata = own ?? announced;
  checkEndpoints(settings, metadata);
  return {
    issuer: metadata.issuer,
    address: own && pinned !== undefined ? pinned : address,
    metadata,
    resource: chosenResource(settings.resource, about?.resource ?? url.origin + url.pathname + url.search),
    challenged: challenge.scope?.split(/\s+/).filter(Boolean) ?? [],
    offered: about?.scopes ?? [],
    wantsDpop: Boolean(challenge.dpop || about?.dpop) && canBind(metadata),
    isAssumed: described === undefined,
  };
}

/** Servers of protocol revision 2025-03-26 may have their endpoints at fixed paths and no metadata. */
function assumedMetadata(origin: string): AuthorizationServerMetadata {
  return {
    issuer: origin,
    authorization_endpoint: `${origin}/authorize`,
    token_endpoint: `${origin}/token`,
    registration_endpoint: `${origin}/register`,
    response_types_supported: ["code"],
    code_challenge_methods_supported: ["S256"],
  };
}

function canBind(metadata: Record<string, unknown>): boolean {
  const algorithms = metadata["dpop_signing_alg_values_supported"];
  return Array.isArray(algorithms) && algorithms.includes("ES256");
}

/** The pinned or known authorization server if the server names it, otherwise the first one it names. */
function chooseServer({ server, url, issuer, known }: DiscoverySettings, named: string[]): string {
  const first = named[0] ?? issuer ?? url.origin;
  const address = named.find((one) => one === (issuer ?? known)) ?? first;
  const localAllowed = allowsLocal(url, issuer);
  if (isSafeUrl(address, localAllowed)) return address;
  const message = `"${server}" names the authorization server ${shown(address)} (authorization_servers), which ${whyUnsafe(address, localAllowed)}.`;
  throw authFailed(server, message, {
    data: { reason: "unsafe-address" },
    hint: isSafeUrl(address)
      ? "If you run that authorization server yourself, set `oauth.issuer` to exactly that name; otherwise do not."
      : operatorHint,
  });
}

/** The pinned issuer's own metadata; only if it has none is metadata from another address used for it. */
async function readPinnedMetadata(
  settings: DiscoverySettings,
  pinned: string,
): Promise<AuthorizationServerMetadata | undefined> {
  const metadata = await readMetadata(settings, pinned, true);
  return metadata?.issuer === pinned ? metadata : undefined;
}

async function readMetadata(
  { server, issuer, fetch }: DiscoverySettings,
  address: string,
  isAnnounced: boolean,
): Promise<AuthorizationServerMetadata | undefined> {
  const { discoverAuthorizationServerMetadata, IssuerMismatchError } =
    await import("@modelcontextprotocol/client");
  const statuses: number[] = [];
  const fetchFn: FetchLike = async (...request) => {
    const response = await fetch(...request);
    statuses.push(response.status);
    return response;
  };
  try {
    // With a pinned issuer, the caller compares with that one, which is stricter.
    const skipIssuerValidation = issuer !== undefined || !isAnnounced;
    const metadata = await discoverAuthorizationServerMetadata(address, { fetchFn, skipIssuerValidation });
    const wasRedirected = metadata === undefined && statuses.every((status) => status >= 300 && status < 400);
    if (wasRedirected) throw redirected(server, address, statuses[0]);
    return metadata;
  } catch (error) {
    if (error instanceof IssuerMismatchError)
      throw otherIssuer(server, error.expected ?? address, error.received);
    throw metadataFailed(server, address, error);
  }
}

function metadataFailed(server: string, address: string, error: unknown): PlugboardError {
  const ours = ourCause(error);
  if (ours) return ours;
  const [status] = error instanceof Error ? (/HTTP \d{3}/.exec(error.message) ?? []) : [];
  const what = status === undefined ? formFault(error) : `is not available (${status})`;
  const message = `The metadata of the authorization server ${shown(address)} of "${server}" ${what}.`;
  return authFailed(server, message, { data: { reason: "metadata" }, hint: operatorHint });
}

function redirected(server: string, address: string, status: number | undefined): PlugboardError {
  const message = `The authorization server ${shown(address)} of "${server}" redirects requests for its metadata (HTTP ${status}); the redirect was not followed.`;
  return authFailed(server, message, { data: { reason: "redirect" }, hint: operatorHint });
}

function otherIssuer(server: string, expected: string, received: string | undefined): PlugboardError {
  const is =
    received === undefined
      ? "does not name its issuer in its metadata"
      : `names a different issuer in its metadata: ${shown(received)}`;
  const message = `The authorization server ${shown(expected)} of "${server}" ${is}; nothing was sent to it.`;
  return authFailed(server, message, {
    data: { reason: "issuer", expected: shown(expected) },
    hint:
      received === undefined
        ? operatorHint
        : "If its operator confirms that this is correct, set `oauth.issuer` to exactly that name; otherwise do not.",
  });
}

const endpoints = [
  "authorization_endpoint",
  "token_endpoint",
  "registration_endpoint",
  "revocation_endpoint",
  "device_authorization_endpoint",
] as const;

function checkEndpoints(
  { server, url, issuer }: DiscoverySettings,
  metadata: AuthorizationServerMetadata,
): void {
  const localAllowed = allowsLocal(url, issuer);
  const all: Record<string, unknown> = metadata;
  for (const name of endpoints) {
    const address = all[name];
    if (address === undefined || (typeof address === "string" && isSafeUrl(address, localAllowed))) continue;
    const what =
      typeof address === "string"
        ? `${shown(address)}, which ${whyUnsafe(address, localAllowed)}`
        : "that is not a string";
    const message = `The authorization server ${shown(metadata.issuer)} of "${server}" has a ${name} ${what}.`;
    throw authFailed(server, message, {
      data: { reason: "unsafe-address", endpoint: name },
      hint: operatorHint,
    });
  }
}

function noLogin(server: string, address: string): PlugboardError {
  const message = `The authorization server ${shown(address)} of "${server}" has no metadata.`;
  return authFailed(server, message, { data: { reason: "no-login" }, hint: ownTokenHint });
}
