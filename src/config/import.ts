import { readdir } from "node:fs/promises";
import { extname, join } from "node:path";
import { canonicalJson } from "../lib/canonical.ts";
import { withoutAutoApproval } from "./formats/auto-approval.ts";
import type { ClientName } from "./sync/client-names.ts";
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

/** A server that an import would add, or why it would not. */
export interface PlannedServer {
  /** The name it gets here: valid, and unique within the import. */
  name: string;
  config: ServerConfig;
  scope: WritableScope;
  from: { client: string; title: string; file: string; name: string; scope: "user" | "project" };
  /**
   * `same`: already configured here, with the same target. `double`: another client has it too, which this import reads
   * first. `taken`: what is configured here by that name starts or contacts something else. `left`: the person chose not
   * to import it.
   */
  action: "add" | "same" | "double" | "taken" | "left";
  /** In which fields it differs from what is configured here. */
  differs?: string[];
  notes: Note[];
}

/** Decides what an import would do. It never overwrites an existing server, and adds a server found in two clients once. */
export function planImport(
  files: readonly ForeignFile[],
  config: LoadedConfig,
  scope?: WritableScope,
  names: readonly ClientName[] = [],
): PlannedServer[] {
  const configured = new Set([...config.servers.keys()].map((name) => name.toLowerCase()));
  const added: Added = { contents: new Map(), names: new Set(), configured, imported: names };
  return files.flatMap((file) =>
    file.imported.servers.flatMap((server) => {
      const plan = planServer(server, file, config, added, scope);
      if (plan.action !== "add") return [plan];
      added.contents.set(contentOf(plan.config), plan.name);
      added.names.add(plan.name.toLowerCase());
      return server.offHere && plan.scope !== "local" ? offForThisProject(plan) : [plan];
    }),
  );
}

/** What a server is, whether or not it is switched on. */
export function contentOf(config: ServerConfig): string {
  return canonicalJson(comparable(config));
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
  /** The names it gets here, by content. */
  contents: Map<string, string>;
  /** In lower case: names must differ in more than that. */
  names: Set<string>;
  /** The names that are configured already, in lower case. */
  configured: ReadonlySet<string>;
  /** What earlier imports called the servers of these files. */
  imported: readonly ClientName[];
}

function planServer(
  { name: original, config: found, notes: given, local }: ImportedServer,
  { format, file, scope: fileScope }: ForeignFile,
  existing: LoadedConfig,
  added: Added,
  scope: WritableScope | undefined,
): PlannedServer {
  const { config, lost: unasked } = withoutAutoApproval(found);
  const notes = [...given, ...unasked.map((field) => notTakenOver(field, format.title))];
  let name = validName(original);
  if (name !== original)
    notes.push({ kind: "translated", field: "name", message: `"${original}" is renamed to "${name}"` });
  const content = contentOf(config);
  const other = `${name.slice(0, 40)}-${format.id}`;
  const target = scope ?? (local ? "local" : fileScope);
  const from = { client: format.id, title: format.title, file, name: original, scope: fileScope };
  const base = { config, scope: target, from, notes };
  // An earlier import may have had to rename it.
  const { ours: before } =
    added.imported.find((one) => one.client === format.id && one.file === file && one.theirs === original) ??
    {};
  const configOf = (one: string) => existing.servers.get(one)?.config;
  const candidates = [...new Set([before ?? name, name, other])];
  const fitting = candidates.filter((one) => isSameTarget(configOf(one), config));
  const known = fitting.find((one) => contentOf(configOf(one) ?? {}) === content) ?? fitting[0];
  if (known !== undefined) return { ...base, name: known, action: "same", ...differing(configOf(known)) };
  if (before !== undefined && configOf(before))
    return { ...base, name: before, action: "taken", ...differing(configOf(before)) };
  const twin = added.contents.get(content);
  if (twin !== undefined) return { ...base, name: twin, action: "double" };
  if (added.names.has(name.toLowerCase())) {
    notes.push({
      kind: "translated",
      field: "name",
      message: `another server that is imported is called "${name}"`,
    });
    name = freeName(other, added.names);
  }
  const isTaken = added.configured.has(name.toLowerCase());
  return { ...base, name, action: isTaken ? "taken" : "add", ...(isTaken && differing(configOf(name))) };

  function differing(ours: ServerConfig | undefined): Pick<PlannedServer, "differs"> {
    const differs = ours ? differingFields(ours, config) : [];
    return differs.length > 0 ? { differs } : {};
  }
}

/** What a client may do without asking was decided for that client. */
function notTakenOver(field: string, title: string): Note {
  const message = `${title} calls without asking, which is not taken over; set \`approval\` here if you want that`;
  return { kind: "lost", field, message };
}

const target: readonly (keyof ServerConfig)[] = ["type", "command", "args", "url"];

function isSameTarget(ours: ServerConfig | undefined, theirs: ServerConfig): boolean {
  return ours !== undefined && !differingFields(ours, theirs).some((field) => target.includes(field));
}

function differingFields(ours: ServerConfig, theirs: ServerConfig): (keyof ServerConfig)[] {
  const [one, other] = [comparable(ours), comparable(theirs)];
  const fields = [...new Set([...Object.keys(one), ...Object.keys(other)])] as (keyof ServerConfig)[];
  return fields.filter((field) => canonicalJson(one[field] ?? null) !== canonicalJson(other[field] ?? null));
}

function comparable(config: ServerConfig): ServerConfig {
  const { args, ...rest } = switchedOn(config);
  const isHttp = rest.url !== undefined && rest.type === undefined;
  return { ...rest, ...(isHttp && { type: "http" }), ...(args && args.length > 0 && { args }) };
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
