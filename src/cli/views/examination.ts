import { accessSync, constants, existsSync } from "node:fs";
import { delimiter, dirname, isAbsolute, join, resolve } from "node:path";
import type { Diagnostic, LoadedConfig, ServerEntry, Workspace } from "../../index.ts";
import { looksSecret } from "../../lib/secret-words.ts";
import type { Finding } from "./finding.ts";
import { count } from "../terminal/print.ts";

/**
 * Checks that need no server, no request and no expanded value. Skips the checks of programs and addresses if
 * `willConnect`, because connecting tests them.
 */
export function examine(workspace: Workspace, config: LoadedConfig, willConnect: boolean): Finding[] {
  const servers = [...config.servers.values()];
  return [
    { level: "ok", about: "node", message: process.versions.node },
    stateFolder(workspace),
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
  ];
}

function stateFolder({ stateFile }: Workspace): Finding {
  let folder = dirname(stateFile);
  while (!existsSync(folder) && dirname(folder) !== folder) folder = dirname(folder);
  try {
    accessSync(folder, constants.W_OK);
    return { level: "ok", about: "state", message: stateFile };
  } catch {
    return {
      level: "note",
      about: "state",
      message: `${folder} is not writable, so nothing is remembered`,
      advice: "Set HOME or XDG_STATE_HOME to a folder you can write to.",
    };
  }
}

function fromDiagnostic({ severity, file, line, path, message, suggestion }: Diagnostic): Finding {
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
    const level = status.reason === "config" || status.reason === "untrusted" ? "note" : "problem";
    return status.reason === "invalid"
      ? found
      : [...found, { level, about: name, message: status.message, advice: status.hint }];
  }
  const secrets = literalSecrets(entry);
  if (secrets.length > 0) {
    found.push({
      level: "note",
      about: name,
      message: `${count(secrets.length, "possible secret")} in plain text: ${secrets.join(", ")}`,
      advice: "Use ${NAME} or ${secret:NAME} instead.",
    });
  }
  const unpinned = unpinnedPackage(entry);
  if (unpinned !== undefined) {
    found.push({
      level: "note",
      about: name,
      message: `${unpinned} is not pinned, so the newest version is downloaded`,
      advice: `Pin it, for example ${unpinned}@1.2.3.`,
    });
  }
  if (willConnect) return found;
  const missing = missingProgram(entry, workspace);
  if (missing !== undefined) return [...found, missing];
  return [
    ...found,
    {
      level: "ok",
      about: name,
      message: config?.url === undefined ? "program found" : "URL is valid",
    },
  ];
}

function missingProgram({ name, config, baseDir }: ServerEntry, { env }: Workspace): Finding | undefined {
  const { command } = config ?? {};
  if (command === undefined || command.includes("${")) return undefined;
  const isPath = command.includes("/") || isAbsolute(command);
  const folders = (env["PATH"] ?? "").split(delimiter).filter(Boolean);
  const candidates = isPath ? [resolve(baseDir, command)] : folders.map((folder) => join(folder, command));
  if (candidates.some(isExecutable)) return undefined;
  const where = isPath ? candidates.join("") : `PATH (${folders.join(", ")})`;
  return {
    level: "problem",
    about: name,
    message: `program "${command}" not found in ${where}`,
    advice: "Install it, or set `command` to its full path.",
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

function literalSecrets({ config }: ServerEntry): string[] {
  return (["env", "headers"] as const).flatMap((field) =>
    Object.entries(config?.[field] ?? {})
      .filter(([key, value]) => looksSecret(key) && !value.includes("${"))
      .map(([key]) => `${field}.${key}`),
  );
}

/** `npx -y some-package` runs the newest version, so it can change at any time. */
function unpinnedPackage({ config }: ServerEntry): string | undefined {
  const { command = "", args = [] } = config ?? {};
  if (!/(^|[/\\])(npx|bunx)(\.cmd)?$/.test(command)) return undefined;
  const name = args.find((word) => !word.startsWith("-"));
  if (name === undefined || name.includes("${") || /^[./]/.test(name)) return undefined;
  return /.@[^/]+$/.test(name) ? undefined : name;
}
