import type { ParamHeader, PromptCommand } from "../host.ts";
import type { Hub, ListedEntry, MetaTools, ToolEntry, ToolOffer, View } from "../index.ts";
import { paramHeaders, version } from "../host.ts";
import { PlugboardError, isMetaName } from "../index.ts";
import { sha256 } from "../lib/canonical.ts";
import { declaresMethod, methodStanding } from "../lib/protocol-method.ts";
import { isRecord } from "../lib/record.ts";
import { nearest } from "../lib/suggest.ts";
import { describeServers } from "./describe-servers.ts";
import type { EndpointDescription } from "./describe-servers.ts";
import { CallerRoots } from "./caller-roots.ts";
import type { Viewer } from "./exchange.ts";
import { invalidParams } from "./failure.ts";
import { FirstLists } from "./first-lists.ts";
import { GivenLinks } from "./given-links.ts";
import { withShownApp } from "./links.ts";
import type { Holding } from "./holding.ts";
import type { Ledger } from "./ledger.ts";
import { ListenGaps } from "./listen-gaps.ts";
import { ListPages } from "./list-pages.ts";
import type { ListName } from "./list-pages.ts";
import { Names } from "./names.ts";
import { OneDecision } from "./one-decision.ts";
import type { Offered } from "./one-decision.ts";
import { notificationText } from "./open-exchange.ts";
import type { GatewayNames } from "./options.ts";
import { passedNames, sentHeaders } from "./passed-headers.ts";
import type { PassedHeaders, SentHeaders } from "./passed-headers.ts";
import { readUris, shownUri } from "./uris.ts";
import type { UriTable } from "./uris.ts";
import { stringifyExact } from "../lib/exact-json.ts";

/** What a caller sees of an endpoint, read once and good until something changes. */
interface Seen extends Offered {
  /** Whose it is, as one text; as secret as the headers in it. */
  key: string;
  caller: string;
  view: View;
  /** The same for apps, which may call more. */
  appView: View;
  /** The version of each list. */
  lists: Map<string, { at: number; version: string }>;
  tools: { at: number; table: ToolTable } | undefined;
  uris: { at: number; table: UriTable } | undefined;
  gaps: ListenGaps;
  /** When a list of this caller's own connections last changed. */
  changedAt: Map<ChangedKind, number>;
  holding: Holding | undefined;
}

/** Tools by the names that clients use. */
type ToolTable = ReadonlyMap<string, FoundTool>;

export interface FoundTool {
  id: string;
  server: string;
  /** The parameters that a modern client repeats in HTTP headers. */
  headers: readonly ParamHeader[];
  /** Only an app may call it. */
  for?: "app";
  /** Its server says that it can only be called as a task. */
  requiresTask?: boolean;
}

type Bundles = Hub["config"]["bundles"];
type BundleEntry = Bundles extends ReadonlyMap<string, infer Entry> ? Entry : never;

/** Which servers belong to an endpoint under one configuration. */
interface Membership {
  config: Hub["config"];
  servers: ReadonlySet<string>;
  only: string | undefined;
}

interface ListReader {
  viewer: Viewer;
  withApps: boolean;
  signal: AbortSignal;
}

export interface EndpointSettings {
  hub: Hub;
  bundle: string | undefined;
  names: GatewayNames | undefined;
  /** What the gateway as a whole can pass on; servers are told so when they connect. */
  capabilities: Record<string, unknown>;
  /** Which headers of clients reach servers, as configured now. */
  headers?: (() => PassedHeaders | undefined) | undefined;
  ledger: Ledger;
  /** Tells what happens, one line each. */
  onLog?: ((line: string) => void) | undefined;
}

/** One path of the gateway: which servers it shows, how their tools are called, and what its lists say. */
export class Endpoint {
  readonly bundle: string | undefined;
  readonly names: Names;
  readonly roots = new CallerRoots();
  readonly #hub: Hub;
  readonly #settings: EndpointSettings;
  readonly #callers = new Map<string, Seen>();
  /** Lists by what they contain, because most callers see the same. */
  readonly #pages = new Map<string, { pages: ListPages; holding: Holding | undefined }>();
  /** What was given to each caller, which cannot be read again. */
  readonly #links = new Map<string, GivenLinks>();
  readonly #tables = new Map<string, ToolTable>();
  readonly #listeners = new Set<{ caller: string; listener: (kind: ChangedKind) => void }>();
  readonly #texts = new WeakMap<Record<string, unknown>, string>();
  readonly #stop: (() => void)[];
  readonly #first = new FirstLists(
    (name) => this.#change([name === "resourceTemplates" ? "resources" : name]),
    (server) => this.#hub.status().some(({ name, state }) => name === server && state === "connected"),
  );
  readonly #closing = new AbortController();
  readonly #decision: OneDecision;
  #members: Membership | undefined;
  /** Grows with every change of what the endpoint shows. */
  #changes = 0;
  /** How many changes there had been with the last one of a kind. */
  readonly #changedAt = new Map<ChangedKind, number>();

  constructor(settings: EndpointSettings) {
    this.#settings = settings;
    this.#hub = settings.hub;
    this.bundle = settings.bundle;
    this.names = new Names(settings.names ?? {}, () => this.onlyServer() !== undefined);
    const { hub } = settings;
    this.#decision = new OneDecision({
      hub,
      changes: () => this.#changes,
      onDeferred: (because, wereListed) => {
        const where = this.bundle === undefined ? "All tools" : `The tools of the bundle ${this.bundle}`;
        settings.onLog?.(`${where} are deferred, and clients see three to find them with: ${because}.`);
        if (wereListed) this.#change(["tools"]);
      },
    });
    this.#stop = [
      hub.on("catalog-changed", ({ kind, server, caller }) => {
        if (this.servers().has(server)) this.#change([kind], caller);
      }),
      // What an isolated caller saw is read again when it comes back.
      hub.on("connection-changed", ({ caller, to }) => {
        if (caller !== undefined && to === "closed") this.#forget(caller);
      }),
      hub.on("config-changed", () => this.#change(["tools", "resources", "prompts"])),
    ];
  }

  /** What a request sends along to servers; undefined if nothing. */
  sent(header: ((name: string) => string | undefined) | undefined): SentHeaders | undefined {
    return sentHeaders(header, this.#settings.headers?.());
  }

  /** The headers that are sent along, in lower case. */
  get passedNames(): string[] {
    return passedNames(this.#settings.headers?.());
  }

  /** The caller's view of the servers. */
  view(viewer: Viewer): View {
    return this.#seen(viewer).view;
  }

  /** The servers of this endpoint, usable or not. */
  servers(): ReadonlySet<string> {
    return this.#membership.servers;
  }

  /** The only server, if there is exactly one. */
  onlyServer(): string | undefined {
    return this.#membership.only;
  }

  /** The servers that a method which is not ours may belong to: the only one, or those that declare it. */
  async serversOf(method: string, as: "request" | "notification"): Promise<string[]> {
    const standing = methodStanding(method, as);
    if (standing === "known") return [];
    const only = this.onlyServer();
    if (only !== undefined && standing === "foreign") return [only];
    const said = await this.#hub.introductions();
    return [...this.servers()].filter((name) => declaresMethod(said.get(name)?.capabilities ?? {}, method));
  }

  /** Every call asks for it several times, and the configuration is replaced as a whole. */
  get #membership(): Membership {
    const { config } = this.#hub;
    if (this.#members?.config !== config) {
      const { servers, bundles } = config;
      const names = this.bundle === undefined ? [...servers.keys()] : membersOf(bundles.get(this.bundle));
      const members = new Set(names.filter((name) => servers.has(name)));
      const [first, second] = members;
      this.#members = { config, servers: members, only: second === undefined ? first : undefined };
    }
    return this.#members;
  }

  /** A list as this caller sees it; `withApps` adds the tools that only apps may call. */
  async pages(name: ListName, { viewer, withApps, signal }: ListReader): Promise<ListPages> {
    const seen = this.#seen(viewer);
    const key = withApps ? `${name}+apps` : name;
    const known = seen.lists.get(key);
    const made = known?.at === this.#changes ? this.#knownPages(known.version) : undefined;
    if (made) return made;
    if (name === "tools" && (await this.#offer(seen)).deferral.deferred) this.#readAhead(seen);
    else await this.#first.wait(name, seen.key, seen.view, signal);
    // The first list may have decided that by now.
    if (name === "tools" && this.isDeferred) await this.#alwaysLoaded(seen, signal);
    const at = this.#changes;
    const offer = name === "tools" ? await this.#offer(seen) : undefined;
    const pages = offer?.deferral.deferred
      ? await this.#deferredPages(offer, seen)
      : await this.#wholePages(name, key, seen, withApps);
    seen.lists.set(key, { at, version: pages.version });
    return pages;
  }

  async #wholePages(name: ListName, key: string, seen: Seen, withApps: boolean): Promise<ListPages> {
    const digest = `${key}:${await this.#digest(seen)}`;
    return (
      this.#knownPages(digest) ??
      this.#keepPages(new ListPages(name, digest, await this.#entries(name, seen, withApps)), seen.caller)
    );
  }

  #knownPages(digest: string): ListPages | undefined {
    const known = this.#pages.get(digest);
    known?.holding?.touch();
    return known?.pages;
  }

  /** Whoever asked first holds it for all that see the same. */
  #keepPages(pages: ListPages, caller: string): ListPages {
    const known = this.#knownPages(pages.version);
    if (known) return known;
    const evict = () => void this.#pages.delete(pages.version);
    const holding = this.#settings.ledger.hold(caller, "lists", { evict }, pages.bytes);
    if (holding) this.#pages.set(pages.version, { pages, holding });
    return pages;
  }

  /** The three tools that stand for the others, and those that are always loaded. */
  async #deferredPages({ meta, tools }: ToolOffer, { view, caller }: Seen): Promise<ListPages> {
    const table = await readUris(view);
    const loaded = tools
      .map((tool) => this.#shown(tool, table))
      .filter(({ name }) => !isMetaName(String(name)));
    const entries = [...meta.map((tool) => ({ ...tool })), ...loaded].map(kept);
    const digest = `tools:deferred:${sha256(stringifyExact(entries)).slice(0, 32)}`;
    return this.#knownPages(digest) ?? this.#keepPages(new ListPages("tools", digest, entries), caller);
  }

  /** A list that defers the others has to have these, because some clients never list again. */
  async #alwaysLoaded({ key, view }: Seen, signal: AbortSignal): Promise<void> {
    const { servers } = this.#hub.config;
    const needed = [...this.servers()].filter(
      (name) => (servers.get(name)?.config?.alwaysLoad ?? false) !== false,
    );
    if (needed.length > 0) await this.#first.wait("tools", key, view.view({ servers: needed }), signal);
  }

  #offer(seen: Seen): Promise<ToolOffer> {
    return this.#decision.offer(seen);
  }

  /** Nobody waits for lists that are searched later, but they are read. */
  #readAhead({ key, view }: Seen): void {
    this.#first.wait("tools", key, view, this.#closing.signal).catch(() => undefined);
  }

  /** True if clients are shown tools to search, describe and call the others with. */
  get isDeferred(): boolean {
    return this.#decision.isDeferred;
  }

  /** True if a client's call of this name means one of the three tools and not one of a server. */
  async isMeta(name: string, viewer: Viewer): Promise<boolean> {
    if (!isMetaName(name)) return false;
    const seen = this.#seen(viewer);
    const { deferral } = await this.#offer(seen);
    if (deferral.deferred) return true;
    if ((await this.#toolTable(seen)).has(name)) return false;
    // Clients keep what they were shown, here or before a restart.
    return this.#decision.wasDeferred || deferral.setting.when !== "never";
  }

  /** Resolves when there is something to search. */
  async searchable(viewer: Viewer, signal: AbortSignal): Promise<void> {
    const { key, view } = this.#seen(viewer);
    await this.#first.wait("tools", key, view, signal);
  }

  /** The three tools, with the names of this endpoint. */
  metaTools(viewer: Viewer): Promise<MetaTools> {
    const { view } = this.#seen(viewer);
    return view.metaTools({
      nameOf: (tool) => this.names.ofTool(tool),
      find: async (name, signal) => {
        const found = await this.tool(name, viewer, false, signal);
        if (found) return view.findTool(found.id, { wait: false });
        return view.findTool(name, { wait: false }).catch(async () => {
          const withheld = await this.withheldTool(name, viewer);
          if (withheld) return withheld;
          const near = nearest(name, await this.toolNames(viewer));
          throw new PlugboardError(
            "tool-unknown",
            `There is no tool ${JSON.stringify(name.slice(0, 200))}.`,
            {
              ...(near !== undefined && { data: { near: [near] } }),
            },
          );
        });
      },
    });
  }

  /** A list that was given out before, for the pages that follow its first one. */
  async earlierPages(versionOf: string, name: ListName, reader: ListReader): Promise<ListPages> {
    const known = this.#knownPages(versionOf);
    if (known) return known;
    // It may have had to make room. The same list has the same version.
    const pages = await this.pages(name, reader);
    if (pages.version !== versionOf)
      throw invalidParams("The list has changed since this cursor was given out. Start again without it.");
    return pages;
  }

  /** The tool that a client calls by this name; undefined if there is none. */
  async tool(
    name: string,
    viewer: Viewer,
    withApps: boolean,
    signal?: AbortSignal,
  ): Promise<FoundTool | undefined> {
    // No server is asked whether it has a tool of ours.
    if (this.isDeferred && isMetaName(name)) return undefined;
    const found = await this.#findTool(name, this.#seen(viewer), signal);
    return found?.for === "app" && !withApps ? undefined : found;
  }

  /** The same as far as it is known without waiting. */
  knownTool(name: string, viewer: Viewer, withApps: boolean): FoundTool | undefined {
    const { tools } = this.#seen(viewer);
    const found = tools?.at === this.#changes ? tools.table.get(name) : undefined;
    return found?.for === "app" && !withApps ? undefined : found;
  }

  /** A tool of this name that a rule hides, or that is set aside: a call of it says why it is refused. */
  async withheldTool(name: string, viewer: Viewer): Promise<ToolEntry | undefined> {
    const all = await this.#seen(viewer).view.allTools({ wait: false });
    return all.find((tool) => tool.status !== "available" && this.names.ofTool(tool) === name);
  }

  /** Whose URIs are whose, for this caller. */
  async uris(viewer: Viewer): Promise<UriTable> {
    const seen = this.#seen(viewer);
    if (seen.uris?.at === this.#changes) return seen.uris.table;
    const at = this.#changes;
    const table = await readUris(seen.view);
    seen.uris = { at, table };
    return table;
  }

  /** Begins to read the lists that may name this URI and that this caller's servers have not given yet; one read for each server. */
  async readUris(uri: string, viewer: Viewer, signal: AbortSignal): Promise<Promise<void>[]> {
    const { view } = this.#seen(viewer);
    // The page of an app may be named by a tool alone.
    const kinds = [
      "resources",
      "resourceTemplates",
      ...(uri.startsWith("ui://") ? ["tools" as const] : []),
    ] as const;
    const states = await Promise.all(kinds.map((kind) => view.listStates(kind)));
    const unread = new Set(states.flat().flatMap(({ at, server }) => (at === undefined ? [server] : [])));
    return [...unread].map(async (server) => {
      const own = view.view({ servers: [server] });
      await Promise.allSettled(kinds.map((kind) => own[kind]({ signal })));
      this.#changes++;
    });
  }

  /** The server that last gave this caller a link, by URI. */
  links(viewer: Viewer): GivenLinks {
    const key = keyOf(viewer);
    const { caller } = viewer;
    return this.#links.get(key) ?? new GivenLinks(this.#settings.ledger, { caller, key }, this.#links);
  }

  /** The names of all tools that this caller can call. */
  async toolNames(viewer: Viewer): Promise<string[]> {
    const table = await this.#toolTable(this.#seen(viewer));
    return [...table].filter(([, tool]) => tool.for !== "app").map(([name]) => name);
  }

  async prompt(name: string, viewer: Viewer, signal: AbortSignal): Promise<PromptCommand | undefined> {
    const { view } = this.#seen(viewer);
    const find = async (wait: boolean, servers?: string[]) => {
      const prompts = await (servers ? view.view({ servers }) : view).commands({ wait, signal });
      return prompts.find((prompt) => this.names.ofPrompt(prompt) === name);
    };
    const known = await find(false);
    if (known) return known;
    const states = await view.listStates("prompts");
    const unread = states.filter(({ at, server }) => at === undefined && this.names.mayBelong(name, server));
    const servers = unread.map(({ server }) => server);
    return servers.length > 0 ? find(true, servers) : undefined;
  }

  /** A notification of a server as text; the same one goes to many sessions. */
  textOf(method: string, params: Record<string, unknown>): string {
    let text = this.#texts.get(params);
    if (text === undefined) this.#texts.set(params, (text = notificationText(method, params)));
    return text;
  }

  /** Calls `listener` after each change of a list that this caller sees. Returns how to stop that. */
  onChange(caller: string, listener: (kind: ChangedKind) => void): () => void {
    const one = { caller, listener };
    this.#listeners.add(one);
    return () => void this.#listeners.delete(one);
  }

  /** A client begins to listen by a request. Returns what may have changed since an earlier one of its caller ended. */
  listening(viewer: Viewer): ChangedKind[] {
    const { gaps, changedAt } = this.#seen(viewer);
    const known = gaps.begun() ?? Infinity;
    const changed = [...this.#changedAt, ...changedAt].flatMap(([kind, at]) => (at > known ? [kind] : []));
    return [...new Set(changed)];
  }

  endedListening(viewer: Viewer): void {
    this.#callers.get(keyOf(viewer))?.gaps.ended(this.#changes);
  }

  /** What the endpoint says about itself. It waits for no server. */
  async describe(): Promise<EndpointDescription> {
    const all = await this.#hub.introductions();
    const shown = [...all].filter(([name]) => this.servers().has(name));
    return describeServers(new Map(shown), { isAlone: this.onlyServer() !== undefined });
  }

  close(): void {
    this.#closing.abort();
    for (const stop of this.#stop) stop();
    this.#listeners.clear();
    for (const { holding } of this.#callers.values()) holding?.release();
    for (const { holding } of this.#pages.values()) holding?.release();
    for (const links of this.#links.values()) links.close();
    this.#callers.clear();
    this.#pages.clear();
  }

  /** `owner` is the only caller whose lists have changed. */
  #change(kinds: readonly ChangedKind[], owner?: string): void {
    this.#changes++;
    const sees = (caller: string) => owner === undefined || owner === caller;
    for (const kind of kinds) {
      if (owner === undefined) this.#changedAt.set(kind, this.#changes);
      for (const seen of owner === undefined ? [] : this.#callers.values())
        if (seen.caller === owner) seen.changedAt.set(kind, this.#changes);
      for (const { caller, listener } of this.#listeners) if (sees(caller)) listener(kind);
    }
  }

  /** What an isolated caller saw; only what its clients may have missed is kept. */
  #forget(caller: string): void {
    for (const seen of this.#callers.values()) {
      if (seen.caller !== caller) continue;
      if (seen.gaps.isEmpty) {
        seen.holding?.release();
        this.#callers.delete(seen.key);
      } else {
        seen.lists.clear();
        seen.offer = seen.tools = seen.uris = undefined;
      }
    }
  }

  #seen(viewer: Viewer): Seen {
    const { caller, sent } = viewer;
    const key = keyOf(viewer);
    const known = this.#callers.get(key);
    if (known) {
      known.holding?.touch();
      return known;
    }
    const { bundle, capabilities, ledger } = this.#settings;
    const interact = { roots: (_: unknown, signal: AbortSignal) => this.roots.ask(caller, signal) };
    const view = this.#hub.view({
      caller,
      capabilities,
      interact,
      headers: sent?.byServer,
      ...(bundle !== undefined && { bundle }),
    });
    const appView = view.view({ for: "app" });
    const seen: Seen = {
      key,
      caller,
      view,
      appView,
      lists: new Map(),
      offer: undefined,
      tools: undefined,
      uris: undefined,
      gaps: new ListenGaps(),
      changedAt: new Map(),
      // It can be read again at any time.
      holding: ledger.hold(caller, "views", { evict: () => void this.#callers.delete(key) }),
    };
    if (seen.holding) this.#callers.set(key, seen);
    return seen;
  }

  async #findTool(name: string, seen: Seen, signal: AbortSignal | undefined): Promise<FoundTool | undefined> {
    const at = this.#changes;
    const found = (await this.#toolTable(seen)).get(name);
    if (found) return found;
    // It may be a tool of a server that has not listed its tools yet. The others are not waited for.
    const states = await seen.view.listStates("tools");
    const unread = states.filter(({ at, server }) => at === undefined && this.names.mayBelong(name, server));
    // Its list may have come since the table was read.
    if (unread.length === 0)
      return at === this.#changes ? undefined : (await this.#toolTable(seen)).get(name);
    await seen.view.view({ servers: unread.map(({ server }) => server) }).tools({ signal });
    this.#changes++;
    return (await this.#toolTable(seen)).get(name);
  }

  /** Changes with anything that this caller can see, and with how it is named. */
  async #digest({ view, appView }: Seen): Promise<string> {
    return `${this.names.isPlain}:${await view.digest()}:${await appView.digest("tools")}`;
  }

  async #toolTable(seen: Seen): Promise<ToolTable> {
    const { tools } = seen;
    if (tools?.at === this.#changes) return tools.table;
    const at = this.#changes;
    const digest = await this.#digest(seen);
    const table = this.#tables.get(digest) ?? (await this.#readTools(seen.view));
    keepNewest(this.#tables, digest, table);
    seen.tools = { at, table };
    return table;
  }

  async #readTools(view: View): Promise<ToolTable> {
    const tools = await view.tools({ wait: false });
    const table = new Map<string, FoundTool>();
    for (const tool of await onlyForApps(view, tools))
      table.set(this.names.ofTool(tool), { ...found(tool), for: "app" });
    for (const tool of tools) table.set(this.names.ofTool(tool), found(tool));
    return table;
  }

  async #entries(name: ListName, seen: Seen, withApps: boolean): Promise<Record<string, unknown>[]> {
    const { view } = seen;
    const table = await readUris(view);
    switch (name) {
      case "tools": {
        const tools = await view.tools({ wait: false });
        const more = withApps ? await onlyForApps(view, tools) : [];
        return [...tools, ...more].map((tool) => this.#shown(tool, table));
      }
      case "prompts":
        return (await view.prompts({ wait: false })).map(({ server, raw }) => ({
          ...raw,
          name: this.names.ofPrompt({ server, name: String(raw["name"]) }),
        }));
      case "resources":
        return (await view.resources({ wait: false })).map((entry) => withShown(entry, "uri", table));
      case "resourceTemplates":
        return (await view.resourceTemplates({ wait: false })).map((entry) =>
          withShown(entry, "uriTemplate", table),
        );
    }
  }

  /** A tool as its server sent it, except for what the configuration says. */
  #shown(tool: ToolEntry, table: UriTable): Record<string, unknown> {
    const { raw, server, description, inputSchema, annotations } = tool;
    const isAnnotated = raw["annotations"] !== undefined || Object.keys(annotations).length > 0;
    return {
      ...withShownApp(raw, server, table),
      name: this.names.ofTool(tool),
      ...(description !== undefined && { description }),
      inputSchema,
      ...(isAnnotated && { annotations }),
    };
  }
}

/** A bundle that is gone, or cannot be used, has no servers: it must not become all of them. */
function membersOf(bundle: BundleEntry | undefined): readonly string[] {
  const { servers, serverId } = bundle?.config ?? {};
  return servers ?? (serverId === undefined ? [] : [serverId]);
}

/** Claude Code defers tools by itself. It would search for our search first, unless it is told to load these. */
function kept(tool: Record<string, unknown>): Record<string, unknown> {
  const { _meta: meta } = tool;
  return { ...tool, _meta: { ...(isRecord(meta) && meta), "anthropic/alwaysLoad": true } };
}

/** The tools that apps may call and models may not. */
async function onlyForApps(view: View, tools: readonly ToolEntry[]): Promise<ToolEntry[]> {
  const known = new Set(tools.map(({ id }) => id));
  const all = await view.tools({ wait: false, for: "app" });
  return all.filter(({ id }) => !known.has(id));
}

function withShown({ server, raw }: ListedEntry, key: string, table: UriTable): Record<string, unknown> {
  const uri = String(raw[key]);
  const shown = shownUri(uri, server, table);
  return shown === uri ? raw : { ...raw, [key]: shown };
}

function found({ id, server, inputSchema, raw: { execution } }: ToolEntry): FoundTool {
  const requiresTask = isRecord(execution) && execution["taskSupport"] === "required";
  return { id, server, headers: paramHeaders(inputSchema), requiresTask };
}

function keyOf({ caller, sent }: Viewer): string {
  return sent === undefined ? caller : JSON.stringify([caller, sent.identity()]);
}

/** Sets an entry as the newest, and forgets the oldest ones. */
function keepNewest<T>(map: Map<string, T>, key: string, value: T, most = 32): void {
  map.delete(key);
  map.set(key, value);
  for (const [oldest] of map) {
    if (map.size <= most) break;
    map.delete(oldest);
  }
}

export type ChangedKind = "tools" | "resources" | "prompts";

export const serverInfo = { name: "plugboard", title: "Plugboard", version };
