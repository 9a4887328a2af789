import { matchesGlob } from "../lib/glob.ts";
import { isRecord } from "../lib/record.ts";
import { nearest } from "../lib/suggest.ts";
import { formatPath } from "./documents/document.ts";
import type { Path } from "./documents/document.ts";
import { positionOf } from "./model.ts";
import type { BundleEntry, Diagnostic, LoadedConfig, ServerEntry } from "./model.ts";

/**
 * Patterns of servers and bundles that match no tool, which are probably misspelled: a tool that should be denied is
 * offered, or one that should be offered is not. `tools` are the names of each server's tools, as far as they are known.
 */
export function unmatchedPatterns(
  { servers, bundles }: LoadedConfig,
  tools: ReadonlyMap<string, readonly string[]>,
): Diagnostic[] {
  const ofServers = [...servers.values()].flatMap((entry) =>
    unmatched(entry, [entry.name], tools, {
      path: ["mcpServers", entry.name],
      about: { server: entry.name },
    }),
  );
  const ofBundles = [...bundles.values()].flatMap((entry) => {
    // A server that does not exist is a mistake of its own.
    const names = entry.config?.servers.filter((name) => servers.has(name)) ?? [];
    return unmatched(entry, names, tools, { path: ["bundles", entry.name], about: { bundle: entry.name } });
  });
  return [...ofServers, ...ofBundles];
}

function unmatched(
  { config, rules, origin }: Pick<ServerEntry | BundleEntry, "config" | "rules" | "origin">,
  names: readonly string[],
  tools: ReadonlyMap<string, readonly string[]>,
  { path, about }: { path: Path; about: { server: string } | { bundle: string } },
): Diagnostic[] {
  if (!config || names.length === 0 || !names.every((name) => tools.has(name))) return [];
  const known = names.flatMap((name) => tools.get(name) ?? []);
  const patterns = patternsOf(config).filter(({ glob }) => !known.some((tool) => matchesGlob(glob, tool)));
  return patterns.map(({ glob, inside }): Diagnostic => {
    const near = nearest(glob, known);
    return {
      severity: "warning",
      message: `"${glob}" matches no tool of ${names.join(", ")}`,
      suggestion: near === undefined ? "correct or remove it" : `did you mean "${near}"?`,
      path: formatPath([...path, ...inside]),
      ...about,
      ...positionOf(rules[formatPath(inside)] ?? origin),
    };
  });
}

/** The patterns for tools in the entry of a server or bundle, and the path of each. */
function patternsOf(config: NonNullable<(ServerEntry | BundleEntry)["config"]>) {
  const { tools = {} } = config;
  const { tools: modes, rules = [] } =
    "approval" in config && typeof config.approval === "object" ? config.approval : {};
  const fields: [Path, unknown][] = [
    ...Object.entries(tools).map(([field, rule]): [Path, unknown] => [["tools", field], rule]),
    [["approval", "tools"], modes],
    ...rules.map(({ tools: globs }, index): [Path, unknown] => [
      ["approval", "rules", index, "tools"],
      globs,
    ]),
    [["alwaysLoad"], "alwaysLoad" in config ? config.alwaysLoad : undefined],
  ];
  return fields.flatMap(([field, rule]) => {
    if (typeof rule === "string") return [{ glob: rule, inside: field }];
    if (Array.isArray(rule))
      return rule.map((glob, index) => ({ glob: String(glob), inside: [...field, index] }));
    return isRecord(rule) ? Object.keys(rule).map((glob) => ({ glob, inside: [...field, glob] })) : [];
  });
}
