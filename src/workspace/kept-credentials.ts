import { listLogins } from "../auth/oauth/stored-logins.ts";
import type { StoredLogin } from "../auth/oauth/stored-logins.ts";
import { secretName } from "../auth/vault/secrets.ts";
import type { Vault, VaultPlace } from "../auth/vault/vault.ts";
import { secretNamesIn } from "../config/secret-names.ts";
import { parseTemplate } from "../config/template.ts";
import type { PlugboardError } from "../errors.ts";
import { isRecord } from "../lib/record.ts";
import { looksSecret } from "../lib/secret-words.ts";
import type { KnownEntry } from "./known-entries.ts";

/** Where a stored secret or login is used. */
export interface CredentialUse {
  file?: string | undefined;
  server?: string | undefined;
}

/** What the vault stores, and who uses it. Nothing in it is secret. */
export interface KeptCredentials {
  secrets: { name: string; setAt: number; place: VaultPlace; usedBy: CredentialUse[] }[];
  logins: (StoredLogin & { usedBy: CredentialUse[] })[];
  /** Records that cannot be read now. */
  problems: PlugboardError[];
}

export async function keptCredentials(
  vault: Vault,
  entries: readonly KnownEntry[],
  now: number,
): Promise<KeptCredentials> {
  const prefix = secretName("");
  const { entries: stored, problems } = await vault.list(prefix);
  const { logins } = await listLogins(vault, now);
  const uses = secretUses(entries);
  return {
    secrets: stored.map(({ name, setAt, place }) => {
      const plain = name.slice(prefix.length);
      return { name: plain, setAt, place, usedBy: uses.get(plain) ?? [] };
    }),
    logins: logins.map((login) => ({
      ...login,
      usedBy: distinct(entries.filter(({ written }) => usesLogin(written, login))),
    })),
    problems,
  };
}

/** Who refers to which secret, stored or not. */
export function secretUses(entries: readonly KnownEntry[]): Map<string, CredentialUse[]> {
  const uses = new Map<string, CredentialUse[]>();
  for (const entry of entries) {
    for (const name of secretNamesIn(entry.written))
      uses.set(name, distinct([...(uses.get(name) ?? []), entry]));
  }
  return uses;
}

/** True if the entry would use the login: same URL, client, grant and issuer. An unknown value counts as the same. */
function usesLogin(written: unknown, { key, url, issuer }: StoredLogin): boolean {
  if (typeof written === "string") return written.includes(url);
  if (!isRecord(written) || !fits(written["url"], url, bare) || hasOwnCredentials(written)) return false;
  const oauth = isRecord(written["oauth"]) ? written["oauth"] : {};
  const { clientId, grant, issuer: only } = oauth;
  if (!fits(clientId, key.clientId)) return false;
  if (grant !== key.machine?.split(" ")[0]) return false;
  return fits(only, key.onlyIssuer) || (key.onlyIssuer === undefined && fits(only, issuer));
}

function bare(address: string): string {
  const url = URL.parse(address);
  if (url) url.hash = "";
  return url?.href ?? address;
}

/** Compares a configured text, whose references may stand for anything, with a value. */
function fits(configured: unknown, value: string | undefined, normal = (text: string) => text): boolean {
  if (typeof configured !== "string" || value === undefined) return configured === value;
  const parts = parseTemplate(configured);
  if (parts.every((part) => typeof part === "string")) return normal(parts.join("")) === value;
  let at = 0;
  for (const [index, part] of parts.entries()) {
    if (typeof part !== "string") continue;
    const found = value.indexOf(part, at);
    if (found === -1 || (index === 0 && found !== 0)) return false;
    at = found + part.length;
  }
  return true;
}

/** True if the entry sends credentials of its own, so that no login is used. */
function hasOwnCredentials({ auth, headers, ...rest }: Record<string, unknown>): boolean {
  if (auth !== undefined) return auth !== "oauth";
  const names = [headers, rest["headersFromEnv"]].flatMap((one) => (isRecord(one) ? Object.keys(one) : []));
  const others = [rest["headersHelper"], rest["bearerTokenEnv"]];
  return names.some(looksSecret) || others.some((one) => one !== undefined);
}

function distinct(uses: readonly CredentialUse[]): CredentialUse[] {
  const seen = new Map(uses.map(({ file, server }) => [JSON.stringify([file, server]), { file, server }]));
  return [...seen.values()];
}
