import { existsSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { sha256 } from "../lib/canonical.ts";
import type { Folders } from "../lib/folders.ts";
import { isInside } from "../lib/folders.ts";

export const extensions = ["json", "jsonc", "toml", "yaml", "yml"] as const;

export interface Candidate {
  scope: "local" | "project" | "user";
  file: string;
}

/** The nearest folder upwards that is a git repository, or `cwd` if there is none. */
export function findProjectRoot(cwd: string): string {
  for (let folder = cwd; ; folder = dirname(folder)) {
    if (existsSync(join(folder, ".git"))) return folder;
    if (dirname(folder) === folder) return cwd;
  }
}

/** Every file that may contain configuration, highest precedence first, whether it exists or not. */
export function candidateFiles(cwd: string, projectRoot: string, folders: Folders): Candidate[] {
  return [
    { scope: "local", file: localFile(projectRoot, folders) },
    ...foldersUp(cwd, projectRoot).flatMap((folder) =>
      projectFiles(folder).map((file) => ({ scope: "project" as const, file })),
    ),
    ...extensions.map((extension) => ({
      scope: "user" as const,
      file: join(folders.config, `config.${extension}`),
    })),
  ];
}

/** The files of one project folder, highest precedence first; `add` writes to the first that exists. */
export function projectFiles(folder: string): string[] {
  return [
    join(folder, ".mcp.json"),
    ...extensions.map((extension) => join(folder, `plugboard.${extension}`)),
    ...extensions.map((extension) => join(folder, ".plugboard", `config.${extension}`)),
  ];
}

const longestName = 200;

/** The local scope is kept in the user's state folder, in a file named after the project's path. */
export function localFile(projectRoot: string, folders: Folders): string {
  const encoded = encodeURIComponent(projectRoot);
  const name = encoded.length <= longestName ? encoded : `${encoded.slice(-120)}-${sha256(projectRoot)}`;
  return join(folders.state, "projects", `${name}.json`);
}

function foldersUp(cwd: string, root: string): string[] {
  const folders = [cwd];
  for (let folder = cwd; folder !== root && dirname(folder) !== folder;) {
    folder = dirname(folder);
    folders.push(folder);
  }
  return folders;
}

/** True if the file is a link to somewhere outside the project; such a link could point at anything. */
export function leavesProject(file: string, projectRoot: string): boolean {
  try {
    return !isInside(realpathSync(projectRoot), realpathSync(file));
  } catch {
    return false;
  }
}
