import { defaultNaming } from "../../src/catalog/names.ts";
import { ScopeView } from "../../src/catalog/scope-view.ts";
import { ToolSearch } from "../../src/catalog/search.ts";
import { indexTools } from "../../src/catalog/tool-index.ts";
import type { LoadedConfig } from "../../src/config/model.ts";
import { connectionKey } from "../../src/servers/connection-key.ts";
import type { BenchTool } from "./sets.ts";

/**
 * Our search over a catalogue, below the hub, because a hub does not allow every server name that a catalogue has.
 * The tools are judged as in a catalog; those that it sets aside are not found.
 */
export async function ownSearch(tools: readonly BenchTool[]): Promise<(text: string) => Promise<string[]>> {
  const rules = { config: {}, naming: defaultNaming };
  const ids = new Map<object, string>();
  const lists = await Promise.all(
    [...Map.groupBy(tools, ({ server }) => server)].map(async ([server, own]) => {
      const entries = own.map(({ id, name, description, inputSchema }) => {
        const raw = { name, description, inputSchema };
        ids.set(raw, id);
        return raw;
      });
      const index = await indexTools(server, { entries, hashes: [] }, rules);
      return { key: connectionKey({ server }), index };
    }),
  );
  const config = { servers: new Map(), bundles: new Map() } as unknown as LoadedConfig;
  const view = new ScopeView(config, {}, undefined);
  const search = new ToolSearch();
  return async (text) => {
    const found = await search.search(search.wanted(text, {}), lists, view);
    return found.map(({ tool }) => ids.get(tool.raw) ?? "");
  };
}
