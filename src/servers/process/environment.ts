import type { Environment } from "../../lib/folders.ts";
import { matchesAny } from "../../lib/glob.ts";

/** The variable by which everything a hub started, and everything that started in turn, is found again. */
export const ownerVariable = "PLUGBOARD_OWNER";

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
  /** Plugboard's own environment; only a few harmless variables of it are handed on. */
  parent: Environment;
  env?: Readonly<Record<string, string>> | undefined;
  inheritEnv?: readonly string[] | undefined;
  /** The value of the owner variable; nothing in `env` can change it. */
  owner: string;
  platform?: NodeJS.Platform | undefined;
}

/** A server never sees our whole environment: it may hold credentials that were meant for us alone. */
export function serverEnvironment(options: ServerEnvironment): Record<string, string> {
  const windows = (options.platform ?? process.platform) === "win32";
  const patterns = windows ? windowsNames : posixNames;
  const handedOn: Record<string, string> = windows ? {} : { PATH: "/usr/local/bin:/usr/bin:/bin" };
  for (const [name, value] of Object.entries(options.parent)) {
    // Exported shell functions are code, not settings.
    if (value === undefined || value.startsWith("()")) continue;
    const known = matchesAny(patterns, windows ? name.toUpperCase() : name);
    if (known || matchesAny(options.inheritEnv ?? [], name)) handedOn[name] = value;
  }
  return { ...handedOn, ...options.env, [ownerVariable]: options.owner };
}
