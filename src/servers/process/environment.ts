import type { Environment } from "../../lib/folders.ts";
import { matchesAny } from "../../lib/glob.ts";
import { defaultPath } from "../../lib/program-path.ts";

/** Marks every process that a hub started, and their descendants, so that they can be found again. */
export const ownerVariable = "PLUGBOARD_OWNER";

/** Whoever has it can approve calls, so no server gets it by a pattern. */
const approvalVariable = "PLUGBOARD_APPROVAL_KEY";

const posixNames = ["HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER", "LANG", "LC_*", "TMPDIR", "TZ"];
const windowsNames = [
  "APPDATA",
  "COMSPEC",
  "HOMEDRIVE",
  "HOMEPATH",
  "LOCALAPPDATA",
  "PATH",
  "PATHEXT",
  "PROCESSOR_ARCHITECTURE",
  "PROGRAMFILES",
  "SYSTEMDRIVE",
  "SYSTEMROOT",
  "TEMP",
  "TMP",
  "USERNAME",
  "USERPROFILE",
];

export interface ServerEnvironment {
  /** Plugboard's own environment; only a few harmless variables are passed on. */
  parent: Environment;
  env?: Readonly<Record<string, string>> | undefined;
  inheritEnv?: readonly string[] | undefined;
  /** The value of the owner variable; nothing in `env` can change it. */
  owner: string;
  /** What else every server gets; nothing in `env` can change it. */
  marks?: Readonly<Record<string, string>> | undefined;
  platform?: NodeJS.Platform | undefined;
}

/** A server never gets our whole environment, which may contain credentials meant only for us. */
export function serverEnvironment(options: ServerEnvironment): Record<string, string> {
  const windows = (options.platform ?? process.platform) === "win32";
  const patterns = windows ? windowsNames : posixNames;
  const handedOn: Record<string, string> = windows ? {} : { PATH: defaultPath };
  for (const [name, value] of Object.entries(options.parent)) {
    // Exported shell functions are code, not settings.
    if (value === undefined || value.startsWith("()") || name === approvalVariable) continue;
    const known = matchesAny(patterns, windows ? name.toUpperCase() : name);
    if (known || matchesAny(options.inheritEnv ?? [], name)) handedOn[name] = value;
  }
  return { ...handedOn, ...options.env, ...options.marks, [ownerVariable]: options.owner };
}
