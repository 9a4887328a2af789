import { createHash } from "node:crypto";
import { PlugboardError } from "../../errors.ts";
import type { AuthEvent } from "../../events.ts";
import { isRecord } from "../../lib/record.ts";
import type { Credentials } from "../credentials.ts";
import { isUnreadableRecord } from "../vault/error.ts";
import type { OAuthConfig } from "./client.ts";
import type { Discovery } from "./discovery.ts";
import { authFailed, loginCommand, shown } from "./errors.ts";
import { defaultProfile } from "./record.ts";
import type { LoginKey } from "./record.ts";
import { readLogin } from "./token-refresh.ts";

/** Where the credentials of a login go: an issuer, and the origins of its endpoints that receive them. */
export interface KnownIssuer {
  issuer: string;
  /** Absent in records of older versions. */
  origins?: string[] | undefined;
  /** The configured credentials that it is known to receive, in words. Absent in records of older versions. */
  sends?: string[] | undefined;
}

/** An `IssuerChange` of `LoginWays`. */
export interface IssuerChange {
  server: string;
  from: string;
  to: string;
  endpoints: string[];
  sends: string[];
}

/** Asks whether to log in at another authorization server than before. */
export type AcceptIssuer = (change: IssuerChange, signal: AbortSignal) => boolean | Promise<boolean>;

export interface IssuerSettings {
  server: string;
  key: LoginKey;
  oauth: OAuthConfig;
  credentials: Credentials;
  now(): number;
  emit(event: AuthEvent): void;
}

/** The issuer that the credentials of an entry belong to. */
export interface Known {
  /** The first issuer that configured credentials were used with. */
  pinned?: KnownIssuer | undefined;
  /** Or else the issuer of the current login. */
  place?: KnownIssuer | undefined;
  /** Why it cannot be read now. */
  unreadable?: PlugboardError | undefined;
}

/** Reads where the credentials went before; empty before the first login. */
export async function knownIssuer(settings: IssuerSettings): Promise<Known> {
  try {
    const pinned = isConfigured(settings.oauth) ? await readPin(settings) : undefined;
    if (pinned) return { pinned, place: pinned };
  } catch (error) {
    if (isUnreadableRecord(error)) return { unreadable: error };
    throw error;
  }
  const login = await readLogin(settings).catch((error: unknown) => {
    // A new login replaces a record that cannot be opened.
    if (!isUnreadableRecord(error)) throw error;
    return undefined;
  });
  return login ? { place: { issuer: login.issuer, origins: originsOf(login.endpoints, receiving) } } : {};
}

/**
 * Runs before a login sends anything. Credentials go to one place: configured ones to the issuer that they were first
 * used with or that the configuration names, a person's to the issuer of their login. Another one has to be accepted.
 */
export async function settleIssuer(
  settings: IssuerSettings,
  found: Discovery,
  { pinned, place: before, unreadable }: Known,
  accept: (change: IssuerChange) => Promise<boolean>,
): Promise<void> {
  const { server, oauth, now, emit } = settings;
  // The configuration names this issuer, and the issuer itself names its endpoints. Another issuer on the same host may
  // be another tenant, so the whole address counts.
  const isNamed = oauth.issuer !== undefined && found.address === found.issuer;
  // Somebody else's document must not choose the page where a person logs in either.
  const isTheirs = oauth.issuer !== undefined && !isNamed && oauth.grant === undefined;
  const names = isTheirs ? [...receiving, ...visited] : receiving;
  const place = { issuer: found.issuer, origins: originsOf(found.metadata, names) };
  const sends = credentialsOf(oauth);
  if (!isNamed) {
    if (unreadable) throw unreadable;
    const known = oauth.issuer === undefined ? before : namedIssuer(oauth.issuer, before);
    if (known && !isWithin(place, known)) {
      const change = changeOf(settings, known, place);
      if (!(await accept(change))) throw notAccepted(settings, change);
    } else if (!receives(pinned, sends)) {
      const [issuer, endpoints] = [shownAddress(place.issuer), place.origins.map(shownAddress)];
      emit({ type: "issuer-chosen", server, issuer, endpoints, sends, at: now() });
    }
  }
  const isKept = pinned?.origins && isWithin(place, pinned) && receives(pinned, sends);
  if (isConfigured(oauth) && !unreadable && !isKept) await pin(settings, { ...place, sends }, pinned);
}

/** True if these credentials are known to go there, so that nobody has to be told. */
function receives(place: KnownIssuer | undefined, sends: readonly string[]): boolean {
  return sends.every((one) => place?.sends?.includes(one));
}

/** Somebody else's document cannot move the endpoints of a configured issuer to places that were not used before. */
function namedIssuer(issuer: string, before: KnownIssuer | undefined): KnownIssuer {
  return { issuer, origins: (before?.issuer === issuer ? before.origins : undefined) ?? [] };
}

/** Remembers the issuer. Two processes that use the credentials for the first time must not choose different ones. */
async function pin(settings: IssuerSettings, place: KnownIssuer, before: KnownIssuer | undefined) {
  const { credentials, oauth } = settings;
  // A machine login may be this process's own, and its pin with it.
  const orHere = oauth.grant !== undefined;
  await credentials.lock(pinLock(settings), async () => {
    const newest = await readPin(settings);
    const isChosen = oauth.issuer === undefined && newest && newest.issuer !== before?.issuer;
    if (isChosen && !isWithin(place, newest)) throw notAccepted(settings, changeOf(settings, newest, place));
    await (await credentials.vault()).set(pinName(settings), place, { orHere });
  });
}

/** Deletes what is remembered for the client of an entry that no longer exists. */
export async function forgetIssuer({ key, credentials }: Pick<IssuerSettings, "key" | "credentials">) {
  await (await credentials.vault()).delete(pinName({ key }));
}

/** True if the login uses credentials from the configuration, not only those that the login itself creates. */
function isConfigured({ clientId, grant }: OAuthConfig): boolean {
  return clientId !== undefined || grant !== undefined;
}

/** The configured credentials that the authorization server receives, in words. */
function credentialsOf({ clientId, clientSecret, privateKey, grant }: OAuthConfig): string[] {
  const own = privateKey === undefined ? "client secret" : "signature of the client's key";
  return [
    ...(clientId !== undefined && (clientSecret ?? privateKey) !== undefined ? [own] : []),
    ...(grant === "jwt-bearer" ? ["workload's token"] : []),
    ...(grant === "cross-app" ? ["identity provider's grant"] : []),
  ];
}

/** Endpoints that receive tokens, codes, secrets or assertions. */
const receiving = ["token_endpoint", "revocation_endpoint", "device_authorization_endpoint"];
const visited = ["authorization_endpoint", "registration_endpoint"];

function originsOf(endpoints: object, names: readonly string[]): string[] {
  const all = endpoints as Record<string, unknown>;
  const origins = names.flatMap((name) => URL.parse(String(all[name]))?.origin ?? []);
  return [...new Set(origins)].sort();
}

function isWithin(place: KnownIssuer, known: KnownIssuer): boolean {
  if (known.issuer !== place.issuer) return false;
  return known.origins === undefined || strangers(place, known).length === 0;
}

/** An issuer may always move an endpoint to its own origin. */
function strangers({ issuer, origins = [] }: KnownIssuer, known: KnownIssuer): string[] {
  const own = URL.parse(issuer)?.origin;
  return origins.filter((origin) => origin !== own && !known.origins?.includes(origin));
}

function changeOf({ server, oauth }: IssuerSettings, known: KnownIssuer, place: KnownIssuer): IssuerChange {
  const isMoved = known.issuer === place.issuer;
  const list = (addresses: readonly string[]) => addresses.map(shownAddress).join(" ");
  const endpoints = isMoved ? strangers(place, known) : (place.origins ?? []);
  return {
    server,
    from: isMoved && known.origins?.length ? list(known.origins) : shownAddress(known.issuer),
    to: isMoved ? list(endpoints) : shownAddress(place.issuer),
    endpoints: endpoints.map(shownAddress),
    sends: credentialsOf(oauth),
  };
}

/** The host is never cut, because its end says whose it is. */
function shownAddress(address: string): string {
  const url = URL.parse(address);
  if (!url) return shown(address);
  const hasPath = url.pathname !== "/" || address.endsWith("/");
  return url.origin + (hasPath ? shown(url.pathname + url.search) : "");
}

function notAccepted({ oauth, key }: IssuerSettings, { server, from, to }: IssuerChange): PlugboardError {
  const profile = key.profile === defaultProfile ? undefined : key.profile;
  const ask = `run \`${loginCommand(server, profile)}\` in a terminal and confirm it`;
  const name = oauth.issuer === undefined ? ", or set `oauth.issuer` to the new authorization server" : "";
  const message = `"${server}" wants the login at ${to} instead of ${from}; nothing was sent to ${to}.`;
  const hint = `If this is correct, ${ask}${name}.`;
  return authFailed(server, message, { data: { reason: "issuer-changed", from, to }, hint });
}

/** By URL and client, not by the assertion's subject, because that changes. */
function pinName({ key: { url, clientId = "" } }: Pick<IssuerSettings, "key">): string {
  return `client/${url}|registered|${clientId}`;
}

/** A hash, because lock names are stored in plain text and a URL may contain a key. */
function pinLock(settings: IssuerSettings): string {
  return `issuer/${createHash("sha256").update(pinName(settings)).digest("base64url")}`;
}

async function readPin(settings: IssuerSettings): Promise<KnownIssuer | undefined> {
  const { server, key, credentials } = settings;
  const vault = await credentials.vault();
  const value = await vault.get(pinName(settings)).catch((error: unknown) => {
    if (!isUnreadableRecord(error)) throw error;
    const whose = key.clientId === undefined ? "the login" : `your client ${shown(key.clientId)}`;
    const message = `The stored authorization server of ${whose} for "${server}" cannot be read now. ${error.message}`;
    const hint = `${error.hint} Or set \`oauth.issuer\`.`;
    throw new PlugboardError("store-unavailable", message, { server, data: error.data, hint, cause: error });
  });
  if (!isRecord(value) || typeof value["issuer"] !== "string") return undefined;
  const { issuer, origins, sends } = value;
  return { issuer, ...(isTexts(origins) && { origins }), ...(isTexts(sends) && { sends }) };
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((one) => typeof one === "string");
}
