import type { SecretSource } from "../../config/expand.ts";
import type { Environment } from "../../lib/folders.ts";
import type { Vault } from "./vault.ts";

const prefix = "secret/";

export function secretName(name: string): string {
  return prefix + name;
}

/** What `${secret:NAME}` can be set to by name; anything else would be hard to type there. */
export function isSecretName(name: string): boolean {
  return /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$/.test(name);
}

/**
 * `${secret:NAME}`: the vault, then the variable NAME. A secret that is in the vault and cannot be read is an error:
 * going on with the variable could mean another account.
 */
export function secretSource(vault: () => Promise<Vault>, env: Environment): SecretSource {
  return async (name) => {
    const value = await (await vault()).get(secretName(name));
    return typeof value === "string" ? value : env[name];
  };
}
