import { asideReason } from "../catalog/deep-entry.ts";
import { flagDefinitions } from "../catalog/flags/flags.ts";
import type { Definition, DefinitionFlag } from "../catalog/flags/definition.ts";
import { pinnedKinds, pinnedName } from "../config/lock/pins.ts";
import type { Engine } from "./engine.ts";

const kinds = { tools: "tool", prompts: "prompt", resourceTemplates: "resource template" } as const;

/** Flags in everything that is known of the hub's servers. Connects to none. */
export async function knownFlags(
  { catalog, servers, root }: Engine,
  isWanted?: (definition: Definition) => boolean,
): Promise<DefinitionFlag[]> {
  const introductions = await servers.introductions();
  const definitions = await Promise.all(
    catalog.serverNames(root).map(async (server) => {
      const lists = await Promise.all(
        pinnedKinds.map(async (kind) => {
          const list = await catalog.list(server, kind, root, { wait: false });
          const usable = (list?.entries ?? []).filter((entry) => asideReason(entry) === undefined);
          return usable.map((sent): Definition => {
            return { server, kind: kinds[kind], name: pinnedName(kind, sent), sent };
          });
        }),
      );
      const instructions = introductions.get(server)?.instructions;
      const said: Definition[] =
        instructions === undefined ? [] : [{ server, kind: "instructions", name: "", sent: instructions }];
      return [...said, ...lists.flat()];
    }),
  );
  return flagDefinitions(definitions.flat(), isWanted);
}
