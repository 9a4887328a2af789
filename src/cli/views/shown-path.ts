import { isAbsolute, relative, sep } from "node:path";

/** A path as somebody in this folder would write it. */
export function shownPath(path: string, cwd: string): string {
  const near = relative(cwd, path);
  return near === "" || near === ".." || near.startsWith(`..${sep}`) || isAbsolute(near) ? path : near;
}
