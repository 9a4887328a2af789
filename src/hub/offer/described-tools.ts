import { estimateTokens } from "../../calls/output/token-estimate.ts";
import type { NamedTool } from "./found-tools.ts";
import { stringifyExact } from "../../lib/exact-json.ts";

/** How many tools are described at once. */
export const mostDescribed = 10;
/** What all of them may cost together. The first is given whole, whatever it costs. */
const mostTokens = 20_000;

/** The definitions as JSON lines, and the names of those that were left out because the rest was too long. */
export function describedTools(tools: readonly NamedTool[]): { lines: string[]; left: string[] } {
  const lines: string[] = [];
  const left: string[] = [];
  let tokens = 0;
  for (const one of tools) {
    const line = definitionOf(one);
    tokens += estimateTokens(line);
    if (lines.length > 0 && tokens > mostTokens) left.push(one.name);
    else lines.push(line);
  }
  return { lines, left };
}

/** A definition as a model would have it if the tool were not deferred. */
function definitionOf({ name, tool }: NamedTool): string {
  const { title, description, inputSchema, outputSchema, annotations } = tool;
  const said = Object.keys(annotations).length > 0 ? { annotations } : {};
  return stringifyExact({ name, title, description, inputSchema, outputSchema, ...said });
}
