import type { Hub } from "../../../index.ts";

/**
 * How many tools a server lists, before any filter, as the catalog has read them: one that cannot be used counts, and does
 * not make the others unusable. `isNew` asks the server, whatever is known of it.
 */
export async function countTools(hub: Hub, server: string, { isNew }: { isNew: boolean }): Promise<number> {
  const view = hub.view({ servers: [server] });
  if (isNew) await hub.refresh(server, { kinds: ["tools"] });
  else await view.allTools();
  const [state] = await view.listStates("tools");
  return state?.count ?? 0;
}
