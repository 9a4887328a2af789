import { PlugboardError, isPlugboardError } from "../errors.ts";
import type { ServerConfig } from "../config/server-schema.ts";
import type { Emit } from "../events.ts";
import { matchesAny } from "../lib/glob.ts";
import type { Connection } from "../servers/connection.ts";
import type { JsonRpcAnswer } from "../servers/lane.ts";
import { entryFingerprint } from "../servers/server-memory.ts";
import type { ServerSet } from "../servers/server-set.ts";
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
  readonly #byId = new Map<string, ToolEntry>();

  constructor(settings: CatalogSettings) {
    this.#settings = settings;
  }

  /**
   * All tools of the narrowed servers with their standing. With `wait` servers without a fresh list are asked (and
   * started if need be); otherwise what is known is the answer. A server that fails is left out; its state says why.
   */
  async tools(narrowing: Narrowing, wait: boolean): Promise<ToolEntry[]> {
    const perServer = await Promise.all(
      this.serverNames(narrowing).map(async (server) => {
        const list = await this.list(server, "tools", narrowing.caller, wait).catch(notListed);
        return list ? this.#judge(server, list, narrowing) : [];
      }),
    );
    return perServer.flat();
  }

  /** Entries of another kind, as the servers sent them. */
  async entries(
    kind: Exclude<ListKind, "tools">,
    narrowing: Narrowing,
    wait: boolean,
  ): Promise<ListedEntry[]> {
    const perServer = await Promise.all(
      this.serverNames(narrowing).map(async (server) => {
        const list = await this.list(server, kind, narrowing.caller, wait).catch(notListed);
        return (list?.entries ?? []).map((raw) => ({ server, raw }));
      }),
    );
    return perServer.flat();
  }

  /** The tool with exactly this id, if its list was read in this run: no waiting, for the path of every call. */
  known(id: string, narrowing: Narrowing): ToolEntry | undefined {
    const entry = this.#byId.get(id);
    if (!entry || narrowing.caller !== undefined || narrowing.bundle !== undefined || narrowing.tools)
      return undefined;
    const { servers, exclude } = narrowing;
    if ((servers && !servers.includes(entry.server)) || exclude?.includes(entry.server)) return undefined;
    return entry;
  }

  /** A server's tool by the server's own name, if its list is known. */
  byName(server: string, name: string): ToolEntry | undefined {
    const id = toolId(
      server,
      this.#settings.servers.entry(server).config?.tools?.rename?.[name] ?? name,
      this.naming,
    );
    return this.#byId.get(id);
  }

  /**
   * The tool that an id means. Also understood are `server.tool`, `server/tool` and a bare name that only one server
   * has. Servers are asked only as far as needed to be sure, and not at all without `mayAsk`.
   */
  async find(query: string, narrowing: Narrowing, mayAsk = true): Promise<ToolEntry> {
    for (const wait of mayAsk ? [false, true] : [false]) {
      const tools = await this.tools(this.#likely(query, narrowing), wait);
      const found = matchTool(query, tools);
      if (found) return found;
    }
    throw unknownTool(query, await this.tools(narrowing, false));
  }

  /**
   * The tool that a call means. A list from an earlier run, or one that is said to have changed, is good enough to look
   * at but not to act on: schema and annotations are confirmed by the server first.
   */
  async toCall(query: string, narrowing: Narrowing): Promise<ToolEntry> {
    const found = await this.find(query, narrowing);
    const lists = this.#listsOf(found.server, narrowing.caller);
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

  async list(
    server: string,
    kind: ListKind,
    caller: string | undefined,
    wait: boolean,
  ): Promise<KnownList | undefined> {
    const lists = this.#listsOf(server, caller);
    if (wait) return lists.read(kind);
    return lists.peek(kind);
  }

  async refresh(server: string, kinds: readonly ListKind[], caller?: string): Promise<void> {
    await Promise.all(kinds.map((kind) => this.#listsOf(server, caller).refresh(kind)));
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

  #bundle(name: string) {
    const { config } = this.#settings.servers.config.bundles.get(name) ?? {};
    if (config) return config;
    throw new PlugboardError("server-unknown", `There is no bundle "${name}".`, {
      hint: "`plugboard config show` lists the bundles.",
    });
  }

  #judge(server: string, list: KnownList, { bundle, tools, within = [] }: Narrowing): ToolEntry[] {
    const { config = noConfig } = this.#settings.servers.entry(server);
    const { naming } = this;
    const by = `${naming.style} ${naming.maxLength}`;
    let judged = this.#judged.get(list.entries);
    if (judged?.config !== config || judged.by !== by) {
      judged = { config, by, entries: toolEntries(server, config, list.entries, naming) };
      this.#judged.set(list.entries, judged);
    }
    const { entries } = judged;
    if (!list.isSnapshot && !this.#byId.has(entries[0]?.id ?? "")) this.#index(server, entries);
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

  #unindex(server: string): void {
    for (const [id, old] of this.#byId) if (old.server === server) this.#byId.delete(id);
  }

  #index(server: string, entries: readonly ToolEntry[]): void {
    this.#unindex(server);
    if (this.#settings.toolFilter || this.#settings.servers.entry(server).config?.isolation === "caller")
      return;
    for (const entry of entries) this.#byId.set(entry.id, entry);
  }

  #listsOf(server: string, caller: string | undefined): ServerLists {
    const { servers, snapshots, now, emit, ask } = this.#settings;
    const entry = servers.entry(server);
    const owner = entry.config?.isolation === "caller" ? caller : undefined;
    const key = `${server}\0${owner ?? ""}`;
    const known = this.#lists.get(key);
    if (known) return known;
    const fingerprint = entryFingerprint(entry);
    // Lists are read over the server's own connection, also where every call has one of its own.
    const over = <T>(work: (connection: Connection) => T | Promise<T>): Promise<T> =>
      owner === undefined
        ? Promise.resolve(work(servers.connection(server)))
        : servers.use(server, owner, async (own) => work(own));
    const lists = new ServerLists({
      server,
      ttlMs: entry.config?.cacheTtlMs ?? defaultTtlMs,
      now,
      capabilities: () => over(async (connection) => (await connection.ready()).greeting.capabilities),
      ask: (method, params) => over((connection) => ask(connection, server, method, params)),
      loadSnapshot: () => snapshots.load(fingerprint, owner),
      saveSnapshot: (all) => snapshots.save(fingerprint, owner, all),
      onRefreshed: (kind, changed) => {
        servers.connection(server).listRefreshed();
        if (changed)
          emit({
            type: "catalog-changed",
            server,
            kind: kind === "resourceTemplates" ? "resources" : kind,
            at: now(),
          });
      },
      onFailed: (error) => servers.connection(server).listFailed(error),
    });
    this.#lists.set(key, lists);
    return lists;
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
