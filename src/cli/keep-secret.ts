import { secretName } from "../config.ts";
import { PlugboardError } from "../index.ts";
import type { Vault, VaultPlace } from "../config.ts";

/** Stores a value for `${secret:NAME}` and returns where its key is. Throws if the vault can only keep it in memory. */
export async function keepSecret(
  vault: Vault,
  name: string,
  value: string,
): Promise<Exclude<VaultPlace, "memory">> {
  const place = await vault.set(secretName(name), value);
  if (place !== "memory") return place;
  throw new PlugboardError("store-unavailable", "Could not save the secret.", {
    data: { reason: "unwritable", path: vault.path },
    hint: "Make the vault's folder writable, or set an environment variable with that name instead.",
  });
}
