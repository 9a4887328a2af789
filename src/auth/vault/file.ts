import { closeSync, constants, fstatSync, lstatSync, openSync, readFileSync, type Stats } from "node:fs";
import { dirname } from "node:path";
import { writeFileAtomic } from "../../lib/atomic-file.ts";
import { createFolder } from "../../lib/create-folder.ts";
import { isRecord } from "../../lib/record.ts";
import { vaultError } from "./error.ts";

const maxBytes = 16 * 1024 * 1024;

/**
 * The text of a file that only this user can read, in a folder that only this user can enter; undefined when there is
 * none. Links, pipes, files of others and files that others can read are refused, and nothing about them is changed.
 */
export function readPrivateFile(path: string): string | undefined {
  if (!checkFolder(dirname(path))) return undefined;
  const file = openPrivate(path);
  if (file === undefined) return undefined;
  try {
    const stats = fstatSync(file);
    if (!stats.isFile()) throw unsafe(path, "is not a regular file");
    checkPrivate(path, stats, `chmod 600 ${path}`);
    if (stats.size > maxBytes) throw unsafe(path, "is larger than any vault");
    return readFileSync(file, "utf8");
  } finally {
    closeSync(file);
  }
}

/** Replaces the file in one step; whatever happens, the old one or the new one is there. */
export async function writePrivateFile(path: string, text: string): Promise<void> {
  createFolder(dirname(path));
  checkFolder(dirname(path));
  await writeFileAtomic(path, text, 0o600);
}

function openPrivate(path: string): number | undefined {
  try {
    // Without O_NONBLOCK a pipe would be waited for; Windows has neither flag.
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
  const stats = lookAt(folder);
  if (!stats) return false;
  if (stats.isSymbolicLink()) throw unsafe(folder, "is a symbolic link");
  if (!stats.isDirectory()) throw unsafe(folder, "is not a folder");
  checkPrivate(folder, stats, `chmod 700 ${folder}`);
  return true;
}

/** Where this user cannot even look, as in the home of another, nothing of theirs is kept either. */
function lookAt(folder: string): Stats | undefined {
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
    `is open to other users (mode ${(stats.mode & 0o777).toString(8)})`,
    `Run \`${remedy}\`, and replace the secrets in it if others had access to this machine.`,
  );
}

function unsafe(path: string, what: string, hint = "Put it right, or move it away; it was left as it is.") {
  return vaultError("unsafe", path, `Plugboard does not use the vault: ${path} ${what}.`, hint);
}
