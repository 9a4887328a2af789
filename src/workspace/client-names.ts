import type { ClientName } from "../config/sync/client-names.ts";
import { sha256 } from "../lib/canonical.ts";
import { isRecord } from "../lib/record.ts";
import type { Store } from "../store/store.ts";

const prefix = "client-name/";
/** More than anybody has; each comparison reads all of them. */
const maxNames = 5000;

/** What other clients' files call our servers, as imports and exports left it. */
export async function clientNames(store: Store): Promise<ClientName[]> {
  const entries = await store.list(prefix, { limit: maxNames });
  return entries.flatMap(({ value }) => {
    if (!isRecord(value)) return [];
    const { client, file, theirs, ours } = value;
    const texts = [client, file, theirs, ours];
    if (!texts.every((text) => typeof text === "string")) return [];
    return [{ client, file, theirs, ours } as ClientName];
  });
}

/** A name in a client's file stands for one server here, and the other way round: the latest counts. */
export async function keepClientNames(store: Store, names: readonly ClientName[]): Promise<void> {
  const known = await clientNames(store);
  for (const name of names) {
    const isSameFile = ({ client, file }: ClientName) => client === name.client && file === name.file;
    const before = known.filter((one) => isSameFile(one) && one.ours === name.ours);
    if (before.some((one) => one.theirs === name.theirs)) continue;
    for (const one of before) await store.delete(keyOf(one));
    await store.set(keyOf(name), { ...name });
  }
}

/** For a server that is removed: another one by its name is another server. */
export async function forgetClientNames(store: Store, ours: string): Promise<void> {
  for (const name of await clientNames(store)) if (name.ours === ours) await store.delete(keyOf(name));
}

function keyOf({ client, file, theirs }: ClientName): string {
  return `${prefix}${client}/${sha256(file).slice(0, 16)}/${sha256(theirs).slice(0, 16)}`;
}
