import { readFile, stat } from "node:fs/promises";
import { resolve } from "node:path";
import { PlugboardError } from "../../index.ts";

const maxBytes = 50_000_000;

/** Reads a file named on the command line. */
export async function readTextFile(name: string, cwd: string, hint?: string): Promise<string> {
  const path = resolve(cwd, name);
  try {
    if ((await stat(path)).size > maxBytes) throw new Error("it is larger than 50 MB");
    return await readFile(path, "utf8");
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const why = code === "ENOENT" ? "no such file" : code === "EISDIR" ? "it is a folder" : message;
    throw new PlugboardError("usage-invalid", `Cannot read ${name || "@"}: ${why}.`, {
      data: { file: path },
      cause: error,
      hint: hint ?? "The path after @ is relative to the current folder.",
    });
  }
}
