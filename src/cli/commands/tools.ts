import type { Command } from "commander";
import { PlugboardError, isPlugboardError, nearest } from "../../index.ts";
import type { Hub, ToolEntry } from "../../index.ts";
import { prepareLists, reportLists } from "../known-lists.ts";
import { printLines } from "../live-area.ts";
import { noServersText } from "../no-servers.ts";
import { count, json, painter, safe } from "../print.ts";
import { reportDiagnostics } from "../report.ts";
import type { Terminal } from "../terminal.ts";
import { toolPage, toolRows } from "../tool-view.ts";
import { verb, withWorkspace } from "../verb.ts";
import type { CommonOptions } from "../verb.ts";
import { withHub } from "../with-hub.ts";

interface ToolsOptions extends CommonOptions {
  refresh?: boolean;
  all?: boolean;
}

export function command(terminal: Terminal): Command {
  return verb(
    "tools",
    "List the tools, or show one with its parameters and a line that calls it. What is remembered is shown at once; only servers of which nothing is known are asked.",
    ["tools", "tools files", "tools files.read_file", "tools --refresh", "tools --all --json"],
  )
    .argument("[name]", "a server to list its tools, or a tool")
    .option("--refresh", "ask the servers, whatever is remembered")
    .option("--all", "also those that are hidden or set aside, with the reason")
    .action(async (name: string | undefined, options: ToolsOptions) =>
      withWorkspace(terminal, options, async (workspace) => {
        const config = await workspace.load();
        if (!options.json) reportDiagnostics(config.diagnostics, terminal);
        if (config.servers.size === 0 && !options.json) return terminal.out(noServersText);
        await withHub(terminal, { config, tolerant: true }, workspace, async (hub) => {
          if (name !== undefined && !config.servers.has(name)) await showTool(hub, name, options, terminal);
          else await listTools(hub, name, options, terminal);
        });
      }),
    );
}

async function listTools(
  hub: Hub,
  server: string | undefined,
  { refresh, all, json: asJson }: ToolsOptions,
  terminal: Terminal,
): Promise<void> {
  if (server !== undefined && hub.config.servers.get(server)?.status.kind !== "ready")
    await hub.connect(server);
  const outcome = await prepareLists(hub, { kinds: ["tools"], server, refresh }, terminal);
  const view = server === undefined ? hub : hub.view({ servers: [server] });
  const every = await view.allTools({ wait: false });
  const shown = every.filter(({ standing }) => all || standing === "offered");
  if (outcome.failures.some(({ level }) => level === "problem")) terminal.exitCode = 5;
  if (asJson) {
    const { states, failures } = outcome;
    return terminal.out(json({ tools: shown, servers: states, failures }));
  }
  const paint = painter(terminal);
  const width = terminal.isLive ? terminal.columns - 1 : Infinity;
  for (const name of new Set(shown.map((tool) => tool.server))) {
    const own = shown.filter((tool) => tool.server === name);
    terminal.out(`${paint("bold", safe(name))}  ${paint("dim", count(own.length, "tool"))}\n`);
    terminal.out(printLines(toolRows(own, width), terminal));
  }
  if (shown.length === 0) terminal.out("There are no tools.\n");
  const hidden = every.length - shown.length;
  if (hidden > 0) terminal.err(`${count(hidden, "more tool")} hidden or set aside: --all shows why.\n`);
  reportLists(hub, outcome, terminal);
}

async function showTool(
  hub: Hub,
  query: string,
  { refresh, json: asJson }: ToolsOptions,
  terminal: Terminal,
): Promise<void> {
  const found = await findTool(hub, query);
  const outcome = await prepareLists(hub, { kinds: ["tools"], server: found.server, refresh }, terminal);
  const tool = refresh ? await findTool(hub, query) : found;
  if (asJson) return terminal.out(json(tool));
  const width = terminal.isLive ? terminal.columns - 1 : 100;
  terminal.out(printLines(toolPage(tool, width), terminal));
  reportLists(hub, outcome, terminal);
}

async function findTool(hub: Hub, query: string): Promise<ToolEntry> {
  try {
    return await hub.findTool(query);
  } catch (error) {
    const near = nearest(query, hub.config.servers.keys());
    if (!isPlugboardError(error, "tool-unknown") || error.data || near === undefined) throw error;
    const message = `There is no server and no tool "${query}".`;
    throw new PlugboardError("tool-unknown", message, {
      tool: query,
      hint: `Did you mean the server ${near}?`,
    });
  }
}
