import { realpathSync } from "node:fs";

/** True if both paths lead to the same file, which may be through links. */
export function isSameFile(one: string | undefined, other: string): boolean {
  if (one === undefined) return false;
  return one === other || realPath(one) === realPath(other);
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
