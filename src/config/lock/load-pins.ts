import { dirname, join } from "node:path";
import type { Folders } from "../../lib/folders.ts";
import { leavesProject } from "../discover.ts";
import type { Diagnostic, Origin, ServerEntry } from "../model.ts";
import { brokenLock, brokenPins, readLock } from "./lock-file.ts";
import type { LockFile } from "./lock-file.ts";
import type { ServerPins } from "./pins.ts";

export const lockName = "plugboard.lock";

/**
 * Where the pins of a server belong: beside the file that configures it, so that a project's lock is about the project's
 * servers only. What no file of yours configures (plugins, variables, programs) is pinned in the user's lock.
 */
export function lockFileOf({ scope, file }: Origin, { config }: Pick<Folders, "config">): string {
  if (file !== undefined && (scope === "project" || scope === "explicit" || scope === "user"))
    return join(dirname(file), lockName);
  // The files of all projects are in one folder.
  if (file !== undefined && scope === "local") return file.replace(/(\.json)?$/, ".lock");
  return join(config, lockName);
}

export interface LoadedPins {
  /** By the name of the server. One that no lock mentions has none. */
  pins: ReadonlyMap<string, ServerPins>;
  /** The lock file of each server, whether it exists or not. */
  lockFiles: ReadonlyMap<string, string>;
  diagnostics: readonly Diagnostic[];
}

/**
 * Reads the lock files of these servers. The lock of a server that is not used is not even opened: a project that
 * nobody trusts costs nothing.
 */
export async function loadPins(
  servers: Iterable<ServerEntry>,
  projectRoot: string,
  folders: Pick<Folders, "config">,
): Promise<LoadedPins> {
  const lockFiles = new Map<string, string>();
  const byFile = new Map<string, ServerEntry[]>();
  for (const entry of servers) {
    const file = lockFileOf(entry.origin, folders);
    lockFiles.set(entry.name, file);
    if (entry.status.kind === "ready") byFile.set(file, [...(byFile.get(file) ?? []), entry]);
  }
  const pins = new Map<string, ServerPins>();
  const diagnostics: Diagnostic[] = [];
  for (const [file, entries] of byFile) {
    const isProject = entries.some(({ origin }) => origin.scope === "project");
    const lock = await readLockIn(file, isProject ? projectRoot : undefined);
    for (const [name, found] of pinsIn(
      lock,
      entries.map(({ name }) => name),
    ))
      pins.set(name, found);
    diagnostics.push(...mistakesIn(lock));
  }
  return { pins, lockFiles, diagnostics };
}

/** The pins of these servers. If the file cannot be read, none of them may be used as if it were not pinned. */
export function pinsIn(lock: LockFile, names: Iterable<string>): Map<string, ServerPins> {
  const { broken } = lock;
  const found = [...names].flatMap((name) => {
    const pins =
      broken === undefined
        ? lock.servers.get(name)
        : { ...brokenPins(lock, broken), isFileBroken: true as const };
    return pins ? [[name, pins] as const] : [];
  });
  return new Map(found);
}

/** A link out of the project could make us read, or write, any file. */
export async function readLockIn(file: string, projectRoot: string | undefined): Promise<LockFile> {
  if (projectRoot !== undefined && leavesProject(file, projectRoot))
    return brokenLock(file, "is a symbolic link to a file outside the project");
  return readLock(file);
}

function mistakesIn({ file, broken }: LockFile): Diagnostic[] {
  if (broken === undefined) return [];
  const message = `the lock file ${broken}, so no tools of its servers are offered`;
  const suggestion = "restore it from version control, or delete it and run `plugboard lock`";
  return [{ severity: "error", message, suggestion, path: "", file }];
}
