import type {
  Hub,
  ListedEntry,
  MetaTools,
  ParamHeader,
  PromptCommand,
  ToolEntry,
  ToolOffer,
  View,
} from "../index.ts";
import { PlugboardError, isMetaName, paramHeaders, version } from "../index.ts";
import { sha256 } from "../lib/canonical.ts";
import { isRecord } from "../lib/record.ts";
import { describeServers } from "./describe-servers.ts";
import type { EndpointDescription } from "./describe-servers.ts";
import { CallerRoots } from "./caller-roots.ts";
import { invalidParams } from "./failure.ts";
import { FirstLists } from "./first-lists.ts";
import { GivenLinks } from "./given-links.ts";
import { withShownApp } from "./links.ts";
import type { Holding } from "./holding.ts";
import type { Ledger } from "./ledger.ts";
import { ListPages } from "./list-pages.ts";
import type { ListName } from "./list-pages.ts";
import { Names } from "./names.ts";
import { OneDecision } from "./one-decision.ts";
import type { Offered } from "./one-decision.ts";
import type { GatewayNames } from "./options.ts";
import { readUris, shownUri } from "./uris.ts";
import type { UriTable } from "./uris.ts";

/** What a caller sees of an endpoint, read once and good until something changes. */
interface Seen extends Offered {
  view: View;
  /** The same for apps, which may call more. */
  appView: View;
  /** The version of each list. */
  lists: Map<string, { at: number; version: string }>;
  tools: { at: number; table: ToolTable } | undefined;
  uris: { at: number; table: UriTable } | undefined;
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

/** Which servers belong to an endpoint under one configuration. */
interface Membership {
  config: Hub["config"];
  servers: ReadonlySet<string>;
  only: string | undefined;
}

interface ListReader {
  caller: string;
  withApps: boolean;
  signal: AbortSignal;
}

export interface EndpointSettings {
  hub: Hub;
  bundle: string | undefined;
  names: GatewayNames | undefined;
  /** What the gateway as a whole can pass on; servers are told so when they connect. */
  capabilities: Record<string, unknown>;
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
  readonly #listeners = new Set<(kind: ChangedKind) => void>();
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
      hub.on("catalog-changed", ({ kind, server }) => {
        if (this.servers().has(server)) this.#change([kind]);
      }),
      // What an isolated caller saw is read again when it comes back.
      hub.on("connection-changed", ({ caller, to }) => {
        if (caller !== undefined && to === "closed") this.#forget(caller);
      }),
      hub.on("config-changed", () => this.#change(["tools", "resources", "prompts"])),
    ];
  }

  /** The caller's view of the servers. */
  view(caller: string): View {
    return this.#seen(caller).view;
  }

  /** The servers of this endpoint, usable or not. */
  servers(): ReadonlySet<string> {
    return this.#membership.servers;
  }

  /** The only server, if there is exactly one. Its own methods and notifications pass. */
  onlyServer(): string | undefined {
    return this.#membership.only;
  }

  /** Every call asks for it several times, and the configuration is replaced as a whole. */
  get #membership(): Membership {
    const { config } = this.#hub;
    if (this.#members?.config !== config) {
      const { servers, bundles } = config;
      const bundle = this.bundle === undefined ? undefined : bundles.get(this.bundle)?.config;
      const chosen = bundle?.servers ?? (bundle?.serverId === undefined ? undefined : [bundle.serverId]);
      const names = chosen ? chosen.filter((name) => servers.has(name)) : servers.keys();
      const members = new Set(names);
      const [first, second] = members;
      this.#members = { config, servers: members, only: second === undefined ? first : undefined };
    }
    return this.#members;
  }

  /** A list as this caller sees it; `withApps` adds the tools that only apps may call. */
  async pages(name: ListName, { caller, withApps, signal }: ListReader): Promise<ListPages> {
    const seen = this.#seen(caller);
    const key = withApps ? `${name}+apps` : name;
    const known = seen.lists.get(key);
    const made = known?.at === this.#changes ? this.#knownPages(known.version) : undefined;
    if (made) return made;
    if (name === "tools" && (await this.#offer(seen)).deferral.deferred) this.#readAhead(caller, seen);
    else await this.#first.wait(name, caller, seen.view, signal);
    const at = this.#changes;
    const offer = name === "tools" ? await this.#offer(seen) : undefined;
    const pages = offer?.deferral.deferred
      ? await this.#deferredPages(offer, seen, caller)
      : await this.#wholePages(name, key, seen, { caller, withApps });
    seen.lists.set(key, { at, version: pages.version });
    return pages;
  }

  async #wholePages(
    name: ListName,
    key: string,
    seen: Seen,
    { caller, withApps }: Pick<ListReader, "caller" | "withApps">,
  ): Promise<ListPages> {
    const digest = `${key}:${await this.#digest(seen)}`;
    return (
      this.#knownPages(digest) ??
      this.#keepPages(new ListPages(name, digest, await this.#entries(name, seen, withApps)), caller)
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
  async #deferredPages({ meta, tools }: ToolOffer, { view }: Seen, caller: string): Promise<ListPages> {
    const table = await readUris(view);
    const loaded = tools
      .map((tool) => this.#shown(tool, table))
      .filter(({ name }) => !isMetaName(String(name)));
    const entries = [...meta.map((tool) => ({ ...tool })), ...loaded].map(kept);
    const digest = `tools:deferred:${sha256(JSON.stringify(entries)).slice(0, 32)}`;
    return this.#knownPages(digest) ?? this.#keepPages(new ListPages("tools", digest, entries), caller);
  }

  #offer(seen: Seen): Promise<ToolOffer> {
    return this.#decision.offer(seen);
  }

  /** Nobody waits for lists that are searched later, but they are read. */
  #readAhead(caller: string, { view }: Seen): void {
    this.#first.wait("tools", caller, view, this.#closing.signal).catch(() => undefined);
  }

  /** True if clients are shown tools to search, describe and call the others with. */
  get isDeferred(): boolean {
    return this.#decision.isDeferred;
  }

  /** True if a client's call of this name means one of the three tools and not one of a server. */
  async isMeta(name: string, caller: string): Promise<boolean> {
    if (!isMetaName(name)) return false;
    const seen = this.#seen(caller);
    const { deferral } = await this.#offer(seen);
    if (deferral.deferred) return true;
    if ((await this.#toolTable(seen)).has(name)) return false;
    // Clients keep what they were shown, here or before a restart.
    return this.#decision.wasDeferred || deferral.setting.when !== "never";
  }

  /** Resolves when there is something to search. */
  async searchable(caller: string, signal: AbortSignal): Promise<void> {
    await this.#first.wait("tools", caller, this.#seen(caller).view, signal);
  }

  /** The three tools, with the names of this endpoint. */
  metaTools(caller: string): Promise<MetaTools> {
    const { view } = this.#seen(caller);
    return view.metaTools({
      nameOf: (tool) => this.names.ofTool(tool),
      find: async (name, signal) => {
        const found = await this.tool(name, caller, false, signal);
        if (found) return view.findTool(found.id, { wait: false });
        return view.findTool(name, { wait: false }).catch(() => {
          throw new PlugboardError("tool-unknown", `There is no tool ${JSON.stringify(name.slice(0, 200))}.`);
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
    caller: string,
    withApps: boolean,
    signal?: AbortSignal,
  ): Promise<FoundTool | undefined> {
    // No server is asked whether it has a tool of ours.
    if (this.isDeferred && isMetaName(name)) return undefined;
    const found = await this.#findTool(name, this.#seen(caller), signal);
    return found?.for === "app" && !withApps ? undefined : found;
  }

  /** The same as far as it is known without waiting. */
  knownTool(name: string, caller: string, withApps: boolean): FoundTool | undefined {
    const { tools } = this.#seen(caller);
    const found = tools?.at === this.#changes ? tools.table.get(name) : undefined;
    return found?.for === "app" && !withApps ? undefined : found;
  }

  /** Whose URIs are whose, for this caller. */
  async uris(caller: string): Promise<UriTable> {
    const seen = this.#seen(caller);
    if (seen.uris?.at === this.#changes) return seen.uris.table;
    const at = this.#changes;
    const table = await readUris(seen.view);
    seen.uris = { at, table };
    return table;
  }

  /** The server that last gave this caller a link, by URI. */
  links(caller: string): GivenLinks {
    return this.#links.get(caller) ?? new GivenLinks(this.#settings.ledger, caller, this.#links);
  }

  /** The names of all tools that this caller can call. */
  async toolNames(caller: string): Promise<string[]> {
    const table = await this.#toolTable(this.#seen(caller));
    return [...table].filter(([, tool]) => tool.for !== "app").map(([name]) => name);
  }

  async prompt(name: string, caller: string, signal: AbortSignal): Promise<PromptCommand | undefined> {
    const { view } = this.#seen(caller);
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

  /** Calls `listener` after each change of a list. Returns how to stop that. */
  onChange(listener: (kind: ChangedKind) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
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

  #change(kinds: readonly ChangedKind[]): void {
    this.#changes++;
    for (const kind of kinds) for (const listener of this.#listeners) listener(kind);
  }

  #forget(caller: string): void {
    this.#callers.get(caller)?.holding?.release();
    this.#callers.delete(caller);
  }

  #seen(caller: string): Seen {
    const known = this.#callers.get(caller);
    if (known) {
      known.holding?.touch();
      return known;
    }
    const { bundle, capabilities, ledger } = this.#settings;
    const interact = { roots: (_: unknown, signal: AbortSignal) => this.roots.ask(caller, signal) };
    const view = this.#hub.view({ caller, capabilities, interact, ...(bundle !== undefined && { bundle }) });
    const appView = view.view({ for: "app" });
    const seen: Seen = {
      view,
      appView,
      lists: new Map(),
      offer: undefined,
      tools: undefined,
      uris: undefined,
      // It can be read again at any time.
      holding: ledger.hold(caller, "views", { evict: () => void this.#callers.delete(caller) }),
    };
    if (seen.holding) this.#callers.set(caller, seen);
    return seen;
  }

  async #findTool(name: string, seen: Seen, signal: AbortSignal | undefined): Promise<FoundTool | undefined> {
    const found = (await this.#toolTable(seen)).get(name);
    if (found) return found;
    // It may be a tool of a server that has not listed its tools yet. The others are not waited for.
    const states = await seen.view.listStates("tools");
    const unread = states.filter(({ at, server }) => at === undefined && this.names.mayBelong(name, server));
    if (unread.length === 0) return undefined;
    await seen.view.view({ servers: unread.map(({ server }) => server) }).tools({ signal });
    seen.tools = undefined;
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
