import type { DisabledReason } from "../events.ts";
import { defined } from "../lib/record.ts";
import type { BundleConfig, Settings } from "./schema.ts";
import type { ServerConfig } from "./server-schema.ts";
import type { ManagedPolicy } from "./policy.ts";

/** Where a value was said, from the highest precedence to the lowest; `managed` stands above all of them. */
export type Scope = "managed" | "override" | "inline" | "explicit" | "local" | "project" | "user" | "plugin";

export interface Origin {
  scope: Scope;
  file?: string;
  line?: number;
  column?: number;
}

/** Where something stands, without how it came to count. */
export function positionOf({ file, line, column }: Origin): Omit<Origin, "scope"> {
  return defined({ file, line, column });
}

export interface Diagnostic {
  severity: "error" | "warning";
  /** What is wrong, without any configured value that might be secret. */
  message: string;
  /** What to write instead. */
  suggestion?: string;
  /** The place in the document, for instance `mcpServers.files.args[0]`. */
  path: string;
  server?: string;
  bundle?: string;
  file?: string;
  line?: number;
  column?: number;
}

export type ServerStatus =
  | { kind: "ready" }
  | { kind: "disabled"; reason: DisabledReason; message: string; hint: string };

/** One server name as the configuration knows it: the entry that won, and why it may not be used. */
export interface ServerEntry {
  name: string;
  /** Checked and unexpanded; absent when the entry has mistakes. */
  config?: ServerConfig;
  /** Exactly what was written, for trust and export. */
  written: unknown;
  origin: Origin;
  /** The line of each field that was written, by field name. */
  fields: Record<string, Origin>;
  /** The folder that relative paths in this entry start from. */
  baseDir: string;
  /** Variables that exist only for this entry, such as PLUGIN_ROOT. */
  variables: Record<string, string>;
  /** True for entries that a project brings: they do nothing until their exact content is trusted. */
  needsTrust: boolean;
  status: ServerStatus;
  diagnostics: Diagnostic[];
  /** Entries of the same name that lost against this one, highest precedence first. */
  shadowed: ShadowedEntry[];
}

export interface ShadowedEntry {
  origin: Origin;
  written: unknown;
}

export interface BundleEntry {
  name: string;
  /** With `serverId` folded into `servers`; absent when the bundle has mistakes. */
  config?: BundleConfig & { servers: string[] };
  origin: Origin;
  diagnostics: Diagnostic[];
}

/** One place that was looked at. */
export interface Source {
  scope: Scope;
  file?: string;
  state: "used" | "missing" | "refused" | "untrusted-settings";
  /** Why it was refused. */
  reason?: string;
  /** A project's settings and bundles that wait for trust. */
  untrustedSettings?: Record<string, unknown>;
}

export interface LoadedConfig {
  servers: ReadonlyMap<string, ServerEntry>;
  bundles: ReadonlyMap<string, BundleEntry>;
  settings: Settings;
  settingOrigins: Readonly<Record<string, Origin>>;
  policy: ManagedPolicy;
  diagnostics: readonly Diagnostic[];
  sources: readonly Source[];
  projectRoot: string;
  /** Opens the workspace that it was loaded from, for whoever makes a hub of it. */
  home?: ConfigHome | undefined;
}

/** Functions only, so that printing a configuration shows nothing of the environment. */
export interface ConfigHome {
  open(): Promise<AsyncDisposable & { hubOptions(config: LoadedConfig): Promise<object> }>;
}
