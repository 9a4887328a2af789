import { canonicalJson } from "../lib/canonical.ts";
import type { LoadedConfig, ServerEntry } from "./model.ts";

export interface ConfigDiff {
  added: string[];
  removed: string[];
  changed: { name: string; fields: string[] }[];
  /** Settings, bundles or the policy are different: servers may go on, but other rules hold for them. */
  rules: boolean;
}

/** What a reload has to touch. A change of status (trust, policy, a variable) counts, a change of line numbers does not. */
export function diffConfig(before: LoadedConfig, after: LoadedConfig): ConfigDiff {
  const added = [...after.servers.keys()].filter((name) => !before.servers.has(name));
  const removed = [...before.servers.keys()].filter((name) => !after.servers.has(name));
  const changed = [...after.servers.values()].flatMap((entry) => {
    const old = before.servers.get(entry.name);
    const fields = old ? changedFields(old, entry) : [];
    return fields.length > 0 ? [{ name: entry.name, fields }] : [];
  });
  return { added, removed, changed, rules: rulesOf(before) !== rulesOf(after) };
}

function rulesOf({ settings, bundles, policy }: LoadedConfig): string {
  return canonicalJson({
    settings,
    policy,
    bundles: [...bundles].map(([name, { config }]) => [name, config]),
  });
}

function changedFields(before: ServerEntry, after: ServerEntry): string[] {
  const old: Record<string, unknown> = { ...before.config, ...surroundings(before) };
  const now: Record<string, unknown> = { ...after.config, ...surroundings(after) };
  const names = new Set([...Object.keys(old), ...Object.keys(now)]);
  return [...names].filter((name) => canonicalJson(old[name]) !== canonicalJson(now[name])).sort();
}

/** What matters besides the fields that were written. */
function surroundings({ status, baseDir, variables }: ServerEntry) {
  return { "(status)": status, "(folder)": baseDir, "(variables)": variables };
}
