import { homedir } from "node:os";
import { isAbsolute, join, relative, sep } from "node:path";
import { PlugboardError } from "../errors.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

export interface Folders {
  home: string;
  /** The user's own configuration. */
  config: string;
  /** Trust, snapshots, local-scope configuration. */
  state: string;
  /** Can be deleted at any time. */
  cache: string;
  /** The administrator's policy; no variable changes this folder. */
  managed: string;
  /** Variables that are ignored because they point into the project, which must not choose these folders. */
  ignored: string[];
}

/**
 * The platform's folders. Variables can change them, but never to a folder inside the project: a repository (or an
 * editor setting in it) that could choose our folders could supply its own trust decisions.
 */
export function platformFolders(
  env: Environment,
  project: string | undefined,
  platform: NodeJS.Platform = process.platform,
): Folders {
  const home = homeFolder(env);
  const ignored: string[] = [];
  const pick = (variable: string, fallback: string): string => {
    const value = env[variable];
    if (!value || !isAbsolute(value)) return join(fallback, "plugboard");
    if (project !== undefined && isInside(project, value)) {
      ignored.push(variable);
      return join(fallback, "plugboard");
    }
    return join(value, "plugboard");
  };
  if (platform === "win32") {
    const local = env["LOCALAPPDATA"] || join(home, "AppData", "Local");
    return {
      home,
      config: pick("APPDATA", join(home, "AppData", "Roaming")),
      state: pick("LOCALAPPDATA", join(home, "AppData", "Local")),
      cache: join(local, "plugboard", "cache"),
      managed: join(env["ProgramData"] || "C:\\ProgramData", "plugboard"),
      ignored,
    };
  }
  const library = join(home, "Library");
  const mac = platform === "darwin";
  return {
    home,
    config: pick("XDG_CONFIG_HOME", mac ? join(library, "Application Support") : join(home, ".config")),
    state: pick("XDG_STATE_HOME", mac ? join(library, "Application Support") : join(home, ".local", "state")),
    cache: pick("XDG_CACHE_HOME", mac ? join(library, "Caches") : join(home, ".cache")),
    managed: mac ? "/Library/Application Support/plugboard" : "/etc/plugboard",
    ignored,
  };
}

/** `HOME`, or else the home folder that the system knows; in a container it may not know the user. */
export function homeFolder(env: Environment): string {
  try {
    return env["HOME"] || homedir();
  } catch (error) {
    const message = "There is no home folder: HOME is not set, and the system does not know this user.";
    const hint = "Set HOME to a folder for configuration and state.";
    throw new PlugboardError("value-missing", message, { data: { variable: "HOME" }, hint, cause: error });
  }
}

export function isInside(folder: string, path: string): boolean {
  const between = relative(folder, path);
  return between === "" || (between !== ".." && !between.startsWith(`..${sep}`) && !isAbsolute(between));
}
