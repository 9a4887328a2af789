import type { Catalog } from "../../catalog/catalog.ts";
import type { Scope } from "../../catalog/filter.ts";
import type { ListOptions } from "../../catalog/settings.ts";
import type { ToolEntry } from "../../catalog/tool-entry.ts";
import type { LoadedConfig } from "../../config/model.ts";
import { canonicalJson, sha256 } from "../../lib/canonical.ts";
import type { Environment } from "../../lib/folders.ts";
import type { Introduction } from "../../servers/server-memory.ts";
import type { View } from "../view.ts";
import { isAlwaysLoaded } from "./always-loaded.ts";
import { DefinitionSizes, decideDeferral } from "./deferral.ts";
import type { Deferral } from "./deferral.ts";
import { MetaTools } from "./meta-tools.ts";
import type { MetaNaming } from "./meta-tools.ts";
import type { MetaTool } from "./meta-definitions.ts";
import type { Service } from "./services.ts";
import { toolSearchSetting, unreadableVariables } from "./tool-search-setting.ts";
import { typicalWords } from "./typical-words.ts";

/** What a model is shown of a view: its tools, or the few that are always shown and three to find the others with. */
export interface ToolOffer {
  deferral: Deferral;
  tools: ToolEntry[];
  /** Empty unless the tools are deferred. */
  meta: MetaTool[];
}

/** How an offer is decided. */
export interface OfferOptions extends ListOptions {
  /**
   * An earlier decision to keep, because clients may not look again: what was deferred stays so while the configuration is
   * the same. With another configuration `auto` ends it only below half of the limit.
   */
  before?: Deferral | undefined;
}

export interface ToolOffersSettings {
  catalog: Catalog;
  env: Environment;
  config(): LoadedConfig;
  introductions(): Promise<ReadonlyMap<string, Introduction>>;
  warn(message: string): void;
}

/** Words of a server's tools that say what it is for. */
const mostWords = 5;

/** Decides what models are shown. One for each hub. */
export class ToolOffers {
  readonly #settings: ToolOffersSettings;
  readonly #sizes = new DefinitionSizes();
  /** The hash of the configuration that each decision was made under. */
  readonly #decidedUnder = new WeakMap<Deferral, string>();
  /** By a server's first tool. */
  readonly #words = new WeakMap<ToolEntry, { tools: readonly ToolEntry[]; words: string }>();
  readonly #contents = new WeakMap<LoadedConfig, string>();

  constructor(settings: ToolOffersSettings) {
    this.#settings = settings;
    for (const name of unreadableVariables(settings.env))
      settings.warn(`${name} is ignored: expected auto, auto:N (percent of the context), true or false.`);
  }

  async offer(view: View, scope: Scope, options: OfferOptions): Promise<ToolOffer> {
    const tools = await this.#toolsOf(view, scope, options);
    const deferral = this.decide(tools, scope, options.before);
    if (!deferral.deferred) return { deferral, tools, meta: [] };
    const loaded = tools.filter((tool) => this.isAlwaysLoaded(tool));
    return { deferral, tools: loaded, meta: await this.metaTools(view, scope).definitions() };
  }

  /** Nobody waits for lists that are searched later: if what is known is deferred, more of it would be, too. */
  async #toolsOf(view: View, scope: Scope, options: OfferOptions): Promise<ToolEntry[]> {
    const { wait = true, signal, before } = options;
    const known = await view.tools({ wait: false, signal });
    if (!wait) return known;
    if (!this.decide(known, scope, before).deferred) return view.tools({ signal });
    const { servers } = this.#settings.config();
    const needed = this.#settings.catalog
      .serverNames(scope)
      .filter((name) => (servers.get(name)?.config?.alwaysLoad ?? false) !== false);
    if (needed.length === 0) return known;
    await view.view({ servers: needed }).tools({ signal });
    return view.tools({ wait: false, signal });
  }

  decide(tools: readonly ToolEntry[], { filter }: Scope, before?: Deferral): Deferral {
    const config = this.#settings.config();
    const content = this.#contentOf(config);
    if (before?.deferred && this.#decidedUnder.get(before) === content) return before;
    const setting = toolSearchSetting(config, this.#settings.env, filter.bundle);
    const deferral = decideDeferral(tools, setting, config, this.#sizes, before?.deferred);
    this.#decidedUnder.set(deferral, content);
    return deferral;
  }

  /** What is written, whether or not a server is switched off in this run. */
  #contentOf(config: LoadedConfig): string {
    const known = this.#contents.get(config);
    if (known !== undefined) return known;
    const { servers, bundles, settings } = config;
    const written = [...servers.values()].map((entry) => [entry.name, entry.written]);
    const content = sha256(
      canonicalJson([written, [...bundles].map(([name, bundle]) => [name, bundle.config]), settings]),
    );
    this.#contents.set(config, content);
    return content;
  }

  isAlwaysLoaded(tool: ToolEntry): boolean {
    return isAlwaysLoaded(tool, this.#settings.config().servers.get(tool.server)?.config);
  }

  metaTools(view: View, scope: Scope, naming?: MetaNaming): MetaTools {
    const byId: MetaNaming = {
      nameOf: ({ id }) => id,
      find: (name, signal) => view.findTool(name, { signal }),
    };
    return new MetaTools({ view, naming: naming ?? byId, services: () => this.#services(view, scope) });
  }

  /** Words of a server's tools. Most callers see the same tools, so they are counted once; others must not see them. */
  #wordsOf(tools: readonly ToolEntry[]): string {
    const [first] = tools;
    if (!first) return "";
    const known = this.#words.get(first);
    if (known?.tools.length === tools.length && known.tools.every((one, at) => one === tools[at]))
      return known.words;
    const words = typicalWords(
      tools.map(({ name }) => name),
      mostWords,
    ).join(" ");
    this.#words.set(first, { tools, words });
    return words;
  }

  /** The usable servers, each with what is known of its purpose. An untrusted one says nothing here. */
  async #services(view: View, scope: Scope): Promise<Service[]> {
    const { catalog } = this.#settings;
    const { servers } = this.#settings.config();
    const said = await this.#settings.introductions();
    const tools = Map.groupBy(await view.tools({ wait: false }), ({ server }) => server);
    return catalog.serverNames(scope).map((name) => {
      const config = servers.get(name)?.config;
      if (config?.untrusted) return { name, about: config.description };
      const about =
        config?.description ?? said.get(name)?.instructions ?? this.#wordsOf(tools.get(name) ?? []);
      return { name, about };
    });
  }
}
