import { existsSync } from "node:fs";
import { PlugboardError } from "../../errors.ts";
import { readBoundedFile } from "../../lib/bounded-file.ts";
import { isRecord } from "../../lib/record.ts";
import { isSameFile } from "../../lib/same-file.ts";
import {
  formatPath,
  parseDocument,
  type Path,
  positionAt,
  syntaxOf,
  valueAt,
} from "../documents/document.ts";
import type { Format, Machine, Merging, NamedServer } from "../formats/format.ts";
import { formats } from "../formats/index.ts";
import { maxForeignBytes } from "../import.ts";
import type { LoadedConfig, ServerEntry } from "../model.ts";
import { clientFile } from "./client-file.ts";
import type { ClientName } from "./client-names.ts";
import { type ComparedDocument, compareDocument, type Comparing } from "./plan.ts";

/** Our servers compared with those in one file of a client. */
export interface ClientComparison {
  format: Format;
  scope: "user" | "project";
  file: string;
  exists: boolean;
  /** Why the file cannot be read; nothing is compared then. */
  problem?: string;
  compared: ComparedDocument;
  /** Our servers that cannot be compared because they cannot be used here. */
  unusable: string[];
  /** Compares again, with the file's current content. */
  compare: (document: Record<string, unknown>) => ComparedDocument;
}

/** The enabled servers that belong to a scope. Those of plugins need their folder, so no client gets them. */
export function serversOf({ servers }: LoadedConfig, scope: "user" | "project"): ServerEntry[] {
  return [...servers.values()].filter(({ origin, config }) => {
    const isProjects = origin.scope === "project" || origin.scope === "local";
    const belongs = scope === "project" ? origin.scope === "project" : !isProjects;
    return belongs && origin.scope !== "plugin" && config?.enabled !== false;
  });
}

export interface CompareOptions {
  formats?: readonly Format[] | undefined;
  scope?: "user" | "project" | undefined;
}

/** What is compared with a client's file. */
export interface Compared extends Pick<Comparing, "names" | "keepOthers"> {
  servers: readonly ServerEntry[];
  config: LoadedConfig;
}

/** The same, of servers that need not be configured. */
interface ComparedServers extends Comparing {
  servers: readonly NamedServer[];
}

/** Compares with every file that exists. A file that is also ours is passed over: it cannot differ from itself. */
export async function compareClients(
  { formats: chosen, scope }: CompareOptions,
  machine: Machine,
  config: LoadedConfig,
  names: readonly ClientName[] = [],
): Promise<ClientComparison[]> {
  const wanted = chosen?.map(assertMergeable) ?? formats.filter(({ merging }) => merging);
  const scopes = scope === undefined ? (["user", "project"] as const) : [scope];
  const compared: ClientComparison[] = [];
  for (const format of wanted) {
    for (const one of scopes) {
      const file = clientFile(format, one, machine)?.path;
      if (file === undefined || !existsSync(file) || isOwn(file, config)) continue;
      // In the home folder, a client's file for the project is the one for the user.
      if (compared.some((other) => other.format.id === format.id && isSameFile(other.file, file))) continue;
      const ours = { servers: serversOf(config, one), config, names, keepOthers: true };
      compared.push(await compareClient(format, one, machine, ours));
    }
  }
  return compared;
}

/** Also through a link, which would turn our own file into another client's. */
function isOwn(file: string, { sources }: LoadedConfig): boolean {
  return sources.some((source) => isSameFile(source.file, file));
}

export async function compareClient(
  format: Format,
  scope: "user" | "project",
  machine: Machine,
  { servers, config, names, keepOthers }: Compared,
): Promise<ClientComparison> {
  const usable = servers.flatMap(({ name, config: ours, status }): NamedServer[] => {
    const isUsable = status.kind === "ready" || status.reason === "off" || status.reason === "missing-value";
    return ours && isUsable ? [{ name, config: ours }] : [];
  });
  const used = new Set(usable.map(({ name }) => name));
  const unusable = servers.map(({ name }) => name).filter((name) => !used.has(name));
  const known = new Set(config.servers.keys());
  const file = fileToWrite(format, scope, machine, config);
  const { home, projectRoot } = machine;
  const context = { home, projectRoot, scope, file };
  const comparing = { context, known, ...(names && { names }), ...(keepOthers && { keepOthers }) };
  return { ...(await compareServers(format, { ...comparing, servers: usable })), unusable };
}

/** The file that a client's servers are written to. Refuses our own: it cannot differ from itself. */
export function fileToWrite(
  format: Format,
  scope: "user" | "project",
  machine: Machine,
  config: LoadedConfig,
): string {
  const file = clientFile(assertMergeable(format), scope, machine)?.path;
  if (file === undefined) {
    throw new PlugboardError("usage-invalid", `${format.title} has no file for the ${scope} scope.`, {
      hint: `Choose --scope ${scope === "user" ? "project" : "user"}.`,
    });
  }
  if (isOwn(file, config)) {
    throw new PlugboardError("usage-invalid", `${file} is also Plugboard's own file.`, {
      hint: "Add servers to it with `plugboard add --scope project`; the client reads them there.",
      data: { file },
    });
  }
  return file;
}

export async function compareServers(
  format: Format,
  { servers, ...comparing }: ComparedServers,
): Promise<ClientComparison> {
  const mergeable = assertMergeable(format);
  const { file, scope } = comparing.context;
  const compare = (document: Record<string, unknown>) =>
    compareDocument(mergeable, document, servers, comparing);
  const { document, exists, problem: unreadable } = await readDocument(file);
  const problem = unreadable ?? containerProblem(mergeable.merging, document);
  const nothing = { servers: [], onlyThere: [], changes: [] };
  const compared = problem === undefined ? compare(document) : nothing;
  return {
    format,
    scope,
    file,
    exists,
    compared,
    unusable: [],
    compare,
    ...(problem !== undefined && { problem }),
  };
}

/** Servers cannot be added to something that has no place for them. Nothing at all, or `null`, gets one. */
function containerProblem(
  { container, nameField }: Merging,
  document: Record<string, unknown>,
): string | undefined {
  const path = container(document);
  const outer = path.map((_, index) => path.slice(0, index + 1));
  const isList = (one: Path) => nameField !== undefined && one.length === path.length;
  const wrong = outer.find((one) => {
    const value = valueAt(document, one) ?? undefined;
    return value !== undefined && !(isList(one) ? Array.isArray(value) : isRecord(value));
  });
  return wrong && `\`${formatPath(wrong)}\` is not ${isList(wrong) ? "a list" : "an object"}`;
}

export function assertMergeable(format: Format): Format & { merging: Merging } {
  const { merging } = format;
  if (merging) return { ...format, merging };
  throw new PlugboardError(
    "usage-invalid",
    `Plugboard can import from ${format.title} but not write its files.`,
  );
}

async function readDocument(
  file: string,
): Promise<{ document: Record<string, unknown>; exists: boolean; problem?: string }> {
  const read = await readBoundedFile(file, maxForeignBytes);
  if (read.kind === "missing") return { document: {}, exists: false };
  if (read.kind === "refused") return { document: {}, exists: true, problem: `the file ${read.reason}` };
  const { value, problems } = await parseDocument(read.text, syntaxOf(file) ?? "json");
  const [first] = problems;
  if (first) {
    const { line, column } = positionAt(read.text, first.offset);
    return { document: {}, exists: true, problem: `${first.message} (line ${line}, column ${column})` };
  }
  if (!isRecord(value)) return { document: {}, exists: true, problem: "the file is not an object" };
  return { document: value, exists: true };
}
