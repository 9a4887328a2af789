import { z } from "zod";
import { sha256 } from "../lib/canonical.ts";
import type { ClientEdit } from "../config/wiring/client-edit.ts";
import type { Store } from "../store/store.ts";

const prefix = "client-edit/";
const texts = z.array(z.string());

const schema = z.object({
  client: z.string(),
  scope: z.enum(["user", "project"]),
  file: z.string(),
  entries: texts,
  marks: texts.optional(),
  steps: z.array(z.object({ at: z.number(), removed: z.string(), inserted: z.string(), entry: z.string() })),
  keys: texts,
  hash: z.string().optional(),
  created: texts.optional(),
  blank: z.string().optional(),
  containers: z.array(z.array(z.union([z.string(), z.number()]))),
});

/** What was written into clients' files. A record of an unknown shape, perhaps of another version, is passed over. */
export async function clientEdits(store: Store): Promise<ClientEdit[]> {
  const entries = await store.list(prefix);
  return entries.flatMap(({ value }) => {
    const { data } = schema.safeParse(value);
    return data ? [data as ClientEdit] : [];
  });
}

export async function keepClientEdit(store: Store, edit: ClientEdit): Promise<void> {
  await store.set(keyOf(edit), edit);
}

export async function forgetClientEdit(store: Store, edit: ClientEdit): Promise<void> {
  await store.delete(keyOf(edit));
}

function keyOf({ client, file }: ClientEdit): string {
  return `${prefix}${client}/${sha256(file).slice(0, 16)}`;
}
