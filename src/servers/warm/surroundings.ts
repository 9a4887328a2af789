import { readFileSync, readlinkSync } from "node:fs";
import { getPriority } from "node:os";

/**
 * What a program inherits from whoever starts it, besides environment, folder and umask: namespaces, the limit on open
 * files, niceness. A broker where these differ would start another program than the command itself.
 */
export function surroundings(): string {
  const names = ["ipc", "mnt", "net", "pid", "user", "uts"];
  const namespaces = names.map((name) => readOr(() => readlinkSync(`/proc/self/ns/${name}`)));
  const limits = readOr(() => readFileSync("/proc/self/limits", "utf8"));
  const [, openFiles = ""] = /^Max open files\s+(\d+|unlimited)\s+(?:\d+|unlimited)/m.exec(limits) ?? [];
  return [...namespaces, `files ${openFiles}`, `nice ${getPriority()}`].join(" ");
}

/** Only Linux has these files. */
function readOr(read: () => string): string {
  try {
    return read();
  } catch {
    return "";
  }
}
