import { readdir } from "node:fs/promises";
import { extname, join } from "node:path";
import { canonicalJson } from "../lib/canonical.ts";
import { readBoundedFile } from "../lib/bounded-file.ts";
import { cannotCheck } from "./diagnose.ts";
import { parseDocument, positionAt, syntaxOf } from "./documents/document.ts";
import { formats } from "./formats/index.ts";
import type { Format, FormatFile, ImportedFile, ImportedServer, Machine, Note } from "./formats/format.ts";
import type { LoadedConfig } from "./model.ts";
import type { WritableScope } from "./places.ts";
import type { ServerConfig } from "./server-schema.ts";

/** Another client's configuration file on this machine, and its content. */
export interface ForeignFile {
  format: Format;
  file: string;
  scope: "user" | "project";
  imported: ImportedFile;
  /** Why the file could not be read. */
  problem?: string;
}

/** Larger than our own limit: some clients keep much more than servers in their file. */
export const maxForeignBytes = 20_000_000;

/** Finds and reads the configuration files of other clients. */
export async function findForeignFiles(machine: Machine, ids?: readonly string[]): Promise<ForeignFile[]> {
  const chosen = formats.filter((format) => !ids || ids.includes(format.id));
  const found = await Promise.all(
    chosen.map(async (format) => {
      const listed = (await Promise.all(format.files(machine).map(listFolder))).flat();
      // In the home folder, a client's file for the project is the one for the user.
      const files = listed.filter(
        ({ path }, index) => listed.findIndex((one) => one.path === path) === index,
      );
      const read = await Promise.all(files.map((file) => readForeignFile(format, file, machine)));
      return read.filter((file) => file !== undefined);
    }),
  );
  return found.flat();
}

async function listFolder(entry: FormatFile): Promise<FormatFile[]> {
  if (!entry.extensions) return [entry];
  const names = await readdir(entry.path).catch(() => []);
  const wanted = names.filter((name) => entry.extensions?.includes(extname(name).slice(1))).sort();
  return wanted.slice(0, 200).map((name) => ({ path: join(entry.path, name), scope: entry.scope }));
}

/** Reads one file in a client's format; undefined if the file does not exist. */
export async function readForeignFile(
  format: Format,
  { path, scope }: FormatFile,
  { projectRoot, home }: Pick<Machine, "projectRoot" | "home">,
): Promise<ForeignFile | undefined> {
  const read = await readBoundedFile(path, maxForeignBytes);
  if (read.kind === "missing") return undefined;
  const nothing = { format, file: path, scope, imported: { servers: [], notes: [], skipped: [] } };
  if (read.kind === "refused") return { ...nothing, problem: `the file ${read.reason}` };
  const syntax = syntaxOf(path) ?? (format.syntax === "jsonc" ? "json" : format.syntax);
  const document = await parseDocument(read.text, syntax);
  const problem = document.problems.find(({ path: inside }) => inside === undefined);
  if (problem) {
    const { line, column } = positionAt(read.text, problem.offset);
    return { ...nothing, problem: `${problem.message} (line ${line}, column ${column})` };
  }
  try {
    return { ...nothing, imported: format.read(document.value, { projectRoot, home, scope, file: path }) };
  } catch (error) {
    // One file that nobody foresaw must not keep the others from being imported.
    return { ...nothing, problem: cannotCheck(error) };
  }
}

export interface PlannedServer {
  /** The name it gets here: valid, and unique within the import. */
  name: string;
  config: ServerConfig;
  scope: WritableScope;
  from: { client: string; title: string; file: string; name: string; scope: "user" | "project" };
  /**
   * `same`: already configured here. `taken`: the name is configured here with different content. `left`: somebody chose
   * not to import it.
   */
  action: "add" | "same" | "taken" | "left";
  notes: Note[];
}

/** Decides what an import would do. It never overwrites an existing server, and adds a server found in two clients once. */
export function planImport(
  files: readonly ForeignFile[],
  config: LoadedConfig,
  scope?: WritableScope,
): PlannedServer[] {
  const configured = new Set([...config.servers.keys()].map((name) => name.toLowerCase()));
  const added: Added = { contents: new Set(), names: new Set(), configured };
  return files.flatMap((file) =>
    file.imported.servers.flatMap((server) => {
      const plan = planServer(server, file, config, added, scope);
      if (plan.action !== "add") return [plan];
      added.contents.add(contentOf(plan.config));
      added.names.add(plan.name.toLowerCase());
      return server.offHere && plan.scope !== "local" ? offForThisProject(plan) : [plan];
    }),
  );
}

/** What a server is, whether or not it is switched on. */
export function contentOf(config: ServerConfig): string {
  return canonicalJson(switchedOn(config));
}

function switchedOn(config: ServerConfig): ServerConfig {
  const { enabled: _, ...rest } = config;
  return rest;
}

/** A server that only this project switches off stays on in the others: an entry in the local scope shadows it. */
function offForThisProject(plan: PlannedServer): PlannedServer[] {
  const message = "is false for this project only";
  const note: Note = { kind: "translated", field: "enabled", message };
  return [
    { ...plan, config: switchedOn(plan.config) },
    { ...plan, scope: "local", notes: [note] },
  ];
}

/** What the import adds so far. */
interface Added {
  contents: Set<string>;
  /** In lower case: names must differ in more than that. */
  names: Set<string>;
  /** The names that are configured already, in lower case. */
  configured: ReadonlySet<string>;
}

function planServer(
  { name: original, config, notes: given, local }: ImportedServer,
  { format, file, scope: fileScope }: ForeignFile,
  existing: LoadedConfig,
  added: Added,
  scope: WritableScope | undefined,
): PlannedServer {
  const notes = [...given];
  let name = validName(original);
  if (name !== original)
    notes.push({ kind: "translated", field: "name", message: `"${original}" is renamed to "${name}"` });
  const content = contentOf(config);
  const other = `${name.slice(0, 40)}-${format.id}`;
  // An earlier import may have had to rename it.
  const known = [name, other].find((one) => {
    const ours = existing.servers.get(one)?.config;
    return ours !== undefined && contentOf(ours) === content;
  });
  name = known ?? name;
  const isSame = known !== undefined || added.contents.has(content);
  if (!isSame && added.names.has(name.toLowerCase())) {
    notes.push({
      kind: "translated",
      field: "name",
      message: `another server that is imported is called "${name}"`,
    });
    name = freeName(other, added.names);
  }
  const target = scope ?? (local ? "local" : fileScope);
  const action = isSame ? "same" : added.configured.has(name.toLowerCase()) ? "taken" : "add";
  const from = { client: format.id, title: format.title, file, name: original, scope: fileScope };
  return { name, config, scope: target, from, action, notes };
}

function freeName(name: string, taken: ReadonlySet<string>): string {
  if (!taken.has(name.toLowerCase())) return name;
  return freeName(`${name}-${taken.size}`, taken);
}

function validName(name: string): string {
  const valid = name
    .slice(0, 200)
    .normalize("NFKD")
    .replaceAll(/[^A-Za-z0-9_.-]+/g, "-")
    .replaceAll(/^[^A-Za-z0-9]+|-+$/g, "")
    .slice(0, 64);
  return valid || "server";
}
