import type { Hub, ToolEntry } from "../index.ts";
import { toolWord } from "./arguments/call-line.ts";
import { propertiesOf } from "./arguments/schema-parts.ts";
import type { Terminal } from "./terminal/terminal.ts";
import { withWorkspace } from "./verb.ts";
import type { CommonOptions } from "./verb.ts";
import { withHub } from "./with-hub.ts";

const severalServers = new Set(["stop", "trust", "status", "doctor", "lock", "verify"]);
const oneServer = new Set([
  "remove",
  "enable",
  "disable",
  "get",
  "read",
  "resources",
  "prompts",
  "logs",
  "request",
]);

/** The servers, tools, prompts or parameters that can follow a verb. Uses remembered lists; starts no server. */
export async function nameCandidates(
  verb: string,
  words: readonly string[],
  options: CommonOptions,
  terminal: Terminal,
): Promise<string[]> {
  const isFirst = words.length === 1;
  return withWorkspace(terminal, options, async (workspace) => {
    const config = await workspace.load();
    const servers = [...config.servers.keys()].filter(isPlain);
    if (severalServers.has(verb) || (isFirst && oneServer.has(verb))) return servers;
    const fromHub = <T>(work: (hub: Hub) => Promise<T>) =>
      withHub(terminal, { config, isLooking: true }, workspace, work);
    const tools = () => fromHub((hub) => hub.tools({ wait: false }));
    if (verb === "prompt" && isFirst)
      return (await fromHub((hub) => hub.commands({ wait: false }))).map(({ id }) => id).filter(isPlain);
    if (isFirst && (verb === "tools" || verb === "explain")) return [...servers, ...toolNames(await tools())];
    if (verb !== "call") return [];
    const known = await tools();
    return isFirst ? toolNames(known) : parameterNames(known, words[0] ?? "");
  });
}

function toolNames(tools: readonly ToolEntry[]): string[] {
  return tools.flatMap((tool) => [toolWord(tool), tool.id]).filter(isPlain);
}

function parameterNames(tools: readonly ToolEntry[], query: string): string[] {
  const tool = tools.find((one) => one.id === query || toolWord(one) === query || one.name === query);
  if (!tool) return [];
  const names = propertiesOf(tool.inputSchema, tool.inputSchema).map(([name]) => name);
  return names.filter(isPlain).map((name) => `${name}=`);
}

/** Names come from files and servers. Only names that need no quoting in a shell are offered. */
function isPlain(name: string): boolean {
  return /^[\w./-]+$/.test(name);
}
