import { defaultProfile } from "../auth/oauth/record.ts";
import { PlugboardError, isPlugboardError } from "../errors.ts";
import type { ServerConfig } from "../config/server-schema.ts";
import type { Emit } from "../events.ts";
import { canonicalJson, sha256 } from "../lib/canonical.ts";
import { matchesAny } from "../lib/glob.ts";
import type { Connection } from "../servers/connection.ts";
import type { JsonRpcAnswer } from "../servers/rpc/lane.ts";
import { entryFingerprint } from "../servers/server-memory.ts";
import type { ServerSet, User } from "../servers/server-set.ts";
import { defaultNaming, toolId } from "./names.ts";
import type { Naming } from "./names.ts";
import { ServerLists } from "./server-lists.ts";
import type { KnownList, ListKind, RawEntry } from "./server-lists.ts";
import type { Snapshots } from "./snapshot.ts";
import { inBundle, toolEntries } from "./tool-entry.ts";
import { matchTool, unknownTool } from "./tool-query.ts";
import type { ToolEntry } from "./tool-entry.ts";

/** A hub narrowed to some servers, tools, a bundle, or one caller. */
export interface Narrowing {
  servers?: readonly string[] | undefined;
  exclude?: readonly string[] | undefined;
  /** Globs over tool ids and the servers' own names. */
  tools?: readonly string[] | undefined;
  /** More globs, each list of which must match too: what the views above this one allow. */
  within?: readonly (readonly string[])[] | undefined;
  bundle?: string | undefined;
  caller?: string | undefined;
  /** As which account servers are used, instead of the configured one. Those without logins are used as they are. */
  profile?: string | undefined;
}

export interface ListedEntry {
  server: string;
  raw: RawEntry;
}

export interface CatalogSettings {
  servers: ServerSet;
  snapshots: Snapshots;
  emit: Emit;
  now(): number;
  ask(
    connection: Connection,
    server: string,
    method: string,
    params: Record<string, unknown>,
  ): Promise<JsonRpcAnswer>;
  toolFilter?: ((tool: ToolEntry) => boolean) | undefined;
}

const defaultTtlMs = 3_600_000;
const noConfig: ServerConfig = {};

/** Every tool, resource, template and prompt of every server, named, filtered, in a stable order. */
export class Catalog {
  readonly #settings: CatalogSettings;
  readonly #lists = new Map<string, ServerLists>();
  /** Judged tools by the list they were made from, so that unchanged lists are judged once. */
  readonly #judged = new WeakMap<object, { config: ServerConfig; by: string; entries: ToolEntry[] }>();
  /** By id, as each account has them; under `undefined` as the servers' own accounts do. */
  readonly #byId = new Map<string | undefined, Map<string, ToolEntry>>();

  constructor(settings: CatalogSettings) {
    this.#settings = settings;
  }

  /**
   * All tools of the narrowed servers with their standing. With `wait` servers without a fresh list are asked (and
   * started if need be); otherwise what is known is the answer. A server that fails is left out; its state says why.
   */
  tools(narrowing: Narrowing, wait: boolean): Promise<ToolEntry[]> {
    return this.#tools(narrowing, wait, () => undefined);
  }

  /** Entries of another kind, as the servers sent them. */
  async entries(
    kind: Exclude<ListKind, "tools">,
    narrowing: Narrowing,
    wait: boolean,
  ): Promise<ListedEntry[]> {
    const perServer = await Promise.all(
      this.serverNames(narrowing).map(async (server) => {
        const list = await this.list(server, kind, narrowing, wait).catch(notListed);
        return (list?.entries ?? []).map((raw) => ({ server, raw }));
      }),
    );
    return perServer.flat();
  }

  /** The tool with exactly this id, if its list was read in this run: no waiting, for the path of every call. */
  known(id: string, narrowing: Narrowing): ToolEntry | undefined {
    const { servers, exclude, profile } = narrowing;
    const entry = profile === undefined ? this.#byId.get(undefined)?.get(id) : this.#knownAs(profile, id);
    if (!entry || narrowing.caller !== undefined || narrowing.bundle !== undefined || narrowing.tools)
      return undefined;
    if ((servers && !servers.includes(entry.server)) || exclude?.includes(entry.server)) return undefined;
    return entry;
  }

  /** A server's tool by the server's own name, if its list is known to that account. */
  byName(server: string, name: string, other: string | undefined): ToolEntry | undefined {
    const id = toolId(
      server,
      this.#settings.servers.entry(server).config?.tools?.rename?.[name] ?? name,
      this.naming,
    );
    return this.#byId.get(other)?.get(id);
  }

  /**
   * The tool that an id means. Also understood are `server.tool`, `server/tool` and a bare name that only one server
   * has. Servers are asked only as far as needed to be sure, and not at all without `mayAsk`. When the one server that
   * is meant cannot be asked, its reason is the error.
   */
  async find(query: string, narrowing: Narrowing, mayAsk = true): Promise<ToolEntry> {
    const likely = this.#likely(query, narrowing);
    let failure: PlugboardError | undefined;
    for (const wait of mayAsk ? [false, true] : [false]) {
      const tools = await this.#tools(likely, wait, (error) => (failure = error));
      const found = matchTool(query, tools);
      if (found) return found;
    }
    if (failure && likely !== narrowing) throw failure;
    throw unknownTool(query, await this.tools(narrowing, false));
  }

  /**
   * The tool that a call means. A list from an earlier run, or one that is said to have changed, is good enough to look
   * at but not to act on: schema and annotations are confirmed by the server first.
   */
  async toCall(query: string, narrowing: Narrowing): Promise<ToolEntry> {
    const found = await this.find(query, narrowing);
    const lists = this.#listsOf(found.server, narrowing);
    if (lists.isConfirmed("tools")) return found;
    const before = await lists.peek("tools");
    try {
      await lists.refresh("tools");
    } catch (error) {
      if (before?.isSnapshot !== false) throw error;
    }
    const tools = await this.tools({ ...narrowing, servers: [found.server] }, false);
    const now = matchTool(found.id, tools);
    if (now) return now;
    throw unknownTool(query, tools);
  }

  async list(server: string, kind: ListKind, user: User, wait: boolean): Promise<KnownList | undefined> {
    const lists = this.#listsOf(server, user);
    if (wait) return lists.read(kind);
    return lists.peek(kind);
  }

  async refresh(server: string, kinds: readonly ListKind[], user: User = {}): Promise<void> {
    await Promise.all(kinds.map((kind) => this.#listsOf(server, user).refresh(kind)));
  }

  /** The server said that something changed. */
  invalidate(server: string, kind: "tools" | "resources" | "prompts"): void {
    for (const [key, lists] of this.#lists) {
      if (key.split("\0")[0] !== server) continue;
      lists.invalidate(kind);
      if (kind === "tools") this.#unindex(server);
      if (kind === "resources") lists.invalidate("resourceTemplates");
    }
  }

  /** The configuration of a server changed or it is gone: nothing known about it counts any more. */
  forget(server: string): void {
    for (const key of this.#lists.keys()) if (key.split("\0")[0] === server) this.#lists.delete(key);
    this.#unindex(server);
  }

  /** New rules are in force: what was judged by the old ones is judged anew. */
  forgetJudgements(): void {
    this.#byId.clear();
  }

  /** The usable servers of a narrowing, in a stable order. */
  serverNames(narrowing: Narrowing): string[] {
    const { servers } = this.#settings.servers.config;
    return this.#settings.servers
      .names()
      .filter((name) => servers.get(name)?.config !== undefined && servers.get(name)?.status.kind === "ready")
      .filter((name) => this.isVisible(name, narrowing))
      .sort();
  }

  /** Whether a server belongs to a narrowing, usable or not. */
  isVisible(name: string, { servers, exclude, bundle }: Narrowing): boolean {
    const inBundle = bundle === undefined || this.#bundle(bundle).servers.includes(name);
    return (!servers || servers.includes(name)) && !exclude?.includes(name) && inBundle;
  }

  get naming(): Naming {
    const { style = defaultNaming.style, maxLength = defaultNaming.maxLength } =
      this.#settings.servers.config.settings.naming ?? {};
    return { style, maxLength };
  }

  async #tools(
    narrowing: Narrowing,
    wait: boolean,
    onFailure: (error: PlugboardError) => void,
  ): Promise<ToolEntry[]> {
    const perServer = await Promise.all(
      this.serverNames(narrowing).map(async (server) => {
        const list = await this.list(server, "tools", narrowing, wait).catch((error: unknown) => {
          if (!isPlugboardError(error)) throw error;
          onFailure(error);
        });
        return list ? this.#judge(server, list, narrowing) : [];
      }),
    );
    return perServer.flat();
  }

  #bundle(name: string) {
    const { config } = this.#settings.servers.config.bundles.get(name) ?? {};
    if (config) return config;
    throw new PlugboardError("server-unknown", `There is no bundle "${name}".`, {
      hint: "`plugboard config show` lists the bundles.",
    });
  }

  #judge(server: string, list: KnownList, narrowing: Narrowing): ToolEntry[] {
    const { bundle, tools, within = [] } = narrowing;
    const { config = noConfig } = this.#settings.servers.entry(server);
    const { naming } = this;
    const by = `${naming.style} ${naming.maxLength}`;
    let judged = this.#judged.get(list.entries);
    if (judged?.config !== config || judged.by !== by) {
      judged = { config, by, entries: toolEntries(server, config, list.entries, naming) };
      this.#judged.set(list.entries, judged);
    }
    const { entries } = judged;
    const other = this.#settings.servers.otherProfile(server, narrowing.profile);
    if (!list.isSnapshot && !this.#byId.get(other)?.has(entries[0]?.id ?? ""))
      this.#index(server, entries, other);
    const narrowed =
      bundle === undefined ? entries : entries.map((entry) => inBundle(entry, config, this.#bundle(bundle)));
    const { toolFilter } = this.#settings;
    return narrowed

      .filter(({ id, name }) =>
        [...within, ...(tools ? [tools] : [])].every(
          (globs) => matchesAny(globs, id) || matchesAny(globs, name),
        ),
      )
      .map((entry) =>
        entry.standing === "offered" && toolFilter && !toolFilter(entry)
          ? { ...entry, standing: "hidden", because: "the host program's filter hides it" }
          : entry,
      );
  }

  /** The tool as another account has it, or as everybody has it where that is the server's own account. */
  #knownAs(profile: string, id: string): ToolEntry | undefined {
    const theirs = this.#byId.get(profile)?.get(id);
    if (theirs) return theirs;
    const entry = this.#byId.get(undefined)?.get(id);
    const isOwn = entry && this.#settings.servers.otherProfile(entry.server, profile) === undefined;
    return isOwn ? entry : undefined;
  }

  #unindex(server: string, known = [...this.#byId.values()]): void {
    for (const index of known) for (const [id, old] of index) if (old.server === server) index.delete(id);
  }

  #index(server: string, entries: readonly ToolEntry[], other: string | undefined): void {
    const index = this.#byId.get(other) ?? new Map<string, ToolEntry>();
    this.#byId.set(other, index);
    this.#unindex(server, [index]);
    if (this.#settings.toolFilter || this.#settings.servers.entry(server).config?.isolation === "caller")
      return;
    for (const entry of entries) index.set(entry.id, entry);
  }

  #listsOf(server: string, user: User): ServerLists {
    const { servers, snapshots, now, emit, ask } = this.#settings;
    const entry = servers.entry(server);
    const owner = entry.config?.isolation === "caller" ? user.caller : undefined;
    const other = servers.otherProfile(server, user.profile);
    const key = `${server}\0${JSON.stringify([owner, other])}`;
    const known = this.#lists.get(key);
    if (known) return known;
    const fingerprint = this.#fingerprint(server, other);
    // Lists are read over a lasting connection, also where every call has one of its own.
    const connection = () => servers.connection(server, { caller: owner, profile: other });
    const lists = new ServerLists({
      server,
      ttlMs: entry.config?.cacheTtlMs ?? defaultTtlMs,
      now,
      capabilities: async () => (await connection().ready()).greeting.capabilities,
      ask: async (method, params) => ask(connection(), server, method, params),
      loadSnapshot: () => snapshots.load(fingerprint, owner),
      saveSnapshot: (all) => snapshots.save(fingerprint, owner, all),
      onRefreshed: (kind, changed) => {
        connection().listRefreshed();
        if (changed)
          emit({
            type: "catalog-changed",
            server,
            kind: kind === "resourceTemplates" ? "resources" : kind,
            at: now(),
          });
      },
      onFailed: (error) => connection().listFailed(error),
    });
    this.#lists.set(key, lists);
    return lists;
  }

  /** Another account may be shown something else, so what is remembered is remembered for each. */
  #fingerprint(server: string, other: string | undefined): string {
    const { servers } = this.#settings;
    const entry = servers.entry(server);
    const chosen = servers.chosenProfile(server, other);
    const plain = entryFingerprint(entry);
    const isWritten = chosen === undefined || chosen === (entry.config?.oauth?.profile ?? defaultProfile);
    return isWritten ? plain : sha256(canonicalJson({ entry: plain, profile: chosen }));
  }

  /** The servers that can have the tool, judged by the shape of the query. */
  #likely(query: string, narrowing: Narrowing): Narrowing {
    const names = this.serverNames(narrowing);
    const { style } = this.naming;
    const [first, second] = query.split("__");
    const plain = style === "mcp" ? second : first;
    const short = names.find((name) => query.startsWith(`${name}.`) || query.startsWith(`${name}/`));
    const one = names.find((name) => name === plain) ?? short;
    return one === undefined ? narrowing : { ...narrowing, servers: [one] };
  }
}

function notListed(error: unknown): undefined {
  if (!isPlugboardError(error)) throw error;
  return undefined;
}
