import { estimateTokens } from "../../calls/output/token-estimate.ts";
import type { ToolEntry } from "../../catalog/tool-entry.ts";
import type { LoadedConfig } from "../../config/model.ts";
import { isAlwaysLoaded } from "./always-loaded.ts";
import type { ToolSearchSetting } from "./tool-search-setting.ts";

/** Whether a model is shown tools to search, describe and call instead of a view's tools, and why. */
export interface Deferral {
  deferred: boolean;
  /** The reason in words. */
  because: string;
  /** What decides, and where it is written. */
  setting: ToolSearchSetting;
}

const defaultContextTokens = 200_000;

/**
 * Decides from the catalog alone. `wasDeferred` if it was so before: then `auto` ends it only below half of the limit,
 * so that a catalog near the limit does not go back and forth.
 */
export function decideDeferral(
  tools: readonly ToolEntry[],
  setting: ToolSearchSetting,
  { servers, settings }: Pick<LoadedConfig, "servers" | "settings">,
  sizes: DefinitionSizes,
  wasDeferred = false,
): Deferral {
  const { when, rule, value } = setting;
  const said = `\`${rule}\` is ${value}`;
  if (when === "never") return { deferred: false, because: said, setting };
  if (when === "always") return { deferred: true, because: said, setting };
  const context = settings.contextTokens ?? defaultContextTokens;
  const limit = Math.floor((context * when.percent) / 100);
  const used = sizes.sum(tools, limit);
  const share = `${number(limit)} (${when.percent} % of \`contextTokens\`, ${number(context)})`;
  const isDeferrable = tools.some((tool) => !isAlwaysLoaded(tool, servers.get(tool.server)?.config));
  if (used > limit && isDeferrable)
    return { deferred: true, because: `the tools' definitions take more than ${share} tokens`, setting };
  if (wasDeferred && isDeferrable && used > limit / 2) {
    const because = `the tools' definitions took more than ${share} tokens, and still take more than half of it`;
    return { deferred: true, because, setting };
  }
  const because = `the tools' definitions take ${number(used)} tokens, not more than ${share}`;
  return { deferred: false, because, setting };
}

/** Measures definitions. Entries never change, so each is measured once. */
export class DefinitionSizes {
  readonly #tokens = new WeakMap<ToolEntry, number>();

  /** How many tokens definitions cost a model: name, description and schema. Stops counting above `limit`. */
  sum(tools: readonly ToolEntry[], limit = Infinity): number {
    let total = 0;
    for (const tool of tools) {
      if (total > limit) break;
      total += this.#of(tool);
    }
    return total;
  }

  #of(tool: ToolEntry): number {
    const known = this.#tokens.get(tool);
    if (known !== undefined) return known;
    const { id: name, description, inputSchema } = tool;
    const tokens = estimateTokens(JSON.stringify({ name, description, inputSchema }));
    this.#tokens.set(tool, tokens);
    return tokens;
  }
}

function number(value: number): string {
  return value.toLocaleString("en-US");
}
