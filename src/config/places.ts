import { existsSync } from "node:fs";
import { join } from "node:path";
import { PlugboardError } from "../errors.ts";
import type { Folders } from "../lib/folders.ts";
import { extensions, leavesProject, localFile, projectFiles } from "./discover.ts";
import type { Origin, Scope, ServerEntry } from "./model.ts";

/**
 * The scopes that Plugboard writes to: this user in this project, everybody in this project, or this user everywhere.
 */
export type WritableScope = "local" | "project" | "user";

/** The file that a scope's servers are written to: the first that exists, or else the default one. */
export async function writableFile(
  scope: WritableScope,
  projectRoot: string,
  folders: Folders,
): Promise<string> {
  if (scope === "local") return localFile(projectRoot, folders);
  const files =
    scope === "user"
      ? extensions.map((extension) => join(folders.config, `config.${extension}`))
      : projectFiles(projectRoot);
  const file = files.find((candidate) => existsSync(candidate)) ?? files[0] ?? "";
  if (scope === "project" && leavesProject(file, projectRoot)) {
    throw new PlugboardError(
      "config-unreadable",
      `${file} is a symbolic link to a file outside the project, so Plugboard does not write to it.`,
    );
  }
  return file;
}

export function isEditable({ scope, file }: Origin): boolean {
  return file !== undefined && ["local", "project", "user", "explicit"].includes(scope);
}

/** The place where a server is configured and can be edited; throws if there is none, or more than one to choose from. */
export function onlyPlace(entry: ServerEntry, scope: Scope | undefined): Origin {
  const { name, origin, shadowed } = entry;
  const editable = [origin, ...shadowed.map((other) => other.origin)].filter(isEditable);
  const places = editable.filter((place) => scope === undefined || place.scope === scope);
  const [only, ...more] = places;
  if (!only) {
    const where =
      scope === undefined ? `it comes from ${describeOrigin(origin)}` : `it is not in the ${scope} scope`;
    throw new PlugboardError("server-unknown", `Server "${name}" cannot be edited: ${where}.`, {
      server: name,
    });
  }
  if (more.length === 0) return only;
  const scopes = [...new Set(places.map((place) => place.scope))];
  const hint =
    scopes.length > 1
      ? `Choose one with ${scopes.map((one) => `--scope ${one}`).join(" or ")}.`
      : `Remove it from one of the files by hand.`;
  throw new PlugboardError(
    "usage-invalid",
    `Server "${name}" is configured in ${places.map(describeOrigin).join(" and in ")}.`,
    {
      server: name,
      hint,
    },
  );
}

/** Servers of a project or plugin run in its folder; user servers run in the current folder. */
export function workingFolder({ origin, baseDir }: Pick<ServerEntry, "origin" | "baseDir">): string {
  return ["local", "project", "plugin"].includes(origin.scope) ? baseDir : process.cwd();
}

const scopeWords: Partial<Record<Scope, string>> = {
  override: "the calling program",
  inline: "PLUGBOARD_CONFIG_JSON",
  explicit: "the given file",
  managed: "the managed policy",
  plugin: "a plugin",
};

/** For example `the user scope (/home/me/.config/plugboard/config.json:3)`. */
export function describeOrigin({ scope, file, line }: Origin): string {
  const place =
    file === undefined || scope === "inline" ? "" : ` (${file}${line === undefined ? "" : `:${line}`})`;
  return `${scopeWords[scope] ?? `the ${scope} scope`}${place}`;
}
