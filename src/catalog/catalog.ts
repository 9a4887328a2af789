import { isPlugboardError } from "../errors.ts";
import { pinnedName } from "../config/lock/pins.ts";
import type { LoadedConfig } from "../config/model.ts";
import { waitCancelled } from "../lib/abortable.ts";
import type { ConnectionKey } from "../servers/connection-key.ts";
import { AllLists } from "./all-lists.ts";
import { usableEntries } from "./deep-entry.ts";
import { digestOf } from "./digest.ts";
import type { DigestKind } from "./digest.ts";
import type { Scope } from "./filter.ts";
import { findPrompt } from "./find-prompt.ts";
import { findByName, findMeant, unknownTool } from "./find-tool.ts";
import type { ToolsPlace } from "./find-tool.ts";
import type { KnownList, ListKind, RawEntry } from "./known-list.ts";
import { ServersMeant } from "./meant.ts";
import type { Naming } from "./names.ts";
import { PinVerdicts, pinMismatch } from "./pin-problem.ts";
import type { PinProblem } from "./pin-problem.ts";
import { promptCommands } from "./prompts.ts";
import type { PromptCommand } from "./prompts.ts";
import { JudgingRules } from "./rules.ts";
import { ScopeView } from "./scope-view.ts";
import type { FoundTool, SearchOptions, ToolSearch } from "./search.ts";
import type { SearchedList } from "./search/search-index.ts";
import type { CatalogSettings, ListedEntry, ListOptions } from "./settings.ts";
import type { ToolEntry } from "./tool-entry.ts";
import type { ToolIndex } from "./tool-index.ts";

/** Every tool, resource, template and prompt of every server, named, filtered, in a stable order. */
export class Catalog {
  readonly #settings: CatalogSettings;
  readonly #rules: JudgingRules;
  readonly #lists: AllLists;
  readonly #views = new WeakMap<Scope, ScopeView>();
  /** Loaded with the first search, because few commands need it. */
  #search: ToolSearch | undefined;
  readonly #pinned = new PinVerdicts();
  #meant: { config: LoadedConfig; servers: ServersMeant } | undefined;

  constructor(settings: CatalogSettings) {
    this.#settings = settings;
    this.#rules = new JudgingRules(settings.servers);
    this.#lists = new AllLists(settings, (server) => this.#rules.of(server), this.#pinned);
  }

  /**
   * All tools that a scope shows, with their status. With `wait` servers without a fresh list are asked (and started
   * if need be); otherwise what is known is the answer. A server that fails is left out, its state says why, and it is
   * waited for only the first time.
   */
  async tools(scope: Scope, options: ListOptions = {}): Promise<ToolEntry[]> {
    const perServer = await Promise.all(
      this.#view(scope).names.map(async (server) => {
        const index = await this.#index(server, scope, options).catch(leftOut);
        // A new configuration may have come while the server was asked.
        const view = this.#view(scope);
        return index && view.isVisible(server) ? view.shownOf(index) : [];
      }),
    );
    return perServer.flat();
  }

  /** The callable tools that a scope shows, found by words about what they do, the best first. */
  async search(text: string, scope: Scope, options: SearchOptions = {}): Promise<FoundTool[]> {
    const search = this.#search ?? (await this.#loadSearch());
    const wanted = search.wanted(text, options);
    const { server, signal } = options;
    if (signal?.aborted) throw waitCancelled(signal, server ?? "the servers");
    const names = server === undefined ? this.#view(scope).names : [server];
    // Most often all lists are there, and a search should not take longer than its ranking.
    const ready = names.map((name) => this.#readyToSearch(name, scope, options));
    const lists = ready.includes(undefined)
      ? await Promise.all(names.map(async (name, at) => ready[at] ?? this.#toSearch(name, scope, options)))
      : ready;
    // A new configuration may have come while the servers were asked.
    const view = this.#view(scope);
    const visible = lists.flatMap((list) => (list && view.isVisible(list.key.server) ? [list] : []));
    return search.search(wanted, visible, view);
  }

  /** Entries of another kind, as the servers sent them, without those that a lock keeps back. */
  async entries(
    kind: Exclude<ListKind, "tools">,
    scope: Scope,
    options: ListOptions = {},
  ): Promise<ListedEntry[]> {
    const perServer = await Promise.all(
      this.#view(scope).names.map(async (server) => {
        const list = await this.list(server, kind, scope, options).catch(leftOut);
        const isOffered = (raw: RawEntry) => !this.#unpinned(server, kind, raw);
        return usableEntries(list?.entries ?? [])
          .filter(isOffered)
          .map((raw) => ({ server, raw }));
      }),
    );
    return perServer.flat();
  }

  /** The prompts that can be used, as commands. */
  async commands(scope: Scope, options: ListOptions = {}): Promise<PromptCommand[]> {
    const perServer = await Promise.all(
      this.#view(scope).names.map((server) => this.#prompts(server, scope, options).catch(leftOut)),
    );
    return perServer.flatMap((prompts) => (prompts ?? []).filter(({ because }) => because === undefined));
  }

  /**
   * The tool with exactly this id, if calls may be checked against its list as it is: no waiting, and at the same cost
   * in every view, for the path of every call.
   */
  known(id: string, scope: Scope): ToolEntry | undefined {
    const { servers } = this.#settings;
    const view = this.#view(scope);
    for (const server of this.#serversMeant.byId(id)) {
      const entry = this.#lists.peek(servers.key(server, scope.use))?.confirmed?.byId.get(id);
      if (entry && view.isVisible(server)) return view.shown(entry);
    }
    return undefined;
  }

  /** A tool as the server lists it now; undefined if it cannot be asked. Throws if it no longer has the tool. */
  async reread(
    { id, server }: ToolEntry,
    scope: Scope,
    signal?: AbortSignal,
  ): Promise<ToolEntry | undefined> {
    const lists = this.#lists.of(server, scope.use);
    const list = await lists.tools.refresh(signal).catch(leftOut);
    if (!list) return undefined;
    const entry = (await lists.index(list)).byId.get(id);
    const place = this.#place(scope, signal);
    const shown = entry && place.view.isVisible(server) ? place.view.shown(entry) : undefined;
    if (shown) return shown;
    throw await unknownTool(id, [{ server }], place);
  }

  /** A server's tool by the server's own name, if the list of that key is known. */
  byName(key: ConnectionKey, name: string): ToolEntry | undefined {
    return this.#lists.peek(key)?.current?.byName.get(name);
  }

  /**
   * The tool that an id means. Also understood are `server.tool`, `server/tool` and a bare name that only one server
   * has. Servers are asked only as far as needed to be sure, and not at all without `wait`. When the one server that
   * is meant cannot be asked, its reason is the error.
   */
  async find(query: string, scope: Scope, { wait = true, signal }: ListOptions = {}): Promise<ToolEntry> {
    const place = this.#place(scope, signal);
    const meant = this.#visiblyMeant(query, place.view, wait);
    return meant.length > 0 ? findMeant(query, meant, place, wait) : findByName(query, place, wait);
  }

  /**
   * The tool that a call means. A list from an earlier run or session, or one that is said to have changed, is good
   * enough to look at but not to act on: schema and annotations are confirmed by the server first. Where it is up but
   * does not list them, the last good list of this run counts.
   */
  async toCall(query: string, scope: Scope, signal?: AbortSignal): Promise<ToolEntry> {
    try {
      if (signal?.aborted) throw waitCancelled(signal, query);
      const { server, id } = await this.find(query, scope, { signal });
      const place = this.#place(scope, signal);
      const index = await this.#confirmed(server, place, scope);
      const entry = index?.byId.get(id);
      const shown = entry && place.view.isVisible(server) ? place.view.shown(entry) : undefined;
      if (shown) return shown;
      throw await unknownTool(query, [{ server }], place);
    } catch (error) {
      // Whatever became of the list, the call has not been sent.
      throw isPlugboardError(error) && error.executed !== "no" ? error.with({ executed: "no" }) : error;
    }
  }

  /** A prompt by its id, `server.prompt`, `server/prompt`, or a bare name that only one server has. */
  async findPrompt(query: string, scope: Scope, options: ListOptions = {}): Promise<PromptCommand> {
    const view = this.#view(scope);
    const wanted = query.replace(/^\//, "");
    const list = (server: string) => this.#prompts(server, scope, options);
    const meant = this.#visiblyMeant(wanted, view, options.wait ?? true);
    const { because, ...found } = await findPrompt(wanted, meant, view.names, list);
    if (because !== undefined) throw pinMismatch("prompt", { ...found, because });
    return found;
  }

  /** Throws if a lock keeps back the prompt or template that a request is about, as its server lists it now. */
  async assertPinned(
    server: string,
    kind: "prompts" | "resourceTemplates",
    name: string,
    { use }: Pick<Scope, "use">,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    if (!this.#rules.of(server).pins) return;
    const { entries } = await this.#lists.of(server, use).list(kind).confirm(signal);
    const entry = entries.find((one) => pinnedName(kind, one) === name);
    const problem = entry ? this.#unpinned(server, kind, entry) : { because: "its server does not list it" };
    const what = kind === "prompts" ? "prompt" : "resource template";
    if (problem) throw pinMismatch(what, { server, name, because: problem.because });
  }

  async list(
    server: string,
    kind: ListKind,
    { use }: Pick<Scope, "use">,
    { wait = true, signal }: ListOptions = {},
  ): Promise<KnownList | undefined> {
    if (signal?.aborted) throw waitCancelled(signal, server);
    const lists = this.#lists.of(server, use);
    return wait ? lists.read(kind, signal) : lists.peek(kind);
  }

  /** How many tools of each server can be called, as far as they are known. */
  async counts(scope: Scope): Promise<Map<string, number | undefined>> {
    const view = this.#view(scope);
    const counts = await Promise.all(
      view.names.map(async (server) => {
        const index = await this.#index(server, scope, { wait: false });
        return [server, index && view.sumUp(index).available] as const;
      }),
    );
    return new Map(counts);
  }

  /** A short text that changes exactly when what is visible and known changes: ids and definitions. */
  async digest(scope: Scope, kind?: DigestKind): Promise<string> {
    const view = this.#view(scope);
    const lists = view.names.map((server) => ({ server, lists: this.#lists.of(server, scope.use) }));
    return digestOf(view, lists, kind);
  }

  async refresh(key: ConnectionKey, kinds: readonly ListKind[], signal?: AbortSignal): Promise<void> {
    if (signal?.aborted) throw waitCancelled(signal, key.server);
    const lists = this.#lists.for(key);
    await Promise.all(kinds.map((kind) => lists.list(kind).refresh(signal)));
  }

  /** The server said that something changed. */
  invalidate(key: ConnectionKey, kind: "tools" | "resources" | "prompts"): void {
    this.#lists.invalidate(key, kind);
  }

  /** A session has begun: what was read in an earlier one is unconfirmed from now on. */
  onConnected(key: ConnectionKey): void {
    this.#lists.onConnected(key);
  }

  /** The configuration of a server changed or it is gone: nothing known about it counts any more. */
  forget(server: string): void {
    this.#lists.forget((key) => key.server === server);
    this.#search?.forget((key) => key.server === server);
  }

  /** A connection ended for want of use, and its lists with it. */
  forgetKey({ text }: ConnectionKey): void {
    this.#lists.forget((key) => key.text === text);
    this.#search?.forget((key) => key.text === text);
  }

  /** Resolves when everything that was read is kept. */
  close(): Promise<void> {
    return this.#lists.close();
  }

  /** The usable servers of a scope, in a stable order. */
  serverNames(scope: Scope): readonly string[] {
    return this.#view(scope).names;
  }

  /** Whether a server belongs to a scope, usable or not. */
  isVisible(name: string, scope: Scope): boolean {
    return this.#view(scope).isVisible(name);
  }

  get naming(): Naming {
    return this.#rules.naming;
  }

  /** What a scope shows; made anew when a new configuration is in force. */
  #view(scope: Scope): ScopeView {
    const { config } = this.#settings.servers;
    let view = this.#views.get(scope);
    if (view?.config !== config) {
      view = new ScopeView(config, scope.filter, this.#settings.toolFilter);
      this.#views.set(scope, view);
    }
    return view;
  }

  get #serversMeant(): ServersMeant {
    const { config } = this.#settings.servers;
    if (this.#meant?.config !== config)
      this.#meant = { config, servers: new ServersMeant(config.servers, this.naming) };
    return this.#meant.servers;
  }

  /** With `wait` also servers that cannot be used: asking them says why not. */
  #visiblyMeant(query: string, view: ScopeView, wait: boolean) {
    return this.#serversMeant
      .by(query)
      .filter(({ server }) => (wait ? view.isVisible(server) : view.names.includes(server)));
  }

  async #index(server: string, scope: Scope, options: ListOptions): Promise<ToolIndex | undefined> {
    const list = await this.list(server, "tools", scope, options);
    return list && this.#lists.of(server, scope.use).index(list);
  }

  async #loadSearch(): Promise<ToolSearch> {
    const { ToolSearch } = await import("./search.ts");
    return (this.#search ??= new ToolSearch());
  }

  #readyToSearch(server: string, { use }: Scope, { wait = true }: ListOptions): SearchedList | undefined {
    const key = this.#settings.servers.key(server, use);
    const known = this.#lists.peek(key);
    const index = wait ? known?.fresh : known?.current;
    return index && { key, index };
  }

  /** Whoever names a server learns why it cannot be searched. */
  async #toSearch(server: string, scope: Scope, options: SearchOptions): Promise<SearchedList | undefined> {
    const key = this.#settings.servers.key(server, scope.use);
    const reading = this.#index(server, scope, options);
    const index = await (options.server === undefined ? reading.catch(leftOut) : reading);
    return index && { key, index };
  }

  /** All of them; those that a lock keeps back say why. */
  async #prompts(
    server: string,
    scope: Scope,
    options: ListOptions,
  ): Promise<(PromptCommand & { because?: string })[] | undefined> {
    const list = await this.list(server, "prompts", scope, options);
    return (
      list &&
      usableEntries(list.entries).flatMap((raw) => {
        const because = this.#unpinned(server, "prompts", raw)?.because;
        return promptCommands(server, [raw], this.naming).map((prompt) =>
          because === undefined ? prompt : { ...prompt, because },
        );
      })
    );
  }

  #unpinned(server: string, kind: Exclude<ListKind, "tools">, raw: RawEntry): PinProblem | undefined {
    return kind === "resources" ? undefined : this.#pinned.of(this.#rules.of(server).pins, kind, raw);
  }

  async #confirmed(server: string, place: ToolsPlace, { use }: Scope): Promise<ToolIndex | undefined> {
    const { servers } = this.#settings;
    const before = this.#lists.of(server, use).tools.known;
    try {
      return await place.confirmed(server);
    } catch (error) {
      const isUp = servers.connections.peek(servers.key(server, use))?.session !== undefined;
      if (isPlugboardError(error, "call-cancelled") || !isUp || before?.isSnapshot !== false) throw error;
      return place.known(server);
    }
  }

  #place(scope: Scope, signal: AbortSignal | undefined): ToolsPlace {
    const viewNow = () => this.#view(scope);
    const namingNow = () => this.naming;
    return {
      get view() {
        return viewNow();
      },
      get naming() {
        return namingNow();
      },
      known: (server) => this.#index(server, scope, { wait: false, signal }),
      read: (server) => this.#index(server, scope, { signal }).catch(leftOut),
      confirmed: async (server) => {
        if (signal?.aborted) throw waitCancelled(signal, server);
        const lists = this.#lists.of(server, scope.use);
        return lists.index(await lists.tools.confirm(signal));
      },
    };
  }
}

/** A server that fails is left out; whoever stopped waiting wants no answer. */
function leftOut(error: unknown): undefined {
  if (!isPlugboardError(error) || isPlugboardError(error, "call-cancelled")) throw error;
  return undefined;
}
