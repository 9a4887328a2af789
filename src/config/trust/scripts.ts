import { accessSync, constants, realpathSync, statSync } from "node:fs";
import type { Stats } from "node:fs";
import { extname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { readBoundedFile } from "../../lib/bounded-file.ts";
import type { BoundedRead } from "../../lib/bounded-file.ts";
import { sha256 } from "../../lib/canonical.ts";
import type { Environment } from "../../lib/folders.ts";
import { isInside } from "../../lib/folders.ts";
import { programCandidates } from "../../lib/program-path.ts";
import { isRecord } from "../../lib/record.ts";
import { resolvePath } from "../expand.ts";
import type { ServerEntry } from "../model.ts";
import { workingFolder } from "../places.ts";
import { hashFile, tooLarge } from "./content-hash.ts";
import type { ContentHash } from "./content-hash.ts";
import { namedLines, searchedPath } from "./named-words.ts";
import type { NamedLine, NamedWord } from "./named-words.ts";

/** A file of the project that an entry names and that may run. Its content is part of what is trusted. */
export interface ScriptFile {
  /** Relative to the project's root if it is inside. */
  path: string;
  sha256: string;
  bytes: number;
  /** Set for a link that leaves the project: then the hash is that of the place it leads to. */
  linksTo?: string;
}

/** The files of a project that an entry runs. */
export interface Scripts {
  files: ScriptFile[];
  /** The project's own program that `command` means, although it has the name of a usual one. */
  program?: string;
  /** Why the content cannot be covered, so that the entry cannot be trusted. */
  problem?: string;
}

export interface ScriptContext {
  projectRoot: string;
  env: Environment;
  home: string;
  /** The folder of the connection, for servers with `isolation: project`. */
  project?: string | undefined;
  /** The hashes of files that were read for other entries of the same load. */
  hashes?: Map<string, Promise<ContentHash>> | undefined;
}

const maxFiles = 64;
const maxWords = 5000;
const maxBytes = 256_000_000;
const maxFolders = 8;

type Entry = Pick<ServerEntry, "config" | "baseDir" | "variables" | "origin">;

/** Finds and hashes the project's files that an entry names. Links are followed only inside the project. */
export async function findScripts(entry: Entry, context: ScriptContext): Promise<Scripts> {
  const { env, home, projectRoot } = context;
  const { project = entry.config?.isolation === "project" ? projectRoot : undefined } = context;
  const variables = project === undefined ? entry.variables : { ...entry.variables, PROJECT_ROOT: project };
  const folder = project ?? workingFolder(entry);
  const lines = namedLines({ ...entry, variables }, { env, home, folder });
  const words = lines.reduce((sum, line) => sum + line.words.length, 0);
  if (words > maxWords) return { files: [], problem: "its command line is too long to check" };
  const places = await namedPlaces(lines, entry, context);
  if (places.size > maxFiles)
    return { files: [], problem: `it names more than ${maxFiles} files of the project` };
  const { hashes = new Map<string, Promise<ContentHash>>() } = context;
  const files: ScriptFile[] = [];
  let total = 0;
  for (const [path, place] of [...places].sort(([a], [b]) => (a < b ? -1 : 1))) {
    if (place.leaves) {
      files.push({ path, sha256: sha256(`link:${place.real}`), bytes: 0, linksTo: place.real });
      continue;
    }
    const hash = hashes.get(place.real) ?? hashFile(place.real, maxBytes);
    hashes.set(place.real, hash);
    const found = await hash;
    if ("problem" in found) return { files, problem: `${path} ${found.problem}` };
    total += found.bytes;
    if (total > maxBytes) return { files, problem: `${path} ${tooLarge(maxBytes)}` };
    files.push({ path, ...found });
  }
  const program = [...places].find(([, place]) => place.isProgram)?.[0];
  return { files, ...(program !== undefined && { program }) };
}

interface Place {
  real: string;
  /** A link that leads out of the project. */
  leaves: boolean;
  /** It was found in PATH. */
  isProgram: boolean;
}

async function namedPlaces(
  lines: readonly NamedLine[],
  entry: Entry,
  context: ScriptContext,
): Promise<Map<string, Place>> {
  const { projectRoot, project } = context;
  const plugin = entry.variables["PLUGIN_ROOT"];
  const written = [projectRoot, ...(plugin ? [plugin] : []), ...(project ? [project] : [])];
  const roots = written.map((root) => realPath(root) ?? root);
  const [first = projectRoot] = roots;
  const places = new Map<string, Place>();
  const add = (path: string, isProgram = false) => {
    const real = realPath(path);
    const isInsideOne = (folders: string[], one: string) => folders.some((folder) => isInside(folder, one));
    if (real === undefined) return;
    const leaves = !isInsideOne(roots, real);
    if (leaves && !isInsideOne([...written, ...roots], path)) return;
    const place = leaves ? path : real;
    places.set(isInside(first, place) ? relative(first, place) : place, { real, leaves, isProgram });
  };
  for (const { words, folder } of lines) {
    // `--directory server`, `cd server`: what follows may be relative to that folder.
    const folders = [folder];
    for (const word of words) {
      for (const path of folders.flatMap((one) => filesOf(word, one, entry, context))) {
        if (statOf(path)?.isDirectory()) {
          if (word.isCode) for (const inner of await entryFiles(path)) add(inner);
          if (folders.length < maxFolders && !folders.includes(path)) folders.push(path);
        } else if (word.isCode || !isData(path)) add(path, word.isProgram && !/[\\/]/.test(word.text));
      }
    }
  }
  return places;
}

/** The files that a word may stand for; most words stand for none. */
function filesOf(word: NamedWord, folder: string, entry: Entry, context: ScriptContext): string[] {
  const { text, isProgram } = word;
  if (text.length > 4096 || text.includes("\0")) return [];
  if (isProgram && !/[\\/]/.test(text)) return programIn(text, folder, entry, context);
  if (text.startsWith("file:")) return existing([pathOf(text)]);
  const path = resolvePath(text, folder, context.home);
  const found = existing([path]);
  // `node ./server` means server.js.
  if (found.length > 0 || extname(text) !== "" || !/[\\/]/.test(text)) return found;
  return existing(endings.map((ending) => path + ending));
}

const endings = [".js", ".cjs", ".mjs", ".ts", ".json", ".node", ".rb", ".lua", ".cmd", ".exe", ".bat"];

/** A program of the user's own PATH is not the project's, even where the project is the home folder. */
function programIn(
  name: string,
  folder: string,
  entry: Entry,
  { env, home, projectRoot }: ScriptContext,
): string[] {
  const { path, isOwn } = searchedPath(entry, env);
  if (!isOwn && isInside(projectRoot, home)) return [];
  const search = { command: name, cwd: folder, env: { ...env, PATH: path }, platform: process.platform };
  const program = programCandidates(search).find(isExecutable);
  return program === undefined ? [] : [program];
}

/** Extensions of files that servers write to, so that they are not asked about again and again. */
function isData(path: string): boolean {
  return /\.(?:db|sqlite3?|duckdb|log|csv|tsv|parquet|jsonl|txt|md|pid|sock)$/i.test(path);
}

/** What an interpreter runs when it is given a folder. */
async function entryFiles(folder: string): Promise<string[]> {
  const manifest = join(folder, "package.json");
  const read = await readBoundedFile(manifest, 1_000_000);
  const usual = ["package.json", "index.js", "index.cjs", "index.mjs", "__main__.py"];
  return existing([...usual.map((name) => join(folder, name)), ...mainOf(folder, read)]);
}

function mainOf(folder: string, read: BoundedRead): string[] {
  try {
    const { main, bin } = JSON.parse(read.kind === "text" ? read.text : "{}") as Record<string, unknown>;
    const programs = isRecord(bin) ? Object.values(bin) : [bin];
    return [main, ...programs]
      .filter((name) => typeof name === "string")
      .flatMap((name) => [join(folder, name), join(folder, `${name}.js`)]);
  } catch {
    return [];
  }
}

function existing(paths: readonly (string | undefined)[]): string[] {
  return paths.filter((path) => path !== undefined).filter((path) => statOf(path) !== undefined);
}

/** Undefined also for what this user cannot reach: then the server cannot either. */
function statOf(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch {
    return undefined;
  }
}

function realPath(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

function pathOf(url: string): string | undefined {
  try {
    return fileURLToPath(url);
  } catch {
    return undefined;
  }
}
