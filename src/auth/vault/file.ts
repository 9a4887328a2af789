import { closeSync, constants, fstatSync, lstatSync, openSync, readFileSync, type Stats } from "node:fs";
import { dirname } from "node:path";
import { writeFileAtomic } from "../../lib/atomic-file.ts";
import { createFolder } from "../../lib/create-folder.ts";
import { isRecord } from "../../lib/record.ts";
import { vaultError } from "./error.ts";

const maxBytes = 16 * 1024 * 1024;

/**
 * Reads a file that only this user can read, in a folder that only this user can enter; undefined if it does not exist.
 * Refuses links, pipes, files of other users and files that others can read, and does not change them.
 */
export function readPrivateFile(path: string): string | undefined {
  if (!checkFolder(dirname(path))) return undefined;
  const file = openPrivate(path);
  if (file === undefined) return undefined;
  try {
    const stats = fstatSync(file);
    if (!stats.isFile()) throw unsafe(path, "is not a regular file");
    checkPrivate(path, stats, `chmod 600 ${path}`);
    if (stats.size > maxBytes) throw unsafe(path, "is too large for a vault");
    return readFileSync(file, "utf8");
  } finally {
    closeSync(file);
  }
}

/** Replaces the file atomically: after a crash, either the old or the new one exists. */
export async function writePrivateFile(path: string, text: string): Promise<void> {
  createFolder(dirname(path));
  checkFolder(dirname(path));
  await writeFileAtomic(path, text, 0o600);
}

function openPrivate(path: string): number | undefined {
  try {
    // Without O_NONBLOCK, opening a pipe would block. Windows has neither flag.
    return openSync(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
  } catch (error) {
    const code = isRecord(error) ? error["code"] : undefined;
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    if (code === "ELOOP" || code === "EMLINK") throw unsafe(path, "is a symbolic link");
    if (code === "ENXIO") throw unsafe(path, "is not a regular file");
    throw unsafe(path, `cannot be read (${String(code)})`, "Check who owns it and who may read it.");
  }
}

function checkFolder(folder: string): boolean {
  const stats = statFolder(folder);
  if (!stats) return false;
  if (stats.isSymbolicLink()) throw unsafe(folder, "is a symbolic link");
  if (!stats.isDirectory()) throw unsafe(folder, "is not a folder");
  checkPrivate(folder, stats, `chmod 700 ${folder}`);
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

function checkPrivate(path: string, stats: Stats, remedy: string): void {
  const user = process.getuid?.();
  if (user === undefined) return;
  if (stats.uid !== user) throw unsafe(path, `belongs to user ${stats.uid}, not to you (${user})`);
  if ((stats.mode & 0o077) === 0) return;
  throw unsafe(
    path,
    `is accessible to other users (mode ${(stats.mode & 0o777).toString(8)})`,
    `Run \`${remedy}\`, and replace the secrets in it if others had access to this machine.`,
  );
}

function unsafe(
  path: string,
  what: string,
  hint = "Fix this, or move it away; Plugboard did not change it.",
) {
  return vaultError("unsafe", path, `The vault is not safe to use: ${path} ${what}.`, hint);
}
