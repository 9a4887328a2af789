import type { LoadedConfig, ServerEntry } from "../index.ts";

/** Only the named servers of a configuration (all of them when none is named), as one observer sees them. */
export function narrow(config: LoadedConfig, names: readonly string[]): LoadedConfig {
  const chosen = [...config.servers].filter(([name]) => names.length === 0 || names.includes(name));
  return { ...config, servers: new Map(chosen.map(([name, entry]) => [name, shared(entry)])) };
}

/** A server with a connection per call has none to look at between calls, so the observer keeps one. */
function shared(entry: ServerEntry): ServerEntry {
  return entry.config?.isolation === "call"
    ? { ...entry, config: { ...entry.config, isolation: "shared" } }
    : entry;
}
