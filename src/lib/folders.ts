import { realpathSync } from "node:fs";
import { homedir, userInfo } from "node:os";
import { basename, dirname, isAbsolute, join, relative, sep } from "node:path";
import { PlugboardError } from "../errors.ts";

/** Environment variables by name, such as `process.env`. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Where configuration and state are kept. */
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
    if (project !== undefined && isOfProject(project, home, value)) {
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
      managed: managedFolder(platform),
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
    managed: managedFolder(platform),
    ignored,
  };
}

/** Where the administrator's policy is. Fixed: whoever could move it with a variable could do without a policy. */
export function managedFolder(platform: NodeJS.Platform = process.platform): string {
  if (platform === "win32") return "C:\\ProgramData\\plugboard";
  return platform === "darwin" ? "/Library/Application Support/plugboard" : "/etc/plugboard";
}

/**
 * `HOME`, or else the home folder that the system knows; in a container it may not know the user. An empty or relative
 * `HOME` does not count, because it would mean the current folder.
 */
export function homeFolder(env: Environment): string {
  let cause: unknown;
  for (const source of [() => env["HOME"], homedir, () => userInfo().homedir]) {
    try {
      const home = source();
      if (home !== undefined && isAbsolute(home)) return home;
    } catch (error) {
      cause = error;
    }
  }
  const message =
    "There is no home folder: HOME is not an absolute path, and the system does not know this user.";
  const hint = "Set HOME to a folder for configuration and state.";
  throw new PlugboardError("value-missing", message, { data: { variable: "HOME" }, hint, cause });
}

/**
 * True if a path from a variable may be the project's choice instead of the user's, as written or after links: a shell
 * that came through a link says `$PWD/state`, but the current folder is the real one. A folder that contains the home,
 * such as `/` or the home itself, is no project in this sense: everything of the user is inside it.
 */
export function isOfProject(project: string, home: string, path: string): boolean {
  const contains = (one: string) => isInside(project, one) || isInside(realPath(project), realPath(one));
  return contains(path) && !contains(home);
}

/** Without links, as far as the path exists. */
function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const folder = dirname(path);
    return folder === path ? path : join(realPath(folder), basename(path));
  }
}

export function isInside(folder: string, path: string): boolean {
  const between = relative(folder, path);
  return between === "" || (between !== ".." && !between.startsWith(`..${sep}`) && !isAbsolute(between));
}
