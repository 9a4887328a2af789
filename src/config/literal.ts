import { PlugboardError } from "../errors.ts";
import type { Environment } from "../lib/folders.ts";
import { homeFolder } from "../lib/folders.ts";
import { printable } from "../lib/printable.ts";
import { isRecord } from "../lib/record.ts";
import { bareObject } from "./documents/document.ts";
import { checkBundles, mergeServers, refuseUntrustedWithoutAllowList } from "./merge.ts";
import type { Diagnostic, LoadedConfig, ServerEntry } from "./model.ts";
import { withInheritedEnv } from "./own-settings.ts";
import { checkConfig } from "./parse.ts";
import { noPolicy } from "./policy/policy.ts";
import type { ManagedPolicy } from "./policy/policy.ts";
import { nothingKnown } from "./policy/rules.ts";
import type { BundleConfig, Settings } from "./schema.ts";
import type { ServerConfig } from "./server-schema.ts";
import { withAbsolutePaths } from "./secret-files.ts";
import { judgeServer } from "./usability.ts";

/** A server that runs in this process: any object that can connect to a transport, plus the usual server options. */
export interface InProcess extends Omit<ServerConfig, "command" | "url" | "type"> {
  server: { connect(transport: never): Promise<void> };
}

/** A server as it is written in code. */
export type LiteralServer = ServerConfig | InProcess;

/**
 * A configuration written in code, like one in a file. It belongs to the program itself, so nothing in it needs to be
 * trusted first, and a mistake in it is thrown.
 */
export interface ConfigLiteral extends Settings {
  servers: Record<string, LiteralServer>;
  bundles?: Record<string, BundleConfig>;
}

/** The same with the name that files and other clients use. */
export interface FileLiteral extends Omit<ConfigLiteral, "servers"> {
  mcpServers: Record<string, LiteralServer>;
}

export function fromLiteral<T extends { connect(transport: never): Promise<void> }>(
  literal: ConfigLiteral | FileLiteral,
  env: Environment,
  policy: ManagedPolicy,
): { loaded: LoadedConfig; inProcess: Map<string, T> } {
  const inProcess = new Map<string, T>();
  const { servers, mcpServers, ...rest } = literal as Partial<ConfigLiteral & FileLiteral>;
  const containers = Object.entries({ mcpServers, servers }).flatMap(([key, container]) =>
    container === undefined ? [] : [[key, withoutObjects(container, inProcess)] as const],
  );
  const parsed = checkConfig({ ...rest, ...Object.fromEntries(containers) }, { scope: "override" });
  const source = {
    scope: "override" as const,
    state: "used" as const,
    parsed,
    baseDir: process.cwd(),
    needsTrust: false,
  };
  // The program decides which servers it has; the policy only takes some of them away.
  const merged = mergeServers([source], noPolicy);
  const { bundles, diagnostics } = checkBundles(
    [source],
    new Map(merged.map((entry) => [entry.name, entry])),
  );
  refuseUntrustedWithoutAllowList(merged, [source]);
  const known = nothingKnown();
  const entries = merged.map((entry): [string, ServerEntry] => [
    entry.name,
    judgeServer(withInheritedEnv(entry, parsed.settings), {
      policy,
      env,
      trust: { isTrusted: true, scripts: {} },
      isInProcess: inProcess.has(entry.name),
      known,
    }),
  ]);
  return {
    inProcess,
    loaded: {
      servers: new Map(entries),
      bundles,
      settings: parsed.settings.secrets
        ? withAbsolutePaths(parsed.settings, source.baseDir, homeFolder(env))
        : parsed.settings,
      settingOrigins: parsed.settingOrigins,
      settingRules: parsed.settingRules,
      policy,
      diagnostics: [...(policy.warnings ?? []), ...parsed.diagnostics, ...diagnostics],
      sources: [{ scope: "override", state: "used" }],
      projectRoot: process.cwd(),
    },
  };
}

/** Throws if a literal has mistakes. Names each where it stands: `mcpServers.files.comand`. */
export function assertNoMistakes({ servers, diagnostics }: LoadedConfig): void {
  const all = new Set([...diagnostics, ...[...servers.values()].flatMap((entry) => entry.diagnostics)]);
  const mistakes = [...all].filter(({ severity }) => severity === "error");
  const [first] = mistakes;
  if (!first) return;
  const shown = mistakes.slice(0, mostMistakes).map(mistakeText);
  const more = mistakes.length - shown.length;
  throw new PlugboardError(
    "config-invalid",
    `${shown.join(". ")}.${more > 0 ? ` There are ${more} more mistakes.` : ""}`,
    {
      ...(first.server !== undefined && { server: first.server }),
      data: { findings: mistakes },
      hint: "Correct the configuration that was passed in.",
    },
  );
}

const mostMistakes = 10;

function mistakeText({ path, message, suggestion }: Diagnostic): string {
  const text = `${path === "" ? "" : `${path}: `}${message}${suggestion ? `; ${suggestion}` : ""}`;
  return printable(text, { oneLine: true }).replace(/\.$/, "");
}

/** The objects of servers in this process go to `inProcess`. */
function withoutObjects<T>(container: Record<string, LiteralServer>, inProcess: Map<string, T>): unknown {
  // What is not an object is a mistake, which is found with all others.
  if (!isRecord(container)) return container;
  const written = bareObject();
  for (const [name, server] of Object.entries(container)) {
    if (!isInProcess(server)) {
      written[name] = server;
      continue;
    }
    const { server: own, ...rest } = server;
    inProcess.set(name, own as T);
    // The schema requires a command or a URL; this placeholder stands for the server object.
    written[name] = { ...rest, command: "in-process" };
  }
  return written;
}

function isInProcess(server: LiteralServer): server is InProcess {
  return isRecord(server) && "server" in server;
}
