import { dirname, join } from "node:path";
import { readBoundedFile } from "./bounded-file.ts";

const maxBytes = 16_000_000;

/** True if an `.npmrc` of the folder, of those above it or of the home folder sets one of these keys. */
export async function npmrcSets(key: RegExp, { folder, home }: { folder: string; home: string }) {
  const line = new RegExp(`^\\s*(?:${key.source})\\s*=`, "m");
  for (const place of new Set([...foldersUp(folder), home])) {
    const read = await readBoundedFile(join(place, ".npmrc"), maxBytes);
    if (read.kind === "text" && line.test(read.text)) return true;
  }
  return false;
}

/** The value of a key in the nearest `.npmrc`; undefined if none sets it. */
export async function npmrcValue(key: string, { folder, home }: { folder: string; home: string }) {
  const line = new RegExp(`^\\s*${key}\\s*=\\s*(.*?)\\s*$`, "m");
  for (const place of new Set([...foldersUp(folder), home])) {
    const read = await readBoundedFile(join(place, ".npmrc"), maxBytes);
    const [, value] = (read.kind === "text" && line.exec(read.text)) || [];
    if (value !== undefined) return value.replace(/^(["'])(.*)\1$/, "$2");
  }
  return undefined;
}

/** The folder and all above it, nearest first. */
export function foldersUp(folder: string): string[] {
  const up = dirname(folder);
  return up === folder ? [folder] : [folder, ...foldersUp(up)];
}
