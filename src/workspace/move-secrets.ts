import { secretName } from "../auth/vault/secrets.ts";
import type { Vault } from "../auth/vault/vault.ts";
import { literalSecrets, replaceLiteralSecrets } from "../config/literal-secrets.ts";
import type { SecretReplacement } from "../config/literal-secrets.ts";
import { PlugboardError } from "../errors.ts";
import type { CredentialUse } from "./kept-credentials.ts";

/** A secret that was moved from a file to the vault. */
export interface MovedSecret {
  field: string;
  /** The name of the secret, as in `${secret:NAME}`. */
  secret: string;
}

interface MoveSettings {
  server: string;
  file: string;
  /** The entry as written. */
  written: unknown;
  vault: Vault;
  /** Who refers to which secret. */
  uses: ReadonlyMap<string, readonly CredentialUse[]>;
}

/** Stores the secrets of an entry in the vault, and returns what to write instead. */
export async function storeLiteralSecrets(
  settings: MoveSettings,
): Promise<{ moved: MovedSecret[]; changes: SecretReplacement[] }> {
  const { server, written, vault } = settings;
  const found = literalSecrets(server, written);
  const names: string[] = [];
  for (const { name, value } of found) {
    const free = await freeSecretName(name, settings, value);
    const place = await vault.set(secretName(free), value);
    if (place === "memory") throw notStored(server, vault.path);
    names.push(free);
  }
  let next = 0;
  const changes = replaceLiteralSecrets(server, written, () => `\${secret:${names[next++]}}`);
  return { moved: found.map(({ field }, index) => ({ field, secret: names[index] ?? "" })), changes };
}

/** The name itself, or with a number if it stands for another value or is used by another entry. */
export async function freeSecretName(
  wanted: string,
  { server, file, vault, uses }: Pick<MoveSettings, "server" | "file" | "vault" | "uses">,
  value?: string,
): Promise<string> {
  const isOther = (use: CredentialUse) => use.server !== server || use.file !== file;
  for (let count = 1; ; count++) {
    const name = count === 1 ? wanted : `${wanted}_${count}`;
    const stored = await vault.get(secretName(name));
    const isSame = value !== undefined && stored === value;
    // Without a value, the caller is going to set or replace it.
    const isTaken = value !== undefined && stored !== undefined;
    if (isSame || (!isTaken && !uses.get(name)?.some(isOther))) return name;
  }
}

function notStored(server: string, path: string): PlugboardError {
  return new PlugboardError("store-unavailable", `The secrets of "${server}" could not be saved.`, {
    server,
    data: { reason: "unwritable", path },
    hint: "Make the vault's folder writable and try again. The configuration was not changed.",
  });
}
