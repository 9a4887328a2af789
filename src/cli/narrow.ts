import type { LoadedConfig } from "../index.ts";

/** Only the named servers of a configuration; all of them when none is named. */
export function narrow(config: LoadedConfig, names: readonly string[]): LoadedConfig {
  if (names.length === 0) return config;
  const servers = new Map([...config.servers].filter(([name]) => names.includes(name)));
  return { ...config, servers };
}
