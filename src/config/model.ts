import type { DisabledReason } from "../events.ts";
import { defined } from "../lib/record.ts";
import type { BundleConfig, Settings } from "./schema.ts";
import type { ServerConfig } from "./server-schema.ts";
import type { ServerPins } from "./lock/pins.ts";
import type { ManagedPolicy } from "./policy/policy.ts";

/** Where a value was configured, from the highest precedence to the lowest. */
export type Scope = "managed" | "override" | "inline" | "explicit" | "local" | "project" | "user" | "plugin";

/** Where something is written. */
export interface Origin {
  scope: Scope;
  file?: string;
  line?: number;
  column?: number;
}

/** File, line and column, without the scope. */
export function positionOf({ file, line, column }: Origin): Omit<Origin, "scope"> {
  return defined({ file, line, column });
}

/** A mistake or a warning, and where it is. */
export interface Diagnostic {
  severity: "error" | "warning";
  /** What is wrong. Never contains a configured value that might be secret. */
  message: string;
  /** What to write instead. */
  suggestion?: string;
  /** The path in the document, for example `mcpServers.files.args[0]`. */
  path: string;
  server?: string;
  bundle?: string;
  file?: string;
  line?: number;
  column?: number;
}

/** Whether a server may be used, and if not, why and what to do. */
export type ServerStatus =
  | { kind: "ready" }
  | { kind: "disabled"; reason: DisabledReason; message: string; hint: string };

/** One configured server: the entry that took precedence, and whether it can be used. */
export interface ServerEntry {
  name: string;
  /** Checked and unexpanded; absent when the entry has mistakes. */
  config?: ServerConfig;
  /** Exactly what was written, for trust and export. */
  written: unknown;
  origin: Origin;
  /** The line of each field that was written, by field name. */
  fields: Record<string, Origin>;
  /** The line of each rule about tools, by its path in the entry: `tools.deny[0]`. */
  rules: Record<string, Origin>;
  /** The folder that relative paths in this entry start from. */
  baseDir: string;
  /** Variables that exist only for this entry, such as PLUGIN_ROOT. */
  variables: Record<string, string>;
  /** True for entries from a project: they are not used until their exact content is trusted. */
  needsTrust: boolean;
  /** The scripts of the project that this entry runs, with the hashes that were trusted; checked again at every start. */
  trustedScripts?: Readonly<Record<string, string>>;
  status: ServerStatus;
  diagnostics: Diagnostic[];
  /** Entries of the same name that this one takes precedence over, highest first. */
  shadowed: ShadowedEntry[];
}

/** An entry that another one of the same name takes precedence over. */
export interface ShadowedEntry {
  origin: Origin;
  written: unknown;
}

/** One configured bundle: a named choice of servers and tools. */
export interface BundleEntry {
  name: string;
  /** `serverId` is merged into `servers`; absent when the bundle has mistakes. */
  config?: BundleConfig & { servers: string[] };
  origin: Origin;
  /** The line of each rule, by its path in the entry: `tools.deny[0]`. */
  rules: Record<string, Origin>;
  diagnostics: Diagnostic[];
}

/** One place that was searched for configuration. */
export interface Source {
  scope: Scope;
  file?: string;
  state: "used" | "missing" | "refused" | "untrusted-settings";
  /** Why it was refused. */
  reason?: string;
  /** It exists, but it cannot be read or parsed, so nothing in it is used. */
  isBroken?: true;
  /** A project's settings and bundles that are not trusted yet. */
  untrustedSettings?: Record<string, unknown>;
  /** The fingerprint under which its settings are trusted. */
  settingsMark?: string;
}

/** Everything that is configured for a folder and this user. Pass it to `createHub`. */
export interface LoadedConfig {
  servers: ReadonlyMap<string, ServerEntry>;
  bundles: ReadonlyMap<string, BundleEntry>;
  settings: Settings;
  settingOrigins: Readonly<Record<string, Origin>>;
  /** The line of each rule in `approval`, by its path: `approval.tools["delete_*"]`. */
  settingRules: Readonly<Record<string, Origin>>;
  policy: ManagedPolicy;
  diagnostics: readonly Diagnostic[];
  sources: readonly Source[];
  projectRoot: string;
  /** What lock files pin, by the name of the server. */
  pins?: ReadonlyMap<string, ServerPins> | undefined;
  /** The lock file of each server, whether it exists or not. */
  lockFiles?: ReadonlyMap<string, string> | undefined;
  /** Opens the workspace this was loaded from, so that `createHub` can use its store and secrets. */
  home?: ConfigHome | undefined;
}

/** Contains only functions, so that printing a configuration does not show the environment. */
export interface ConfigHome {
  open(): Promise<AsyncDisposable & { hubOptions(config: LoadedConfig): Promise<object> }>;
}
