import { PlugboardError } from "../errors.ts";
import { commandWords } from "../lib/argv.ts";
import { wrappedLauncher } from "../lib/package-launcher.ts";
import type { Launched } from "../lib/package-launcher.ts";
import { own } from "../lib/record.ts";
import { looksSecret } from "../lib/secret-words.ts";
import type { ServerConfig } from "../config/server-schema.ts";
import type { ServerProgram } from "./process/process-tree.ts";
import type { InProcessServer } from "./transports/memory.ts";

/** How to reach a server, with all values expanded. */
export type Target = StdioTarget | HttpTarget | { kind: "memory"; name: string; server: InProcessServer };

export interface StdioTarget {
  kind: "stdio";
  program: ServerProgram;
  /** The program downloads the server before it runs it, which can take a while the first time. */
  launcher?: Launched;
  maxLineBytes?: number;
}

/** How to reach a remote server. */
export interface HttpTarget {
  kind: "http" | "sse";
  url: URL;
  headers: Record<string, string>;
  network: NonNullable<ServerConfig["network"]>;
  credentials: TargetCredentials;
  /** Why the managed policy does not let a request go to another URL of the server; undefined if it does. */
  refuses?: (url: URL) => string | undefined;
  maxLineBytes?: number;
}

export type { ServerAuth } from "../auth/server-auth.ts";

/** Credentials beyond the configured headers. */
export type TargetCredentials =
  | { kind: "none" }
  | { kind: "login"; oauth: NonNullable<ServerConfig["oauth"]> }
  | HelperCredentials
  | { kind: "provider"; id: string };

/** A command that prints headers. */
export interface HelperCredentials {
  kind: "helper";
  command: readonly [string, ...string[]];
  cwd: string;
  /** Called before every run; fails if the command is no longer what was trusted. */
  assertTrusted?(): Promise<void>;
}

/** `env` is Plugboard's own environment, for headers taken from variables. */
export function toTarget(
  server: string,
  config: ServerConfig,
  baseDir: string,
  env: Readonly<Record<string, string | undefined>>,
): Target {
  const limits = config.maxLineBytes === undefined ? {} : { maxLineBytes: config.maxLineBytes };
  if (config.url !== undefined) {
    const url = URL.parse(config.url);
    if (!url) throw new PlugboardError("config-invalid", `The URL of "${server}" is not a URL.`, { server });
    const kind = config.type === "sse" ? "sse" : "http";
    const headers = headersOf(server, config, env);
    const credentials = credentialsOf(config, headers, baseDir);
    return { kind, url, headers, network: config.network ?? {}, credentials, ...limits };
  }
  if (config.command === undefined) {
    throw new PlugboardError("config-invalid", `"${server}" has neither a command nor a URL.`, { server });
  }
  const { command, args, env: own, inheritEnv, sandbox, cwd = baseDir } = config;
  const program: ServerProgram = { server, command, args, cwd, env: own, inheritEnv, sandbox };
  const launcher = wrappedLauncher([command, ...(args ?? [])]);
  return { kind: "stdio", program, ...(launcher && { launcher }), ...limits };
}

/** Configured headers are used as they are. A login is used if there are none, or if `auth` asks for one. */
function credentialsOf(
  { auth, oauth = {}, headersHelper }: ServerConfig,
  headers: Record<string, string>,
  cwd: string,
): TargetCredentials {
  if (auth === "oauth") return { kind: "login", oauth };
  if (auth !== undefined && auth !== "none") return { kind: "provider", id: auth };
  if (headersHelper !== undefined) {
    const [program, ...args] =
      typeof headersHelper === "string" ? commandWords(headersHelper) : headersHelper;
    if (program !== undefined) return { kind: "helper", command: [program, ...args], cwd };
  }
  if (auth === "none" || hasCredentials(headers)) return { kind: "none" };
  return { kind: "login", oauth };
}

function hasCredentials(headers: Record<string, string>): boolean {
  return Object.keys(headers).some(looksSecret);
}

function headersOf(
  server: string,
  config: ServerConfig,
  env: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  const headers: Record<string, string> = { ...config.headers };
  const fromEnv = { ...config.headersFromEnv };
  const missing = (name: string) =>
    new PlugboardError("value-missing", `Server "${server}" needs the variable ${name} for a header.`, {
      server,
      data: { variable: name },
    });
  for (const [header, name] of Object.entries(fromEnv)) {
    const value = own(env, name);
    if (value === undefined) throw missing(name);
    headers[header] = value;
  }
  if (config.bearerTokenEnv !== undefined) {
    const token = own(env, config.bearerTokenEnv);
    if (!token) throw missing(config.bearerTokenEnv);
    headers["Authorization"] = `Bearer ${token}`;
  }
  return headers;
}
