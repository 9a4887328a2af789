import { closeSync, constants, fstatSync, lstatSync, openSync, readFileSync, type Stats } from "node:fs";
import { dirname } from "node:path";
import { writeFileAtomic } from "../../lib/atomic-file.ts";
import { createFolder } from "../../lib/create-folder.ts";
import type { Held } from "../../lib/held.ts";
import { isRecord } from "../../lib/record.ts";
import type { PlugboardError } from "../../errors.ts";
import { vaultError } from "./error.ts";

const maxBytes = 16 * 1024 * 1024;

/**
 * Reads a file that only this user can read, in a folder that only this user can enter; undefined if it does not exist.
 * Refuses links, pipes, files of other users and files that others can read, and does not change them.
 */
export function readPrivateFile(path: string, what = "The vault"): string | undefined {
  const refuse = refusalOf(what);
  if (!checkFolder(dirname(path), refuse)) return undefined;
  const file = openPrivate(path, refuse);
  if (file === undefined) return undefined;
  try {
    const stats = fstatSync(file);
    if (!stats.isFile()) throw refuse(path, "is not a regular file");
    checkPrivate(path, stats, { remedy: `chmod 600 ${path}`, refuse });
    if (stats.size > maxBytes) throw refuse(path, "is too large");
    return readFileSync(file, "utf8");
  } finally {
    closeSync(file);
  }
}

/** Replaces the file atomically: after a crash, either the old or the new one exists. */
export async function writePrivateFile(
  path: string,
  text: string,
  held: Held,
  what = "The vault",
): Promise<void> {
  createFolder(dirname(path));
  checkFolder(dirname(path), refusalOf(what));
  await writeFileAtomic(path, text, { mode: 0o600, held });
}

function openPrivate(path: string, refuse: Refuse): number | undefined {
  try {
    // Without O_NONBLOCK, opening a pipe would block. Windows has neither flag.
    return openSync(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
  } catch (error) {
    const code = isRecord(error) ? error["code"] : undefined;
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    if (code === "ELOOP" || code === "EMLINK") throw refuse(path, "is a symbolic link");
    if (code === "ENXIO") throw refuse(path, "is not a regular file");
    throw refuse(path, `cannot be read (${String(code)})`, "Check who owns it and who may read it.");
  }
}

function checkFolder(folder: string, refuse: Refuse): boolean {
  const stats = statFolder(folder);
  if (!stats) return false;
  if (stats.isSymbolicLink()) throw refuse(folder, "is a symbolic link");
  if (!stats.isDirectory()) throw refuse(folder, "is not a folder");
  checkPrivate(folder, stats, { remedy: `chmod 700 ${folder}`, refuse });
  return true;
}

/** A folder that this user cannot access, such as another user's home, cannot contain their vault. */
function statFolder(folder: string): Stats | undefined {
  try {
    return lstatSync(folder, { throwIfNoEntry: false });
  } catch (error) {
    const code = isRecord(error) ? error["code"] : undefined;
    if (code === "ENOTDIR" || code === "EACCES" || code === "EPERM") return undefined;
    throw error;
  }
}

function checkPrivate(
  path: string,
  stats: Stats,
  { remedy, refuse }: { remedy: string; refuse: Refuse },
): void {
  const user = process.getuid?.();
  if (user === undefined) return;
  if (stats.uid !== user) throw refuse(path, `belongs to user ${stats.uid}, not to you (${user})`);
  if ((stats.mode & 0o077) === 0) return;
  throw refuse(
    path,
    `is accessible to other users (mode ${(stats.mode & 0o777).toString(8)})`,
    `Run \`${remedy}\`, and replace the secrets in it if others had access to this machine.`,
  );
}

type Refuse = (path: string, why: string, hint?: string) => PlugboardError;

function refusalOf(what: string): Refuse {
  return (path, why, hint = "Fix this, or move it away; Plugboard did not change it.") =>
    vaultError("unsafe", path, `${what} is not safe to use: ${path} ${why}.`, hint);
}
