import { open } from "node:fs/promises";
import { isAbsolute, join, parse, relative, resolve, sep } from "node:path";
import { PlugboardError } from "../../index.ts";
import { createFolder } from "../../lib/create-folder.ts";

const maxTries = 1_000;

/** Writes a file without replacing an existing one (`image-1.png`, then `image-1-2.png`) and returns its path. */
export async function saveFile(folder: string, name: string, content: Uint8Array | string): Promise<string> {
  const { name: stem, ext } = parse(name);
  try {
    createFolder(resolve(folder));
    for (let number = 1; number <= maxTries; number++) {
      const path = join(resolve(folder), `${stem}${number === 1 ? "" : `-${number}`}${ext}`);
      const file = await open(path, "wx").catch((error: NodeJS.ErrnoException) => {
        if (error.code === "EEXIST") return undefined;
        throw error;
      });
      if (!file) continue;
      try {
        await file.writeFile(content);
      } finally {
        await file.close();
      }
      return path;
    }
    throw new Error(`${folder} has too many files named ${name}`);
  } catch (error) {
    throw new PlugboardError("usage-invalid", `Could not save ${name}: ${(error as Error).message}.`, {
      cause: error,
      hint: "Use --output to choose a folder you can write to.",
    });
  }
}

/** A safe file name for the text behind a URI. */
export function textFileName(uri: string, mimeType: string | undefined): string {
  const [path = ""] = uri.split(/[?#]/, 1);
  const last = path.split(/[/\\:]/).at(-1) ?? "";
  const safe = last.replaceAll(/[^A-Za-z0-9._-]+/g, "_").replace(/^[._-]+/, "");
  const extension = mimeType === "application/json" ? "json" : mimeType === "text/html" ? "html" : "txt";
  return safe === "" ? `resource.${extension}` : safe.slice(-80);
}

/** The path relative to `cwd` if it is inside it. */
export function shownPath(path: string, cwd: string): string {
  const near = relative(cwd, path);
  return near === "" || near === ".." || near.startsWith(`..${sep}`) || isAbsolute(near) ? path : near;
}
