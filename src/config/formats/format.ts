import type { Path } from "../documents/document.ts";
import type { BundleConfig } from "../schema.ts";
import type { ServerConfig } from "../server-schema.ts";

/**
 * Another MCP client's configuration format. All functions are pure: the caller finds and parses the files, and
 * turns the result of `write` into text.
 */
export interface Format {
  /** Used on the command line: `plugboard import codex`. */
  id: string;
  title: string;
  syntax: "jsonc" | "toml" | "yaml";
  /** The client's configuration files. If two files have the same server, the later file takes precedence. */
  files(machine: Machine): FormatFile[];
  /** Accepts a parsed document of any shape and never throws: unusable entries are in `skipped`, with the reason. */
  read(document: unknown, context: ReadContext): ImportedFile;
  /** Returns a document with only these servers. */
  write?(servers: readonly NamedServer[]): WrittenFile;
  /** How servers are put into the client's existing file. */
  merging?: Merging;
}

/** How servers are put into a client's existing file. */
export interface Merging {
  /** Where this document has its servers, by name, or in a list. */
  container(document: Readonly<Record<string, unknown>>): Path;
  /** Set if they are in a list: the field of an entry that has its name. */
  nameField?: string;
  writeServer(server: NamedServer, document: Readonly<Record<string, unknown>>): WrittenServer;
  /** Values next to the servers that the written entries need, for example what VS Code has to prompt for. */
  around?(
    document: Readonly<Record<string, unknown>>,
    entries: Readonly<Record<string, unknown>>,
    servers: readonly NamedServer[],
  ): readonly { path: Path; value: unknown }[];
}

export interface WrittenServer {
  entry: Record<string, unknown>;
  notes: Note[];
}

export interface FormatFile {
  path: string;
  scope: "user" | "project";
  /** The file to write to if the client has several of this scope. */
  main?: true;
  /** If set, `path` is a folder, and every file in it with one of these extensions is read. */
  extensions?: readonly string[];
}

/** What tells where clients keep their files. */
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

/** Tells the user about a value that was not converted unchanged. Never contains a configured value that may be secret. */
export interface Note {
  kind: "translated" | "lost" | "needs-secret";
  /** Spelled as in the file that was read, for example `http_headers.X-Key`; for secrets in plain text, as in our configuration, where they should be replaced. */
  field: string;
  message: string;
}

export interface NamedServer {
  name: string;
  config: ServerConfig;
}

/** One server of another client's file, in our words. */
export interface ImportedServer extends NamedServer {
  notes: Note[];
  /** Set if the user's own file has this server for this project only; it takes precedence over the project's files. */
  local?: true;
  /** Set if it is for all projects and only this one switches it off; `enabled` is false then. */
  offHere?: true;
}

export interface Skipped {
  name: string;
  reason: string;
}

/** The servers and bundles of another client's file, in our words. */
export interface ImportedFile {
  servers: ImportedServer[];
  bundles?: Record<string, BundleConfig>;
  /** Notes about the file as a whole. */
  notes: Note[];
  skipped: Skipped[];
}

export interface WrittenFile {
  value: Record<string, unknown>;
  notes: (Note & { server: string })[];
}
