import { PlugboardError, secretName } from "../index.ts";
import type { Vault, VaultPlace } from "../index.ts";

/** Keeps a value for `${secret:NAME}` and says where its key is. What would be forgotten with this process is an error. */
export async function keepSecret(
  vault: Vault,
  name: string,
  value: string,
): Promise<Exclude<VaultPlace, "memory">> {
  const place = await vault.set(secretName(name), value);
  if (place !== "memory") return place;
  throw new PlugboardError("store-unavailable", "The secret could not be kept.", {
    data: { reason: "unwritable", path: vault.path },
    hint: "Make the vault's folder writable, or put the value into the variable of that name instead.",
  });
}
