import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { syntaxOf } from "../config/documents/document.ts";
import type { LoadedConfig } from "../config/model.ts";
import { parseConfig } from "../config/parse.ts";
import { maxConfigBytes } from "../config/sources.ts";
import { readBoundedFile } from "../lib/bounded-file.ts";

/** A part of some configuration that may use a stored secret or login. */
export interface KnownEntry {
  /** Absent for what the calling program or a variable configures. */
  file?: string | undefined;
  /** Absent for settings, and for a file that cannot be parsed. */
  server?: string | undefined;
  /** A server's entry or a group of settings as written, or the whole text of a file that cannot be parsed. */
  written: unknown;
}

/**
 * Everything that Plugboard knows to be configured, not only what this command uses: what is loaded here, `files` (the
 * usual ones, which are not loaded if one file is named, and those of projects that were trusted once), and the local
 * scopes of all projects.
 */
export async function knownEntries(
  config: LoadedConfig,
  stateFolder: string,
  files: readonly string[],
): Promise<KnownEntry[]> {
  const loaded = [...config.servers.values()].flatMap(({ name, written, origin, shadowed }) =>
    [{ written, origin }, ...shadowed].map((one) => ({
      file: one.origin.file,
      server: name,
      written: one.written,
    })),
  );
  const folder = join(stateFolder, "projects");
  const local = (await readdir(folder).catch(() => [])).map((name) => join(folder, name));
  const sources = config.sources.flatMap(({ file, scope }) =>
    file !== undefined && scope !== "inline" ? [file] : [],
  );
  const all = [...new Set([...sources, ...local, ...files])];
  const read = await Promise.all(all.map(entriesOf));
  return [...loaded, { written: config.settings }, ...read.flat()];
}

async function entriesOf(file: string): Promise<KnownEntry[]> {
  const read = await readBoundedFile(file, maxConfigBytes);
  if (read.kind !== "text") return [];
  const { servers, settings, bundles, readable } = await parseConfig(read.text, {
    file,
    syntax: syntaxOf(file) ?? "json",
  });
  if (!readable) return [{ file, written: read.text }];
  return [
    ...servers.map(({ name, written }) => ({ file, server: name, written })),
    { file, written: { settings, bundles } },
  ];
}
