import type { ServerConfig } from "../config/server-schema.ts";
import type { Settings } from "../config/schema.ts";
import type { ToolEntry } from "../catalog/tool-entry.ts";
import { matchesGlob } from "../lib/glob.ts";
import type { CallResult } from "./call-tool.ts";
import { boundOutput } from "./output.ts";

/** Stores a whole result and returns the handle that finds it again. */
export type Keep = (whole: CallResult) => Promise<string>;

interface BoundContext {
  settings: Settings;
  env: Readonly<Record<string, string | undefined>>;
  keep(tool: ToolEntry): Keep;
}

const defaults = { warnTokens: 10_000, maxTokens: 25_000, media: "keep" as const };

/** The result within the limits that hold for this tool; the whole is kept where something had to go. */
export async function boundResult(
  tool: ToolEntry,
  result: CallResult,
  config: ServerConfig,
  context: BoundContext,
): Promise<CallResult> {
  const policy = outputPolicy(tool.name, config, context);
  const { result: bounded } = await boundOutput(result, policy, context.keep(tool));
  return bounded;
}

/** The most specific limit wins: the tool's, the server's, the general one, the variables people know, ours. */
export function outputPolicy(
  name: string,
  config: ServerConfig,
  { settings, env }: Pick<BoundContext, "settings" | "env">,
) {
  const fromEnv = Number(env["PLUGBOARD_MAX_OUTPUT_TOKENS"] ?? env["MAX_MCP_OUTPUT_TOKENS"]);
  const variable = Number.isInteger(fromEnv) && fromEnv > 0 ? { maxTokens: fromEnv } : {};
  const rules = [settings.output, config.output].flatMap((output) => {
    if (!output) return [];
    const { tools, check: _check, ...own } = output;
    const forTool = Object.entries(tools ?? {}).filter(([glob]) => matchesGlob(glob, name));
    return [own, ...forTool.map(([, limits]) => limits)];
  });
  const policy = Object.assign({ ...defaults, ...variable }, ...rules) as {
    warnTokens: number;
    maxTokens: number;
    media: "keep" | "drop";
  };
  return { ...policy, warnTokens: Math.min(policy.warnTokens, policy.maxTokens) };
}
