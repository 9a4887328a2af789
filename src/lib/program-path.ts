import { delimiter, resolve } from "node:path";

export interface ProgramSearch {
  command: string;
  /** The folder that relative paths start from. */
  cwd: string;
  /** The environment whose PATH is searched. */
  env: Readonly<Record<string, string | undefined>>;
  platform: NodeJS.Platform;
}

/** The PATH of programs that get none. */
export const defaultPath = "/usr/local/bin:/usr/bin:/bin";

/** True if a command says where its program is, instead of leaving that to PATH. */
export function isProgramPath(command: string, platform: NodeJS.Platform): boolean {
  return command.includes("/") || (platform === "win32" && command.includes("\\"));
}

/** The folders in which a command is looked for. An empty element of PATH means the working folder, as in a shell. */
export function programFolders({ command, cwd, env, platform }: ProgramSearch): string[] {
  if (isProgramPath(command, platform)) return [cwd];
  return (env["PATH"] ?? "").split(delimiter).map((folder) => resolve(cwd, folder));
}

/** Every path that a command may stand for, the first that exists wins. */
export function programCandidates(search: ProgramSearch): string[] {
  const { command, env, platform } = search;
  const names = platform === "win32" ? windowsNames(command, env["PATHEXT"]) : [command];
  return programFolders(search).flatMap((folder) => names.map((name) => resolve(folder, name)));
}

/** The file names that a command may have in a folder. */
function windowsNames(command: string, pathExtensions = ".COM;.EXE;.BAT;.CMD"): string[] {
  return [command, ...pathExtensions.split(";").map((extension) => command + extension)];
}
