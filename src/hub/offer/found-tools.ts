import { estimateTokens } from "../../calls/output/token-estimate.ts";
import type { ToolEntry } from "../../catalog/tool-entry.ts";
import { printable } from "../../lib/printable.ts";
import { isRecord } from "../../lib/record.ts";

/** A tool under the name that the model calls it by. */
export interface NamedTool {
  name: string;
  tool: ToolEntry;
}

/** What one search may cost a model. */
const mostTokens = 600;
const longestAbout = 160;
const mostParameters = 12;

/** One line for each tool: its name, its parameters (`?` if optional) and what it does, as many as fit. */
export function foundLines(found: readonly NamedTool[]): string[] {
  const lines: string[] = [];
  let tokens = 0;
  for (const one of found) {
    const line = foundLine(one);
    tokens += estimateTokens(line) + 1;
    if (lines.length > 0 && tokens > mostTokens) break;
    lines.push(line);
  }
  return lines;
}

function foundLine({ name, tool }: NamedTool): string {
  const about = oneLine(tool.description ?? tool.title ?? "");
  const parameters = parametersOf(tool.inputSchema);
  return `${name}(${parameters.join(", ")})${about === "" ? "" : `: ${about}`}`;
}

/** The names of the parameters; required ones first. */
function parametersOf({ properties, required }: Record<string, unknown>): string[] {
  const names = Object.keys(isRecord(properties) ? properties : {});
  const needed = new Set(Array.isArray(required) ? required : []);
  const shown = [
    ...names.filter((name) => needed.has(name)).map(short),
    ...names.filter((name) => !needed.has(name)).map((name) => `${short(name)}?`),
  ];
  const more = shown.length - mostParameters;
  return more > 0 ? [...shown.slice(0, mostParameters), "…"] : shown;
}

function short(name: string): string {
  return printable(name, { oneLine: true }).slice(0, 60);
}

/** The first sentence or line, without characters that nobody sees. */
function oneLine(about: string): string {
  const [first = ""] = about
    .slice(0, 1_000)
    .trim()
    .split(/(?<=[.!?])\s|\r?\n/);
  const plain = printable(first.replaceAll(/\s+/g, " "), { oneLine: true });
  return plain.length > longestAbout ? `${plain.slice(0, longestAbout)}…` : plain;
}
