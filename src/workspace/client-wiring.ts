import { existsSync, lstatSync, rmdirSync } from "node:fs";
import { dirname } from "node:path";
import { parseDocument } from "../config/documents/document.ts";
import { rewriteFile } from "../config/edit.ts";
import type { Editing, FoundText } from "../config/edit.ts";
import type { Format, ImportedServer, Machine, NamedServer } from "../config/formats/format.ts";
import { maxForeignBytes, readForeignFile } from "../config/import.ts";
import type { LoadedConfig } from "../config/model.ts";
import type { ServerConfig } from "../config/server-schema.ts";
import { assertInProject } from "../config/sync/client-file.ts";
import { assertMergeable, compareServers, fileToWrite } from "../config/sync/client.ts";
import type { ClientComparison } from "../config/sync/client.ts";
import type { ClientName } from "../config/sync/client-names.ts";
import { addEntries, namesThere } from "../config/wiring/client-edit.ts";
import type { ClientEdit } from "../config/wiring/client-edit.ts";
import { marksOf } from "../config/wiring/entry-marks.ts";
import { removeEntries } from "../config/wiring/removal.ts";
import type { Removal } from "../config/wiring/removal.ts";
import { PlugboardError } from "../errors.ts";
import { canonicalJson } from "../lib/canonical.ts";
import { isInside } from "../lib/folders.ts";
import { clientEdits, forgetClientEdit, keepClientEdit } from "./client-edits.ts";
import type { WorkspaceState } from "./state.ts";

type Scope = "user" | "project";

export interface WiringContext {
  state: WorkspaceState;
  machine: Machine;
  load: () => Promise<LoadedConfig>;
  editing: (scope: Scope) => Pick<Editing, "lock" | "newFileMode">;
}

/** Which entries of a client are ours, besides those that were written by `add`. */
export interface WiringOptions {
  /** What the client calls our servers. */
  names?: readonly ClientName[];
  /** True for a client's entry that may be replaced, even if it starts or contacts something else now. */
  isOurs?: (config: ServerConfig) => boolean;
}

/** One file of a client, and our entries in it. */
export interface WiredFile {
  file: string;
  exists: boolean;
  /** Why it cannot be read. */
  problem?: string;
  servers: ImportedServer[];
  /** The names of the entries that were written by `add`, without those that others replaced. */
  entries: string[];
}

interface RemovedFrom {
  file: string;
  how: Removal;
  isGone: boolean;
}

/** Writes entries into other clients' files, and takes them out again so that the files are as they were. */
export class ClientWiring {
  readonly #context: WiringContext;

  constructor(context: WiringContext) {
    this.#context = context;
  }

  /** What was written into a client's file and not taken out yet. */
  async #edit(format: Format, scope: Scope): Promise<ClientEdit | undefined> {
    const { state, machine } = this.#context;
    const edits = await state.kept([], clientEdits);
    const isHere = ({ file }: ClientEdit) => scope === "user" || isInside(machine.projectRoot, file);
    return edits.find((one) => one.client === format.id && one.scope === scope && isHere(one));
  }

  /**
   * Compares entries with a client's file. Another server of the same name is left alone, unless `add` wrote it or
   * `isOurs` says that it is meant.
   */
  async plan(
    format: Format,
    scope: Scope,
    servers: readonly NamedServer[],
    { names = [], isOurs = () => false }: WiringOptions = {},
  ): Promise<ClientComparison> {
    const { machine, load } = this.#context;
    const edit = await this.#edit(format, scope);
    const file = edit?.file ?? fileToWrite(format, scope, machine, await load());
    const { home, projectRoot } = machine;
    const nameOf = (name: string): ClientName => ({ client: format.id, file, theirs: name, ours: name });
    const comparing = {
      context: { home, projectRoot, scope, file },
      known: new Set([...servers.map(({ name }) => name), ...names.map(({ ours }) => ours)]),
      keepOthers: true,
      servers,
    };
    const { entries } = await this.read(format, scope);
    const known = [...names, ...entries.map(nameOf)];
    const first = await compareServers(format, { ...comparing, names: known });
    const others = first.compared.servers.filter(({ state }) => state === "other");
    const meant = others.filter(({ theirs }) => theirs && isOurs(theirs)).map(({ name }) => nameOf(name));
    if (meant.length === 0) return first;
    return compareServers(format, { ...comparing, names: [...known, ...meant] });
  }

  /** A client's file as it is, and what was written into it. */
  async read(format: Format, scope: Scope): Promise<WiredFile> {
    const { machine, load } = this.#context;
    const edit = await this.#edit(format, scope);
    const file = edit?.file ?? fileToWrite(format, scope, machine, await load());
    const read = await readForeignFile(format, { path: file, scope }, machine);
    const { imported: { servers } = { servers: [] }, problem } = read ?? {};
    const isReplaced = ({ name, config }: NamedServer) =>
      edit?.marks !== undefined && !marksOf(name, config).some((mark) => edit.marks?.includes(mark));
    const replaced = servers.filter(isReplaced).map(({ name }) => name);
    return {
      file,
      exists: read !== undefined,
      servers: servers.filter(({ local }) => !local),
      entries: edit?.entries.filter((name) => !replaced.includes(name)) ?? [],
      ...(problem !== undefined && { problem }),
    };
  }

  /** Writes what a plan found. Refuses if the file changed since then. */
  async add(plan: ClientComparison): Promise<void> {
    await this.#alone(plan, () => this.#add(plan));
  }

  async #add({ format, scope, file, compared, compare }: ClientComparison): Promise<void> {
    const { merging } = assertMergeable(format);
    const earlier = await this.#edit(format, scope);
    const { entries: ours } = await this.read(format, scope);
    const store = await this.#context.state.durable();
    await this.#rewrite(file, scope, async (found) => {
      const { changes } = compare(found.value);
      if (canonicalJson(changes) !== canonicalJson(compared.changes)) throw changedSince(file, format);
      if (changes.length === 0) return undefined;
      const created = found.exists ? undefined : missingFolders(file);
      // One whose entries are gone by now is over.
      const isLive = earlier && namesThere(found.value, ours, merging).length > 0;
      const edit = isLive
        ? { ...earlier, entries: ours }
        : { client: format.id, scope, file, ...(created && { created }) };
      const written = compared.servers.filter(({ state }) => state === "missing" || state === "different");
      const entries = written.map(({ name, nameThere = name }) => nameThere);
      const added = await addEntries(found, changes, { entries, merging, edit });
      // Kept first: without it, the file could not be given back.
      const marks = await this.#marks(format, added, found);
      await keepClientEdit(store, { ...added.edit, marks });
      return added.text;
    });
  }

  /**
   * Takes entries out of a client's file, and says how: the file is what it was before, or without the very text that
   * was added, or edited because others changed that text. Undefined if it has none of them.
   */
  remove(format: Format, scope: Scope, names: readonly string[]): Promise<RemovedFrom | undefined> {
    return this.#alone({ format, scope }, () => this.#remove(format, scope, names));
  }

  async #remove(format: Format, scope: Scope, names: readonly string[]): Promise<RemovedFrom | undefined> {
    const { merging } = assertMergeable(format);
    const { machine, load, state } = this.#context;
    const edit = await this.#edit(format, scope);
    const file = edit?.file ?? fileToWrite(format, scope, machine, await load());
    if (!existsSync(file)) {
      if (edit) await forgetClientEdit(await state.durable(), edit);
      return undefined;
    }
    let removed: { how: Removal; isGone: boolean } | undefined;
    let left: ClientEdit | undefined;
    await this.#rewrite(file, scope, async (found) => {
      const there = namesThere(found.value, names, merging);
      if (there.length === 0) return undefined;
      const { text, how, edit: rest } = await removeEntries(found, there, { merging, edit, file });
      const isGone = text === null && !isLink(file);
      removed = { how, isGone };
      left = rest;
      return text ?? (isGone ? null : "");
    });
    if (removed?.isGone) removeFolders(edit?.created ?? []);
    if (left) await keepClientEdit(await state.durable(), left);
    else if (edit) await forgetClientEdit(await state.durable(), edit);
    return removed && { file, ...removed };
  }

  /** Read back as they will be read later: a client may have another notation for the same. */
  async #marks(
    format: Format,
    { text, edit }: { text: string; edit: ClientEdit },
    { syntax }: FoundText,
  ): Promise<string[]> {
    const { home, projectRoot } = this.#context.machine;
    const { value } = await parseDocument(text, syntax);
    const { servers } = format.read(value, { home, projectRoot, scope: edit.scope, file: edit.file });
    return servers
      .filter(({ name }) => edit.entries.includes(name))
      .flatMap(({ name, config }) => marksOf(name, config));
  }

  /** The record and the file change together: another command waits, so that neither loses what the other wrote. */
  #alone<T>({ format, scope }: { format: Format; scope: Scope }, work: () => Promise<T>): Promise<T> {
    return this.#context.editing(scope).lock(`wiring:${format.id}/${scope}`, work);
  }

  async #rewrite(
    file: string,
    scope: Scope,
    decide: (found: FoundText) => Promise<string | null | undefined>,
  ): Promise<void> {
    if (scope === "project") assertInProject(file, this.#context.machine.projectRoot);
    await rewriteFile(file, { ...this.#context.editing(scope), maxBytes: maxForeignBytes }, decide);
  }
}

/** The folders that would be created for a file, the innermost first. */
function missingFolders(file: string): string[] {
  const folders: string[] = [];
  for (
    let folder = dirname(file);
    !existsSync(folder) && dirname(folder) !== folder;
    folder = dirname(folder)
  )
    folders.push(folder);
  return folders;
}

function removeFolders(folders: readonly string[]): void {
  for (const folder of folders) {
    try {
      rmdirSync(folder);
    } catch {
      // Somebody else has put something into it.
      return;
    }
  }
}

function isLink(file: string): boolean {
  return lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink() ?? false;
}

function changedSince(file: string, { title }: Format): PlugboardError {
  return new PlugboardError("config-unreadable", `${file} changed in the meantime; nothing was written.`, {
    data: { file },
    hint: `Run the command again. If ${title} is running, it may write this file too.`,
  });
}
