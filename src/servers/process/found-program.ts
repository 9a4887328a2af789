import { realpathSync, statSync } from "node:fs";
import type { Stats } from "node:fs";
import { programCandidates } from "../../lib/program-path.ts";

/** The program that a command stands for, as it is found when it is started with this environment. */
export function foundProgram(
  command: string,
  cwd: string,
  env: Readonly<Record<string, string>>,
): string | undefined {
  return programCandidates({ command, cwd, env, platform: process.platform }).find(isProgram);
}

function isProgram(path: string): boolean {
  const stats = statOf(path);
  return stats?.isFile() === true && (process.platform === "win32" || (stats.mode & 0o111) !== 0);
}

/** Most words are no files, and some cannot be. */
export function statOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

export function realPathOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
