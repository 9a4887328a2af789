import type { BundleConfig } from "../schema.ts";
import type { ServerConfig } from "../server-schema.ts";

/**
 * One other MCP client's way of writing servers down. Everything here is pure: the caller finds and parses the
 * files, and turns what `write` answers into text.
 */
export interface Format {
  /** What a person types: `plugboard import codex`. */
  id: string;
  title: string;
  syntax: "jsonc" | "toml" | "yaml";
  /** Where that client keeps its files; of two files that name the same server, the later one is closer to the user's work and wins. */
  files(machine: Machine): FormatFile[];
  /** Takes a parsed document of any shape and never throws: what cannot be used is in `skipped`, with the reason. */
  read(document: unknown, context: ReadContext): ImportedFile;
  /** A document with just these servers, to be merged into whatever the client's file holds already. */
  write?(servers: readonly NamedServer[]): WrittenFile;
}

export interface FormatFile {
  path: string;
  scope: "user" | "project";
  /** `path` is a folder, and every file in it with one of these extensions is read. */
  extensions?: readonly string[];
}

export interface Machine {
  home: string;
  platform: NodeJS.Platform;
  env: Readonly<Record<string, string | undefined>>;
  projectRoot: string;
}

export interface ReadContext {
  projectRoot: string;
  home: string;
  scope: "user" | "project";
  file: string;
}

/** What a person should know about a value that did not come over as it was. Never holds a configured value that may be secret. */
export interface Note {
  kind: "translated" | "lost" | "needs-secret";
  /** As the file that was read spells it, for instance `http_headers.X-Key`; secrets in plain text go by our spelling, where they are to be replaced. */
  field: string;
  message: string;
}

export interface NamedServer {
  name: string;
  config: ServerConfig;
}

export interface ImportedServer extends NamedServer {
  notes: Note[];
  /** Said for this project alone in the user's own file: closer than any file of the project. */
  local?: true;
}

export interface Skipped {
  name: string;
  reason: string;
}

export interface ImportedFile {
  servers: ImportedServer[];
  bundles?: Record<string, BundleConfig>;
  /** About the file as a whole. */
  notes: Note[];
  skipped: Skipped[];
}

export interface WrittenFile {
  value: Record<string, unknown>;
  notes: (Note & { server: string })[];
}
