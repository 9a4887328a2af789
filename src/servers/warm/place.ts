import { lstatSync } from "node:fs";
import type { Stats } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { createFolder } from "../../lib/create-folder.ts";
import { version } from "../../lib/version.ts";

/** Part of the socket's name: commands and brokers that understand each other agree in it. */
const protocol = 2;
/** macOS allows 104 bytes with the final NUL, Linux 108. */
const maxPathBytes = 103;

export function warmFolder(stateFolder: string): string {
  return join(stateFolder, "warm");
}

export function socketPath(folder: string): string {
  return join(folder, `${version}-${protocol}.sock`);
}

/** Says which process listens on a socket, for people whose broker does not answer. */
export function pidPath(socket: string): string {
  return `${socket.slice(0, -".sock".length)}.pid`;
}

/** The sockets of brokers of all versions. */
export async function allSockets(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch(() => []);
  return names.filter((name) => name.endsWith(".sock")).map((name) => join(folder, name));
}

/** Why no broker can be used here; undefined if one can. Creates the folder. */
export function placeProblem(
  folder: string,
  platform: NodeJS.Platform = process.platform,
): string | undefined {
  if (platform === "win32") return "Plugboard cannot keep servers warm on Windows yet";
  const path = socketPath(folder);
  if (Buffer.byteLength(path) > maxPathBytes)
    return `the path ${path} is too long for a socket (at most ${maxPathBytes} bytes)`;
  try {
    createFolder(folder);
    return folderProblem(folder) ?? socketProblem(path);
  } catch (error) {
    return `${folder} cannot be used: ${error instanceof Error ? error.message : String(error)}`;
  }
}

/** Why a folder is not safe to have our socket in. */
function folderProblem(folder: string): string | undefined {
  const stats = lstatSync(folder);
  return stats.isDirectory() ? accessProblem(folder, stats, "700") : `${folder} is not a folder`;
}

/** Why a socket must not be connected to; undefined also if there is none. */
export function socketProblem(path: string): string | undefined {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (!stats) return undefined;
  return stats.isSocket() ? accessProblem(path, stats, "600") : `${path} is not a socket`;
}

function accessProblem(path: string, { uid, mode }: Stats, wanted: string): string | undefined {
  if (uid !== process.getuid?.()) return `${path} belongs to another user`;
  if ((mode & 0o077) !== 0) return `other users can access ${path} (run: chmod ${wanted} ${path})`;
  return undefined;
}
