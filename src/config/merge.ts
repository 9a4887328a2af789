import { nearest } from "../lib/suggest.ts";
import { formatPath } from "./documents/document.ts";
import { positionOf } from "./model.ts";
import type { BundleEntry, Diagnostic, Origin, ServerEntry } from "./model.ts";
import { checkConfig } from "./parse.ts";
import type { ParsedServer } from "./parse.ts";
import type { ManagedPolicy } from "./policy/policy.ts";
import type { Settings } from "./schema.ts";
import type { ReadSource } from "./sources.ts";

/** The first source that has a server wins with its whole entry; entries are never combined. The others are shadowed. */
export function mergeServers(sources: readonly ReadSource[], policy: ManagedPolicy): ServerEntry[] {
  const merged = new Map<string, ServerEntry>();
  const byFoldedName = new Map<string, string>();
  for (const { server, source } of allServers(sources, policy)) {
    const winner = merged.get(server.name);
    if (winner) {
      winner.shadowed.push({ origin: server.origin, written: server.written });
      continue;
    }
    const entry = toEntry(server, source);
    const folded = server.name.toLowerCase();
    const other = byFoldedName.get(folded);
    if (other !== undefined) refuseSimilarName(entry, other);
    else byFoldedName.set(folded, server.name);
    merged.set(server.name, entry);
  }
  return [...merged.values()];
}

type Pair = { server: ParsedServer; source: Pick<ReadSource, "baseDir" | "needsTrust" | "variables"> };

/** The servers of an exclusive policy come first. All others stay listed as refused, so that people see why. */
function allServers(sources: readonly ReadSource[], { exclusive, file }: ManagedPolicy): Pair[] {
  const managed: Pair[] = [];
  if (exclusive) {
    const parsed = checkConfig({ mcpServers: exclusive }, { scope: "managed", ...(file ? { file } : {}) });
    const source = { baseDir: "/", needsTrust: false };
    managed.push(...parsed.servers.map((server) => ({ server, source })));
  }
  return [
    ...managed,
    ...sources.flatMap((source) => source.parsed.servers.map((server) => ({ server, source }))),
  ];
}

function toEntry(server: ParsedServer, source: Pair["source"]): ServerEntry {
  return {
    ...server,
    baseDir: source.baseDir,
    variables: source.variables ?? {},
    needsTrust: source.needsTrust,
    status: { kind: "ready" },
    shadowed: [],
  };
}

function refuseSimilarName(entry: ServerEntry, other: string): void {
  refuse(entry, `the name differs from "${other}" only in upper/lower case`, "rename one of them");
}

/**
 * An untrusted server may offer only the tools in an allow list, so one without any allow list is refused. Returns the names
 * of those whose list is in a bundle that the user has not trusted yet, like the server: they wait for trust. `written`
 * are the sources with everything in them, `sources` those without what is not trusted.
 */
export function refuseUntrustedWithoutAllowList(
  entries: readonly ServerEntry[],
  sources: readonly ReadSource[],
  written: readonly ReadSource[] = sources,
): ReadonlySet<string> {
  const listed = serversWithAllowList(sources);
  const later = written === sources ? listed : serversWithAllowList(written);
  const waiting = new Set<string>();
  for (const entry of entries) {
    const { name, config, needsTrust } = entry;
    if (!config?.untrusted || config.tools?.allow || listed.has(name)) continue;
    if (needsTrust && later.has(name)) waiting.add(name);
    else refuse(entry, "an untrusted server needs an allow list", 'add "tools": { "allow": ["…"] }');
  }
  return waiting;
}

/** The servers for which a bundle has an allow list. Of bundles of one name the first counts. */
function serversWithAllowList(sources: readonly ReadSource[]): Set<string> {
  const bundles = new Map<string, BundleEntry["config"]>();
  for (const { name, config } of sources.flatMap((source) => source.parsed.bundles))
    if (!bundles.has(name)) bundles.set(name, config);
  return new Set([...bundles.values()].flatMap((bundle) => (bundle?.tools?.allow ? bundle.servers : [])));
}

function refuse(entry: ServerEntry, message: string, suggestion: string): void {
  delete entry.config;
  const about = { path: `mcpServers.${entry.name}`, server: entry.name, ...positionOf(entry.origin) };
  entry.diagnostics = [...entry.diagnostics, { severity: "error", message, suggestion, ...about }];
}

/** Merges the other top-level keys one by one; for each key, the first source that has it wins. */
export function mergeSettings(sources: readonly ReadSource[]): {
  settings: Settings;
  settingOrigins: Record<string, Origin>;
  settingRules: Record<string, Origin>;
} {
  const settings: Settings = {};
  const settingOrigins: Record<string, Origin> = {};
  for (const { parsed } of sources.toReversed()) {
    Object.assign(settings, parsed.settings);
    Object.assign(settingOrigins, parsed.settingOrigins);
  }
  const { settingRules = {} } =
    sources.find(({ parsed }) => parsed.settings.approval !== undefined)?.parsed ?? {};
  return { settings, settingOrigins, settingRules };
}

/** Merges bundles like servers, as whole entries, and checks them against the servers they name. */
export function checkBundles(sources: readonly ReadSource[], servers: Servers) {
  const bundles = new Map<string, BundleEntry>();
  const diagnostics: Diagnostic[] = [];
  for (const bundle of sources.flatMap((source) => source.parsed.bundles)) {
    if (bundles.has(bundle.name)) continue;
    const unknown = unknownServers(bundle, servers);
    const unlisted = withoutAllowList(bundle, servers);
    const found = [...unknown, ...unlisted];
    diagnostics.push(...found);
    const { config, ...rest } = bundle;
    // A server that is not there takes nothing away from the others of the bundle.
    const isUsable = config !== undefined && unlisted.length === 0;
    bundles.set(bundle.name, {
      ...rest,
      diagnostics: [...bundle.diagnostics, ...found],
      ...(isUsable ? { config } : {}),
    });
  }
  return { bundles, diagnostics };
}

type Servers = ReadonlyMap<string, ServerEntry>;

/** Each is compared with the names of all servers, and both lists may be long. */
const mostSuggestions = 50;

function unknownServers({ name, config, origin, rules }: BundleEntry, servers: Servers): Diagnostic[] {
  return (config?.servers ?? []).flatMap((server, index): Diagnostic[] => {
    if (servers.has(server)) return [];
    const inside = server === config?.serverId ? "serverId" : `servers[${index}]`;
    const near = index < mostSuggestions ? nearest(server, servers.keys()) : undefined;
    return [
      {
        severity: "error",
        path: `${formatPath(["bundles", name])}.${inside}`,
        bundle: name,
        message: `there is no server "${server}"`,
        suggestion: near === undefined ? "add it, or remove it from the bundle" : `did you mean "${near}"?`,
        ...positionOf(rules[inside] ?? origin),
      },
    ];
  });
}

function withoutAllowList({ name, config, origin }: BundleEntry, servers: Servers): Diagnostic[] {
  return (config?.servers ?? []).flatMap((server): Diagnostic[] => {
    const { untrusted, tools } = servers.get(server)?.config ?? {};
    if (!untrusted || tools?.allow || config?.tools?.allow) return [];
    return [
      {
        severity: "error",
        path: formatPath(["bundles", name]),
        bundle: name,
        message: `"${server}" is untrusted, so the bundle or the server needs an allow list`,
        suggestion: 'add "tools": { "allow": ["…"] }',
        ...positionOf(origin),
      },
    ];
  });
}
