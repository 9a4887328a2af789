import { positionOf } from "./model.ts";
import type { Diagnostic } from "./model.ts";
import type { ReadSource } from "./sources.ts";

/** Settings that a project cannot make, trusted or not, and what they would let it do. */
const own = {
  approvals: "a project cannot choose who approves calls",
  chat: "a project cannot choose where your conversations and your key are sent",
} as const;

/** Drops what only the user may set from the settings of a project. */
export function withOwnSettings(source: ReadSource): ReadSource {
  if (!source.needsTrust) return source;
  return Object.entries(own).reduce(
    (rest, [key, because]) => without(rest, key as keyof typeof own, because),
    source,
  );
}

function without(source: ReadSource, key: keyof typeof own, because: string): ReadSource {
  const { parsed } = source;
  const { [key]: dropped, ...settings } = parsed.settings;
  if (dropped === undefined) return source;
  const { [key]: origin = { scope: source.scope }, ...settingOrigins } = parsed.settingOrigins;
  const diagnostic: Diagnostic = {
    severity: "warning",
    message: `ignored, because ${because}`,
    suggestion: `set \`${key}\` in your own configuration (user or local scope)`,
    path: key,
    ...positionOf(origin),
  };
  const diagnostics = [...parsed.diagnostics, diagnostic];
  return { ...source, parsed: { ...parsed, settings, settingOrigins, diagnostics } };
}
