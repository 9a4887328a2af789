import type { Diagnostic, ServerEntry } from "./model.ts";
import { positionOf } from "./model.ts";
import type { Settings } from "./schema.ts";
import type { ReadSource } from "./sources.ts";

/** Settings that only the user makes, and why a project cannot. */
const ownOnly = {
  approvals: "choose who approves calls",
  chat: "choose where your conversations and your key are sent",
  inheritEnv: "choose which of your variables all servers get",
  keepWarm: "choose what stays running",
  secrets: "choose where your secrets come from",
} as const;

/** Drops these settings of a project, trusted or not, with a warning. */
export function withOwnSettings(source: ReadSource): ReadSource {
  if (!source.needsTrust) return source;
  const { parsed } = source;
  const found = (Object.keys(ownOnly) as (keyof typeof ownOnly)[]).filter((key) => key in parsed.settings);
  const without = <T extends object>(record: T): T =>
    Object.fromEntries(
      Object.entries(record).filter(([key]) => !(found as readonly string[]).includes(key)),
    ) as T;
  const diagnostics = found.map((key): Diagnostic => ({
    severity: "warning",
    message: `ignored, because a project cannot ${ownOnly[key]}`,
    suggestion: `set \`${key}\` in your own configuration (user or local scope)`,
    path: key,
    ...positionOf(parsed.settingOrigins[key] ?? { scope: source.scope }),
  }));
  if (found.length === 0) return source;
  return {
    ...source,
    parsed: {
      ...parsed,
      settings: without(parsed.settings),
      settingOrigins: without(parsed.settingOrigins),
      diagnostics: [...parsed.diagnostics, ...diagnostics],
    },
  };
}

/** Adds the variables that all programs get to those that an entry names itself. */
export function withInheritedEnv(entry: ServerEntry, { inheritEnv = [] }: Settings): ServerEntry {
  const { config } = entry;
  if (inheritEnv.length === 0 || config?.command === undefined) return entry;
  const names = [...new Set([...(config.inheritEnv ?? []), ...inheritEnv])];
  return { ...entry, config: { ...config, inheritEnv: names } };
}
