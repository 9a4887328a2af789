import { accessSync, constants, existsSync } from "node:fs";
import { delimiter, dirname, isAbsolute, join, resolve } from "node:path";
import { literalSecrets, shownWord, unpinnedPackage } from "../../config.ts";
import { isPlugboardError } from "../../index.ts";
import type { Diagnostic, ServerEntry, Workspace } from "../../config.ts";
import type { LoadedConfig } from "../../index.ts";
import { runtimeOf } from "../../lib/runtime.ts";
import { moveCommand } from "../plain-secrets.ts";
import { askedVariables } from "./asked-variables.ts";
import type { Finding } from "./finding.ts";

/**
 * Checks that need no server, no request and no expanded value. Skips the checks of programs and addresses if
 * `willConnect`, because connecting tests them.
 */
export async function examine(
  workspace: Workspace,
  config: LoadedConfig,
  willConnect: boolean,
): Promise<Finding[]> {
  const servers = [...config.servers.values()];
  const runtime = runtimeOf(process.versions);
  return [
    { level: "ok", about: "runtime", message: `${runtime.name} ${runtime.version}` },
    await examineState(workspace),
    ...(config.policy.broken === undefined
      ? []
      : [
          {
            level: "problem" as const,
            about: "policy",
            message: config.policy.broken,
            advice: "Ask the administrator of this machine.",
          },
        ]),
    ...(servers.length === 0
      ? [
          {
            level: "note" as const,
            about: "servers",
            message: "none configured",
            advice: "Run `plugboard add …` or `plugboard import`.",
          },
        ]
      : []),
    ...config.diagnostics.filter(({ server }) => server === undefined).map(fromDiagnostic),
    ...servers.flatMap((entry) => examineServer(entry, workspace, willConnect)),
    ...unpinnedFindings(config),
  ];
}

/** Opens the state if its folder exists: whether it can be used, only that tells. */
async function examineState(workspace: Workspace): Promise<Finding> {
  const found = stateFolder(workspace);
  if (found.level !== "ok" || !existsSync(dirname(workspace.stateFile))) return found;
  try {
    await workspace.store();
    return found;
  } catch (error) {
    if (!isPlugboardError(error, "store-unavailable")) throw error;
    const message = `${error.message}. Secrets, servers, logins and trust cannot be changed`;
    return { level: "problem", about: "state", message, advice: error.hint, code: error.code };
  }
}

function stateFolder({ stateFile }: Workspace): Finding {
  let folder = dirname(stateFile);
  while (!existsSync(folder) && dirname(folder) !== folder) folder = dirname(folder);
  try {
    accessSync(folder, constants.W_OK);
    if (existsSync(stateFile)) accessSync((folder = stateFile), constants.R_OK | constants.W_OK);
    return { level: "ok", about: "state", message: stateFile };
  } catch {
    return {
      level: "note",
      about: "state",
      message: `${folder} is not writable, so nothing is remembered, and secrets, servers and logins cannot be changed`,
      advice: "Make it writable, or set HOME or XDG_STATE_HOME to a folder you can write to.",
    };
  }
}

export function fromDiagnostic({ severity, file, line, path, message, suggestion }: Diagnostic): Finding {
  const place = [file, line].filter((part) => part !== undefined).join(":");
  const about = [place, path].filter(Boolean).join(" ") || "configuration";
  return {
    level: severity === "error" ? "problem" : "note",
    about,
    message,
    ...(suggestion ? { advice: suggestion } : {}),
  };
}

function examineServer(entry: ServerEntry, workspace: Workspace, willConnect: boolean): Finding[] {
  const { name, status, diagnostics, config } = entry;
  const found = diagnostics.map(fromDiagnostic);
  if (status.kind === "disabled") {
    if (status.reason === "invalid") return found;
    const level = status.reason === "off" || status.reason === "untrusted" ? "note" : "problem";
    found.push({ level, about: name, message: status.message, advice: status.hint });
    if (status.reason !== "missing-value") return found;
  }
  // Those in a project's file are diagnostics already.
  const secrets = entry.origin.scope === "project" ? [] : literalSecrets(name, entry.written);
  if (secrets.length > 0) {
    const labels = [...new Set(secrets.map(({ label }) => label))];
    found.push({
      level: "note",
      about: name,
      message: `${labels.join(", ")} ${labels.length === 1 ? "is a plain-text secret" : "are plain-text secrets"}`,
      advice: `Run \`${moveCommand(name)}\` to move ${labels.length === 1 ? "it" : "them"} to the vault.`,
    });
  }
  if (choosesIssuer(entry)) {
    found.push({
      level: "note",
      about: name,
      message:
        "its login sends configured credentials to the first authorization server that the server names",
      advice: "Set `oauth.issuer`, so that you decide where they go.",
    });
  }
  if (willConnect) return found;
  const asked = askedVariables(workspace, entry);
  if (asked)
    found.push({
      level: "note",
      about: name,
      message: `asked for ${asked.names.join(", ")} when it last ran`,
      advice: asked.advice,
    });
  const missing = missingProgram(entry, workspace);
  if (missing !== undefined) return [...found, missing];
  if (status.kind === "disabled") return found;
  return [
    ...found,
    { level: "ok", about: name, message: config?.url === undefined ? "program found" : "URL is valid" },
  ];
}

/** One line for all servers: it is the same advice for each of them. */
function unpinnedFindings({ servers, pins }: LoadedConfig): Finding[] {
  const unpinned = [...servers.values()].flatMap(({ name, status, config }) => {
    const { command = "", args = [] } = config ?? {};
    const isOff = status.kind === "disabled" && status.reason !== "missing-value";
    const pinned = pins?.get(name);
    // The lock names the version, and what a newer one changes is set aside.
    const isLocked =
      pinned !== undefined &&
      pinned.broken === undefined &&
      !["unknown", undefined].includes(pinned.package?.version);
    const fetched = isOff || isLocked ? undefined : unpinnedPackage([command, ...args]);
    return fetched === undefined ? [] : [`${name} (${shownWord(fetched)})`];
  });
  if (unpinned.length === 0) return [];
  const message = `not pinned to a version, so a newer one may run at any start: ${unpinned.join(", ")}`;
  return [{ level: "note", about: "packages", message }];
}

function missingProgram({ name, config, baseDir }: ServerEntry, { env }: Workspace): Finding | undefined {
  const { command } = config ?? {};
  if (command === undefined || command.includes("${")) return undefined;
  const isPath = command.includes("/") || isAbsolute(command);
  const folders = (env["PATH"] ?? "").split(delimiter).filter(Boolean);
  const candidates = isPath ? [resolve(baseDir, command)] : folders.map((folder) => join(folder, command));
  if (candidates.some(isExecutable)) return undefined;
  return {
    level: "problem",
    about: name,
    message: isPath
      ? `${shownWord(candidates.join(""))} does not exist or cannot be run`
      : `${shownWord(command)} was not found in PATH`,
    advice: isPath
      ? "Install the program there, or correct `command`."
      : "Install the program, write its full path, or set PATH in `env`.",
  };
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** True if the server itself decides which authorization server receives the configured credentials. */
function choosesIssuer({ config }: ServerEntry): boolean {
  const { clientSecret, privateKey, assertion, issuer } = config?.oauth ?? {};
  return issuer === undefined && [clientSecret, privateKey, assertion].some((one) => one !== undefined);
}
