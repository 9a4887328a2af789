import type { Environment, Folders } from "../lib/folders.ts";
import { platformFolders } from "../lib/folders.ts";
import { findProjectRoot } from "./discover.ts";
import { checkBundles, mergeServers, mergeSettings, refuseUntrustedWithoutAllowList } from "./merge.ts";
import type { Diagnostic, LoadedConfig, ServerEntry, Source } from "./model.ts";
import { readPlugin } from "./plugins.ts";
import { loadPolicy } from "./policy.ts";
import { readSources } from "./sources.ts";
import type { ReadSource } from "./sources.ts";
import { judgeServer } from "./usability.ts";
import { fingerprint, settingsFingerprint, trustNothing } from "./trust.ts";
import type { TrustCheck } from "./trust.ts";

export interface LoadOptions {
  cwd?: string | undefined;
  env?: Environment | undefined;
  /** Read only this file instead of searching for files. It is trusted because the caller named it. */
  path?: string | undefined;
  /** A configuration object that takes precedence over every file. */
  overrides?: unknown;
  trust?: TrustCheck | undefined;
  /** For tests, and for programs that keep state in other folders. */
  folders?: Folders | undefined;
}

/** Reads, checks and merges all configuration for a folder. It starts no server, sends no request and expands no reference. */
export async function loadConfig(options: LoadOptions = {}): Promise<LoadedConfig> {
  const { cwd = process.cwd(), env = process.env, trust = trustNothing } = options;
  const projectRoot = findProjectRoot(cwd);
  const folders = options.folders ?? platformFolders(env, projectRoot);
  const policy = await loadPolicy(folders.managed);
  const sources = await readSources({ ...options, cwd, env, folders, projectRoot });
  const trusted = await withTrustedSettings(sources, projectRoot, trust);
  const { settings, settingOrigins } = mergeSettings(trusted);
  const plugins = await Promise.all(
    (settings.plugins ?? []).map((folder) => {
      const named = settingOrigins["plugins"] ?? { scope: "override" as const };
      const source = trusted.find(({ file }) => file !== undefined && file === named.file);
      const { baseDir = cwd, needsTrust = false } = source ?? {};
      return readPlugin(folder, { ...named, needsTrust }, folders.home, baseDir);
    }),
  );
  const all = [...trusted, ...plugins];
  const merged = mergeServers(all, policy);
  const { bundles, diagnostics: aboutBundles } = checkBundles(
    all,
    new Map(merged.map((entry) => [entry.name, entry])),
  );
  refuseUntrustedWithoutAllowList(merged, all);
  const servers = new Map<string, ServerEntry>();
  for (const entry of merged) {
    const isTrusted = !entry.needsTrust || (await trust(fingerprint(entry, projectRoot)));
    servers.set(entry.name, judgeServer(entry, { policy, env, isTrusted }));
  }
  const ignored = folders.ignored.map((variable): Diagnostic => ({
    severity: "warning",
    message: `${variable} is ignored because it points into the project: a project must not choose these folders`,
    path: "",
  }));
  const diagnostics = [...ignored, ...all.flatMap((source) => source.parsed.diagnostics), ...aboutBundles];
  const clashes = [...servers.values()].flatMap((entry) =>
    entry.diagnostics.filter((one) => !diagnostics.includes(one)),
  );
  return {
    servers,
    bundles,
    settings,
    settingOrigins,
    policy,
    diagnostics: [...diagnostics, ...clashes],
    sources: all.map(toSource),
    projectRoot,
  };
}

/** Drops a project's settings and bundles until they are trusted: they could name plugins, proxies or a store. */
async function withTrustedSettings(
  sources: ReadSource[],
  projectRoot: string,
  trust: TrustCheck,
): Promise<ReadSource[]> {
  return Promise.all(
    sources.map(async (source) => {
      const { settings, bundles } = source.parsed;
      const hasOnlyServers = Object.keys(settings).length === 0 && bundles.length === 0;
      if (!source.needsTrust || hasOnlyServers || source.file === undefined) return source;
      if (await trust(settingsFingerprint(settingsOf(source), source.file, projectRoot))) return source;
      const parsed = { ...source.parsed, settings: {}, settingOrigins: {}, bundles: [] };
      return {
        ...source,
        parsed,
        state: "untrusted-settings" as const,
        untrustedSettings: settingsOf(source),
      };
    }),
  );
}

function settingsOf({ parsed }: ReadSource): Record<string, unknown> {
  const bundles = Object.fromEntries(parsed.bundles.map(({ name, config }) => [name, config ?? null]));
  return { ...parsed.settings, ...(parsed.bundles.length > 0 ? { bundles } : {}) };
}

function toSource({ scope, file, state, reason, untrustedSettings }: ReadSource): Source {
  return {
    scope,
    state,
    ...(file === undefined ? {} : { file }),
    ...(reason === undefined ? {} : { reason }),
    ...(untrustedSettings === undefined ? {} : { untrustedSettings }),
  };
}
