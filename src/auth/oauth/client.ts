import { knownNeed } from "../known-needs.ts";
import type { FetchLike, OAuthClientMetadata } from "@modelcontextprotocol/client";
import type { ServerConfig } from "../../config/server-schema.ts";
import { PlugboardError } from "../../errors.ts";
import { isRecord } from "../../lib/record.ts";
import { version } from "../../lib/version.ts";
import type { Credentials } from "../credentials.ts";
import type { Discovery } from "./discovery.ts";
import { authFailed, explanation, ourCause, ownTokenHint, shown } from "./errors.ts";
import { shellWord } from "../../lib/argv.ts";
import type { LoginKey, OAuthClient } from "./record.ts";
import { isUnreadableRecord } from "../vault/error.ts";
import type { Vault } from "../vault/vault.ts";

export type OAuthConfig = NonNullable<ServerConfig["oauth"]>;

export interface ClientSettings {
  server: string;
  key: LoginKey;
  oauth: OAuthConfig;
  fetch: FetchLike;
  credentials: Credentials;
  now(): number;
}

export const deviceGrant = "urn:ietf:params:oauth:grant-type:device_code";

/** Chooses the OAuth client: the configured one, a client metadata document, or one registered now and stored per issuer. */
export async function chooseClient(
  settings: ClientSettings,
  found: Discovery,
  redirectUri: string,
): Promise<OAuthClient> {
  const { server, oauth, credentials } = settings;
  if (oauth.clientId !== undefined) {
    return {
      client_id: oauth.clientId,
      ...(oauth.clientSecret !== undefined && { client_secret: oauth.clientSecret }),
    };
  }
  if (oauth.clientMetadataUrl !== undefined && found.metadata.client_id_metadata_document_supported === true)
    return { client_id: documentUrl(server, oauth.clientMetadataUrl), token_endpoint_auth_method: "none" };
  const vault = await credentials.vault();
  const name = registrationName(settings.key, found.issuer);
  const known = parseRegistration(await getReadable(vault, name), settings.now());
  if (known?.redirectUri === redirectUri) return known.client;
  const client = await register(settings, found, redirectUri);
  await vault.set(name, { client, redirectUri });
  return client;
}

/** The port in the redirect URI of an earlier registration, to be reused if it is free. */
export async function knownPort(settings: ClientSettings, issuer: string): Promise<number | undefined> {
  const vault = await settings.credentials.vault();
  const name = registrationName(settings.key, issuer);
  const known = parseRegistration(await getReadable(vault, name), settings.now());
  return known && Number(new URL(known.redirectUri).port);
}

type Records = Awaited<ReturnType<Credentials["vault"]>>;

/** Returns undefined if the record cannot be opened: a new login does not need it and replaces it. */
async function getReadable(vault: Records, name: string): Promise<unknown> {
  try {
    return await vault.get(name);
  } catch (error) {
    if (isUnreadableRecord(error)) return undefined;
    throw error;
  }
}

/** Plugboard does not register a configured client; a registration stored under the same name belongs to another entry. */
export async function forgetRegistration(credentials: Credentials, key: LoginKey, issuer: string) {
  if (key.clientId !== undefined) return;
  await (await credentials.vault()).delete(registrationName(key, issuer));
}

/** Deletes the registrations with every issuer, for when the login's issuer is not known. */
export async function forgetRegistrations(credentials: Credentials, key: LoginKey): Promise<void> {
  if (key.clientId !== undefined) return;
  const vault: Records & Partial<Pick<Vault, "list">> = await credentials.vault();
  const prefix = registrationPrefix(key);
  const { entries = [] } = (await vault.list?.(prefix)) ?? {};
  const names = entries.map(({ name }) => name).filter((name) => !name.startsWith(`${prefix}registered|`));
  for (const name of names) if (name.endsWith(`|${key.profile}`)) await vault.delete(name);
}

function registrationPrefix({ url }: LoginKey): string {
  return `client/${url}|`;
}

function registrationName(key: LoginKey, issuer: string): string {
  return `${registrationPrefix(key)}${issuer}|${key.profile}`;
}

function parseRegistration(value: unknown, now: number) {
  if (!isRecord(value) || !isRecord(value["client"]) || typeof value["redirectUri"] !== "string") return;
  const { client_id: id, client_secret_expires_at: until } = value["client"];
  if (typeof id !== "string" || !URL.canParse(value["redirectUri"])) return;
  if (typeof until === "number" && until > 0 && until * 1000 <= now) return;
  return { client: value["client"] as unknown as OAuthClient, redirectUri: value["redirectUri"] };
}

function documentUrl(server: string, text: string): string {
  const url = URL.parse(text);
  if (url?.protocol === "https:" && url.pathname !== "/") return text;
  const message = `\`oauth.clientMetadataUrl\` of "${server}" must be an https URL with a path.`;
  throw new PlugboardError("config-invalid", message, { server });
}

async function register(
  settings: ClientSettings,
  found: Discovery,
  redirectUri: string,
): Promise<OAuthClient> {
  const { server, fetch } = settings;
  const { metadata, issuer } = found;
  if (metadata.registration_endpoint === undefined) throw cannotRegister(server, issuer, "");
  const supportsDevices = "device_authorization_endpoint" in metadata;
  const clientMetadata: OAuthClientMetadata = {
    client_name: "Plugboard",
    software_id: "plugboard",
    software_version: version,
    redirect_uris: [redirectUri],
    grant_types: ["authorization_code", "refresh_token", ...(supportsDevices ? [deviceGrant] : [])],
    response_types: ["code"],
    token_endpoint_auth_method: "none",
    application_type: "native",
  };
  const { registerClient } = await import("@modelcontextprotocol/client");
  try {
    const full = await registerClient(found.address, { metadata, clientMetadata, fetchFn: fetch });
    const { client_id, client_secret, client_secret_expires_at, token_endpoint_auth_method } = full;
    return {
      client_id,
      ...(client_secret !== undefined && { client_secret, client_secret_expires_at }),
      ...(token_endpoint_auth_method !== undefined && { token_endpoint_auth_method }),
    };
  } catch (error) {
    const ours = ourCause(error);
    if (ours) throw ours;
    if (found.isAssumed) throw offersNoLogin(server);
    throw cannotRegister(server, issuer, refusalOf(error));
  }
}

function refusalOf(error: unknown): string {
  if (!isRecord(error) || typeof error["status"] !== "number") return "its response is not valid";
  let why: unknown;
  try {
    why = (JSON.parse(String(error["body"])) as { error_description?: unknown } | null)?.error_description;
  } catch {
    why = undefined;
  }
  return `HTTP ${error["status"]}${typeof why === "string" ? `, ${explanation(why)}` : ""}`;
}

/** For servers without metadata whose default endpoints do not work either. */
function offersNoLogin(server: string): PlugboardError {
  const message = `"${server}" does not offer a login.`;
  return authFailed(server, message, { data: { reason: "no-login" }, hint: ownTokenHint });
}

/** True if Plugboard can get an OAuth client there without a person registering one. */
export function canBeClient(oauth: OAuthConfig, { metadata }: Discovery): boolean {
  const hasDocument =
    oauth.clientMetadataUrl !== undefined && metadata.client_id_metadata_document_supported === true;
  return oauth.clientId !== undefined || hasDocument || metadata.registration_endpoint !== undefined;
}

export function cannotRegister(server: string, issuer: string, why: string): PlugboardError {
  const how =
    why === "" ? "does not let clients register themselves" : `refused to register Plugboard (${why})`;
  const message = `The authorization server ${shown(issuer)} of "${server}" ${how}.`;
  return new PlugboardError("registration-required", message, {
    server,
    data: { issuer: shown(issuer) },
    hint:
      knownNeed(URL.parse(issuer)?.hostname ?? "") ??
      `Register a client there with the redirect URI http://127.0.0.1/callback, then set it: \`plugboard add ${shellWord(server)} <url> --client-id <id> --force\`. ${ownTokenHint}`,
  });
}
