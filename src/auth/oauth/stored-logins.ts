import type { PlugboardError } from "../../errors.ts";
import { isPlugboardError } from "../../errors.ts";
import { isRecord } from "../../lib/record.ts";
import type { Vault } from "../vault/vault.ts";
import { describeLogin } from "./account.ts";
import type { Account } from "./account.ts";
import { keyOf, loginName, parseLogin } from "./record.ts";
import type { LoginKey } from "./record.ts";

/** A login in the vault, whether or not a server uses it. Contains no secrets. */
export interface StoredLogin extends Account {
  /** What it belongs to. */
  key: LoginKey;
  url: string;
  /** The name that the server had at the time of the login; absent in logins of older versions. */
  server?: string;
}

/** All logins that can be read, and the problems of the records that cannot. */
export async function listLogins(
  vault: Pick<Vault, "list" | "get">,
  now: number,
): Promise<{ logins: StoredLogin[]; problems: PlugboardError[] }> {
  const { entries, problems } = await vault.list("tokens/");
  const logins: StoredLogin[] = [];
  for (const { name } of entries) {
    try {
      const login = readStored(name, await vault.get(name), now);
      if (login) logins.push(login);
    } catch (error) {
      if (!isPlugboardError(error)) throw error;
      problems.push(error);
    }
  }
  return { logins, problems };
}

function readStored(name: string, value: unknown, now: number): StoredLogin | undefined {
  if (!isRecord(value)) return undefined;
  const key = keyOf(value as unknown as LoginKey);
  const login = parseLogin(value, key, undefined);
  if (!login || typeof key.url !== "string" || typeof key.profile !== "string" || loginName(key) !== name)
    return undefined;
  const { server, url } = login;
  return { ...describeLogin(login, now), key, url, ...(typeof server === "string" && { server }) };
}

/** The logins that a person means: by the name of a server, a URL, or an issuer. */
export function findLogins(logins: readonly StoredLogin[], named: string): StoredLogin[] {
  const byName = logins.filter(({ server }) => server === named);
  if (byName.length > 0) return byName;
  const plain = (address: string) =>
    (URL.parse(address)?.href ?? address).replace(/#.*$/, "").replace(/\/$/, "");
  const wanted = plain(named);
  const byUrl = logins.filter(({ url }) => plain(url) === wanted);
  if (byUrl.length > 0) return byUrl;
  return logins.filter(
    ({ issuer }) => plain(issuer) === wanted || URL.parse(issuer)?.host === named.toLowerCase(),
  );
}
