import { canonicalJson } from "../lib/canonical.ts";
import type { LoadedConfig, ServerEntry } from "./model.ts";

/** What differs between two configurations, by the names of servers. */
export interface ConfigDiff {
  added: string[];
  removed: string[];
  changed: { name: string; fields: string[] }[];
  /** True if settings, bundles, pins or the policy changed: servers can keep running, but under different rules. */
  rules: boolean;
}

/** Finds what a reload must update. A changed status (trust, policy, a variable) counts; a changed line number does not. */
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

function rulesOf({ settings, bundles, policy, pins }: LoadedConfig): string {
  return canonicalJson({
    pins: [...(pins ?? [])].map(([name, { file, stamp }]) => [name, file, stamp]),
    settings,
    policy,
    bundles: [...bundles].map(([name, { config }]) => [name, config]),
  });
}

function changedFields(before: ServerEntry, after: ServerEntry): string[] {
  const old: Record<string, unknown> = { ...before.config, ...entryContext(before) };
  const now: Record<string, unknown> = { ...after.config, ...entryContext(after) };
  const names = new Set([...Object.keys(old), ...Object.keys(now)]);
  return [...names].filter((name) => canonicalJson(old[name]) !== canonicalJson(now[name])).sort();
}

/** What else affects a server besides the fields in its entry. */
function entryContext({ status, baseDir, variables, trustedScripts }: ServerEntry) {
  return {
    "(status)": status,
    "(folder)": baseDir,
    "(variables)": variables,
    "(scripts)": trustedScripts,
  };
}
