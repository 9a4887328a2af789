import { PlugboardError, nearest } from "../index.ts";
import type { LoadedConfig, ServerEntry } from "../index.ts";

/** The server of that name, or an error that names the nearest one. */
export function knownServer({ servers }: LoadedConfig, name: string): ServerEntry {
  const entry = servers.get(name);
  if (entry) return entry;
  const near = nearest(name, servers.keys());
  throw new PlugboardError("server-unknown", `There is no server "${name}".`, {
    server: name,
    ...(near !== undefined && { hint: `Did you mean "${near}"?` }),
  });
}
