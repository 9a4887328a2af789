import { positionOf } from "./model.ts";
import type { Diagnostic } from "./model.ts";
import type { Settings } from "./schema.ts";
import type { ReadSource } from "./sources.ts";

/** What only the user's own configuration may say, with the reason. */
const ownOnly = {
  approvals: "a project cannot choose who approves calls",
  keepWarm: "a project cannot choose what stays running",
} satisfies Partial<Record<keyof Settings, string>>;

/** Drops what a project's file must not decide, whether it is trusted or not. */
export function withOwnSettings(source: ReadSource): ReadSource {
  if (!source.needsTrust) return source;
  return Object.entries(ownOnly).reduce(
    (rest, [name, why]) => without(rest, name as keyof typeof ownOnly, why),
    source,
  );
}

function without(source: ReadSource, name: keyof typeof ownOnly, why: string): ReadSource {
  const { parsed } = source;
  const { [name]: dropped, ...settings } = parsed.settings;
  if (dropped === undefined) return source;
  const { [name]: origin = { scope: source.scope }, ...settingOrigins } = parsed.settingOrigins;
  const diagnostic: Diagnostic = {
    severity: "warning",
    message: `ignored, because ${why}`,
    suggestion: `set \`${name}\` in your own configuration (user or local scope)`,
    path: name,
    ...positionOf(origin),
  };
  const diagnostics = [...parsed.diagnostics, diagnostic];
  return { ...source, parsed: { ...parsed, settings, settingOrigins, diagnostics } };
}
