import type { SecretSource } from "../../config/expand.ts";
import type { Environment } from "../../lib/folders.ts";
import { own } from "../../lib/record.ts";
import type { Vault } from "./vault.ts";

const prefix = "secret/";

/** The vault's name of a secret: `secret/NAME`. */
export function secretName(name: string): string {
  return prefix + name;
}

/** Valid names for `${secret:NAME}`. */
export function isSecretName(name: string): boolean {
  return /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$/.test(name);
}

/**
 * Looks up `${secret:NAME}` in the vault, then in the variable NAME. A secret that is in the vault but cannot be read
 * is an error, because the variable could belong to another account.
 */
export function secretSource(vault: () => Promise<Vault>, env: Environment): SecretSource {
  return async (name) => {
    const value = await (await vault()).get(secretName(name));
    return typeof value === "string" ? value : own(env, name);
  };
}
