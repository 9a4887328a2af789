import type { BundleEntry, LoadedConfig } from "../config/model.ts";
import { PlugboardError } from "../errors.ts";
import { nearest } from "../lib/suggest.ts";
import { matchesTools } from "./filter.ts";
import type { Filter } from "./filter.ts";
import { judgeFor } from "./tool-entry.ts";
import type { ToolEntry } from "./tool-entry.ts";
import type { ToolIndex } from "./tool-index.ts";

export type ToolFilter = (tool: ToolEntry) => boolean;

type Sum = Pick<ToolIndex, "available" | "digest">;

interface Verdicts {
  /** `null` for tools that are not visible. */
  tools: WeakMap<ToolEntry, ToolEntry | null>;
  indexes: WeakMap<ToolIndex, Sum>;
}

/** Applies a filter to each tool index under one configuration. Judges every tool once. */
export class ScopeView {
  readonly config: LoadedConfig;
  readonly #filter: Filter;
  readonly #toolFilter: ToolFilter | undefined;
  /** Absent if the view shows every tool of its servers unchanged, because there may be thousands of such views. */
  readonly #verdicts: Verdicts | undefined;
  /** Absent if every server is visible. */
  readonly #visible: Map<string, boolean> | undefined;
  #names: readonly string[] | undefined;

  constructor(config: LoadedConfig, filter: Filter, toolFilter: ToolFilter | undefined) {
    this.config = config;
    this.#filter = filter;
    this.#toolFilter = toolFilter;
    const { servers, exclude = [], bundle, tools, alsoTools = [], for: audience } = filter;
    if (bundle !== undefined || tools || alsoTools.length > 0 || toolFilter || audience === "app")
      this.#verdicts = { tools: new WeakMap(), indexes: new WeakMap() };
    if (bundle !== undefined || servers || exclude.length > 0) this.#visible = new Map();
  }

  /** The usable servers, in a stable order. */
  get names(): readonly string[] {
    return (this.#names ??= [...this.config.servers.values()]
      .filter(({ name, config, status }) => config && status.kind === "ready" && this.isVisible(name))
      .map(({ name }) => name)
      .sort());
  }

  /** True if the view includes the server, usable or not. */
  isVisible(server: string): boolean {
    if (!this.#visible) return true;
    let isVisible = this.#visible.get(server);
    if (isVisible === undefined) {
      isVisible = isServerVisible(server, this.#filter, this.config);
      if (this.config.servers.has(server)) this.#visible.set(server, isVisible);
    }
    return isVisible;
  }

  /** A tool of a visible server as this view shows it; undefined if it is not visible. */
  shown(entry: ToolEntry): ToolEntry | undefined {
    if (!this.#verdicts) return entry;
    let verdict = this.#verdicts.tools.get(entry);
    if (verdict === undefined) {
      verdict = this.#judge(entry);
      this.#verdicts.tools.set(entry, verdict);
    }
    return verdict ?? undefined;
  }

  shownOf({ entries }: ToolIndex): readonly ToolEntry[] {
    if (!this.#verdicts) return entries;
    return entries.flatMap((entry) => this.shown(entry) ?? []);
  }

  /** The number of callable tools, and their digest. */
  sumUp(index: ToolIndex): Sum {
    if (!this.#verdicts) return index;
    let sum = this.#verdicts.indexes.get(index);
    if (!sum) {
      const available = this.shownOf(index).filter(({ status }) => status === "available");
      sum = { available: available.length, digest: index.digestOf(available) };
      this.#verdicts.indexes.set(index, sum);
    }
    return sum;
  }

  #judge(entry: ToolEntry): ToolEntry | null {
    const { bundle, for: audience = "model" } = this.#filter;
    if (!matchesTools(this.#filter, entry.id, entry.name)) return null;
    const config = this.config.servers.get(entry.server)?.config ?? {};
    const isPlain = bundle === undefined && audience === "model";
    const rules = { audience, bundle: bundle === undefined ? undefined : bundleOf(bundle, this.config) };
    const judged = isPlain ? entry : judgeFor(entry, config, rules);
    if (judged.status !== "available" || !this.#toolFilter || this.#toolFilter(judged)) return judged;
    return { ...judged, status: "hidden", because: "the host program's filter excludes it" };
  }
}

function isServerVisible(
  server: string,
  { servers, exclude, bundle }: Filter,
  config: LoadedConfig,
): boolean {
  const isInBundle = bundle === undefined || bundleOf(bundle, config).servers.includes(server);
  return (!servers || servers.includes(server)) && !exclude?.includes(server) && isInBundle;
}

function bundleOf(name: string, { bundles }: LoadedConfig) {
  const bundle = bundles.get(name);
  if (bundle?.config) return bundle.config;
  if (bundle) throw bundleMistakes(bundle);
  const near = nearest(name, bundles.keys());
  throw new PlugboardError("server-unknown", `There is no bundle "${name}".`, {
    data: { known: [...bundles.keys()] },
    hint: near === undefined ? "`plugboard config show` lists the bundles." : `Did you mean "${near}"?`,
  });
}

function bundleMistakes({ name, diagnostics }: BundleEntry): PlugboardError {
  const errors = diagnostics.filter(({ severity }) => severity === "error");
  const list = errors.map(({ file, line, path, message }) => {
    const place = [file, line].filter((part) => part !== undefined).join(":");
    return `${path}: ${message}${place === "" ? "" : ` (${place})`}`;
  });
  return new PlugboardError("config-invalid", `The bundle "${name}" has mistakes: ${list.join("; ")}.`, {
    data: { bundle: name, findings: errors },
  });
}
