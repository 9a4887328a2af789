import type { Environment } from "../lib/folders.ts";
import { homeFolder } from "../lib/folders.ts";
import { isRecord } from "../lib/record.ts";
import { bareObject } from "./documents/document.ts";
import { checkBundles, mergeServers, refuseUntrustedWithoutAllowList } from "./merge.ts";
import type { LoadedConfig, ServerEntry } from "./model.ts";
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

/** A configuration written in code. It belongs to the program itself, so nothing in it needs to be trusted first. */
export interface ConfigLiteral extends Settings {
  servers: Record<string, ServerConfig | InProcess>;
  bundles?: Record<string, BundleConfig>;
}

export function fromLiteral<T extends { connect(transport: never): Promise<void> }>(
  { servers, ...rest }: ConfigLiteral,
  env: Environment,
  policy: ManagedPolicy,
  folder = process.cwd(),
): { loaded: LoadedConfig; inProcess: Map<string, T> } {
  const inProcess = new Map<string, T>();
  const written = bareObject();
  for (const [name, server] of Object.entries(servers)) {
    if (!isInProcess(server)) {
      written[name] = server;
      continue;
    }
    const { server: own, ...rest } = server;
    inProcess.set(name, own as T);
    // The schema requires a command or a URL; this placeholder stands for the server object.
    written[name] = { ...rest, command: "in-process" };
  }
  const parsed = checkConfig({ ...rest, mcpServers: written }, { scope: "override" });
  const source = {
    scope: "override" as const,
    state: "used" as const,
    parsed,
    baseDir: folder,
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
    judgeServer(entry, {
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
      projectRoot: folder,
    },
  };
}

function isInProcess(server: ServerConfig | InProcess): server is InProcess {
  return isRecord(server) && "server" in server;
}
