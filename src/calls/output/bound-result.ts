import type { ServerConfig } from "../../config/server-schema.ts";
import type { Settings } from "../../config/schema.ts";
import type { ToolEntry } from "../../catalog/tool-entry.ts";
import { matchesGlob } from "../../lib/glob.ts";
import type { Route } from "../../servers/route.ts";
import type { CallResult } from "../call-tool.ts";
import { boundOutput } from "./output.ts";
import type { Keep, OutputNote, OutputPolicy } from "./output.ts";
import { isSurelyBelow } from "./weigh.ts";

interface BoundContext {
  /** The limits if none are configured. */
  output: OutputPolicy;
  keep(tool: ToolEntry): Keep<CallResult>;
}

/** What a caller wants for one call. */
interface AskedLimit {
  maxTokens?: number | undefined;
  /** Nothing is cut unless somebody set a limit. */
  isUnlimited?: boolean;
}

/** Cuts a result to the limits for this tool. If anything is left out, the whole result is stored. */
export function boundResult(
  tool: ToolEntry,
  result: CallResult,
  { config, loaded }: Pick<Route, "config" | "loaded">,
  context: BoundContext,
  /** The size of the server's message, if it is known. */
  bytes?: number,
  asked?: AskedLimit,
): { result: CallResult; note?: OutputNote } | Promise<{ result: CallResult; note?: OutputNote }> {
  const policy = outputPolicy(tool.name, config, loaded.settings, context.output, asked);
  if (isSurelyBelow(result, policy, bytes)) return { result };
  return boundOutput(result, policy, context.keep(tool));
}

/** The most specific limit applies: the call's, the tool's, the server's, the general one, environment variables, our default. */
function outputPolicy(
  name: string,
  config: ServerConfig,
  settings: Settings,
  output: OutputPolicy,
  { maxTokens, isUnlimited }: AskedLimit = {},
): OutputPolicy {
  const otherwise = isUnlimited && output === defaults ? { ...defaults, maxTokens: Infinity } : output;
  if (!settings.output && !config.output && maxTokens === undefined) return otherwise;
  const rules = [settings.output, config.output].flatMap((limits) => {
    if (!limits) return [];
    const { tools, check: _check, ...own } = limits;
    const forTool = Object.entries(tools ?? {}).filter(([glob]) => matchesGlob(glob, name));
    return [own, ...forTool.map(([, forOne]) => forOne)];
  });
  return consistent(
    Object.assign(
      { ...otherwise, warnTokens: defaults.warnTokens },
      ...rules,
      maxTokens === undefined ? {} : { maxTokens },
    ) as OutputPolicy,
  );
}

const defaults: OutputPolicy = { warnTokens: 10_000, maxTokens: 25_000, media: "keep" };

/** Our limits, or those from well-known environment variables. */
export function outputDefaults(env: Readonly<Record<string, string | undefined>>): OutputPolicy {
  const maxTokens = Number(env["PLUGBOARD_MAX_OUTPUT_TOKENS"] ?? env["MAX_MCP_OUTPUT_TOKENS"]);
  return Number.isInteger(maxTokens) && maxTokens > 0 ? consistent({ ...defaults, maxTokens }) : defaults;
}

function consistent(policy: OutputPolicy): OutputPolicy {
  return { ...policy, warnTokens: Math.min(policy.warnTokens, policy.maxTokens) };
}
