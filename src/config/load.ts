import { joinArgv } from "../lib/argv.ts";
import type { Environment, Folders } from "../lib/folders.ts";
import { platformFolders } from "../lib/folders.ts";
import { defined } from "../lib/record.ts";
import { findProjectRoot } from "./discover.ts";
import { withInheritedEnv, withOwnSettings } from "./own-settings.ts";
import { checkBundles, mergeServers, mergeSettings, refuseUntrustedWithoutAllowList } from "./merge.ts";
import { literalSecrets } from "./literal-secrets.ts";
import { loadPins } from "./lock/load-pins.ts";
import { positionOf } from "./model.ts";
import type { Diagnostic, LoadedConfig, ServerEntry, Source } from "./model.ts";
import { readPlugin } from "./plugins.ts";
import { loadPolicy } from "./policy/policy.ts";
import { nothingKnown } from "./policy/rules.ts";
import { checkSecretFiles, withSecretPaths } from "./secret-files.ts";
import { readSources } from "./sources.ts";
import type { ReadSource } from "./sources.ts";
import { judgeServer } from "./usability.ts";
import type { ContentHash } from "./trust/content-hash.ts";
import { fingerprint, settingsFingerprint, trustNothing } from "./trust/fingerprint.ts";
import type { TrustedContents } from "./trust/fingerprint.ts";
import { judgeTrust } from "./trust/judge.ts";
import { findScripts } from "./trust/scripts.ts";

export interface LoadOptions {
  cwd?: string | undefined;
  env?: Environment | undefined;
  /** Read only this file instead of searching for files. It is trusted because the caller named it. */
  path?: string | undefined;
  /** A named file that does not exist counts as empty instead of being an error: for what is going to create it. */
  allowMissing?: boolean | undefined;
  /** A configuration object that takes precedence over every file. */
  overrides?: unknown;
  trust?: TrustedContents | undefined;
  /** For tests, and for programs that keep state in other folders. */
  folders?: Folders | undefined;
}

/** Reads, checks and merges all configuration for a folder. It starts no server, sends no request and expands no reference. */
export async function loadConfig(options: LoadOptions = {}): Promise<LoadedConfig> {
  const { cwd = process.cwd(), env = process.env, trust = trustNothing } = options;
  const projectRoot = findProjectRoot(cwd);
  const folders = options.folders ?? platformFolders(env, projectRoot);
  const policy = await loadPolicy(folders.managed);
  const read = await readSources({ ...options, cwd, env, folders, projectRoot });
  const sources = read.map((source) => withSecretPaths(withOwnSettings(source), folders.home));
  const trusted = await withTrustedSettings(sources, projectRoot, trust);
  const { settings, settingOrigins, settingRules } = mergeSettings(trusted);
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
  const waitsForList = refuseUntrustedWithoutAllowList(merged, all, [...sources, ...plugins]);
  const servers = new Map<string, ServerEntry>();
  const hashes = new Map<string, Promise<ContentHash>>();
  const knownToPolicy = nothingKnown();
  for (const entry of merged) {
    const verdict = entry.needsTrust
      ? await judgeTrust(await trust(fingerprint(entry, projectRoot)), () =>
          findScripts(entry, { projectRoot, env, home: folders.home, hashes }),
        )
      : { isTrusted: true as const, scripts: {} };
    // Without its bundle it would have no allow list, however much it is trusted by itself.
    const waits = verdict.isTrusted && waitsForList.has(entry.name);
    const trusts = waits ? { isTrusted: false as const, why: untrustedList } : verdict;
    const { diagnostics: own } = entry;
    const inheriting = withInheritedEnv(entry, settings);
    const warned = { ...inheriting, diagnostics: [...own, ...plainSecretWarnings(entry)] };
    servers.set(entry.name, judgeServer(warned, { policy, env, trust: trusts, known: knownToPolicy }));
  }
  const { pins, lockFiles, diagnostics: aboutLocks } = await loadPins(servers.values(), projectRoot, folders);
  const ignored = folders.ignored.map((variable): Diagnostic => ({
    severity: "warning",
    message: `${variable} is ignored because it points into the project: a project must not choose these folders`,
    path: "",
  }));
  const diagnostics = [
    ...ignored,
    ...(policy.warnings ?? []),
    ...all.flatMap((source) => source.parsed.diagnostics),
    ...(await checkSecretFiles(settings, settingOrigins["secrets"])),
    ...aboutBundles,
    ...aboutLocks,
  ];
  const known = new Set(diagnostics);
  const clashes = [...servers.values()].flatMap((entry) =>
    entry.diagnostics.filter((one) => !known.has(one)),
  );
  return {
    servers,
    bundles,
    settings,
    settingOrigins,
    settingRules,
    policy,
    diagnostics: [...diagnostics, ...clashes],
    sources: all.map(toSource),
    projectRoot,
    pins,
    lockFiles,
  };
}

const untrustedList = "its allow list is in a bundle of this project that is not trusted yet";

/** A project's file is shared with everybody who has the project. */
function plainSecretWarnings({ name, origin, written, fields }: ServerEntry): Diagnostic[] {
  if (origin.scope !== "project") return [];
  return literalSecrets(name, written).map(({ field, label }) => ({
    severity: "warning",
    server: name,
    path: `mcpServers.${name}.${field}`,
    message: `${label} seems to be a secret in plain text, in a file that others may read`,
    suggestion: `run \`${joinArgv(["plugboard", "secret", "move", name])}\``,
    ...positionOf(fields[field.split(/[.[]/)[0] ?? ""] ?? origin),
  }));
}

/** Drops a project's settings and bundles until they are trusted: they could name plugins, proxies or a store. */
async function withTrustedSettings(
  sources: ReadSource[],
  projectRoot: string,
  trust: TrustedContents,
): Promise<ReadSource[]> {
  return Promise.all(
    sources.map(async (source) => {
      const { settings, bundles } = source.parsed;
      const hasOnlyServers = Object.keys(settings).length === 0 && bundles.length === 0;
      if (!source.needsTrust || hasOnlyServers || source.file === undefined) return source;
      const mark = settingsFingerprint(settingsOf(source), source.file, projectRoot);
      if ((await trust(mark)).length > 0) return { ...source, settingsMark: mark };
      const parsed = { ...source.parsed, settings: {}, settingOrigins: {}, settingRules: {}, bundles: [] };
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

function toSource({ parsed, scope, file, state, ...source }: ReadSource): Source {
  const { reason, untrustedSettings, settingsMark } = source;
  const isBroken = parsed.readable ? undefined : (true as const);
  return { scope, state, ...defined({ file, reason, isBroken, untrustedSettings, settingsMark }) };
}
