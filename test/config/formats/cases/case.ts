import type { BundleConfig } from "../../../../src/config/schema.ts";
import type { ServerConfig } from "../../../../src/config/server-schema.ts";

/** What a format is expected to make of its client's files. */
export interface FormatCase {
  id: string;
  fixtures: Fixture[];
  /** A document of this client with one server called `probe`. */
  document(entry: unknown): unknown;
  /** The least that makes an entry valid. */
  entry: Record<string, unknown>;
}

export interface Fixture {
  file: string;
  scope?: "user" | "project";
  servers: Record<string, ServerConfig>;
  /** Every note, as `server: kind field`; notes on the file have no server. */
  notes: string[];
  skipped?: string[];
  bundles?: Record<string, BundleConfig>;
}

export const mcpServers = (entry: unknown) => ({ mcpServers: { probe: entry } });

export function named(field: string, entry: unknown): unknown {
  return typeof entry === "object" && entry !== null ? { [field]: "probe", ...entry } : entry;
}
