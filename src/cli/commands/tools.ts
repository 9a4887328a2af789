import type { Command } from "commander";
import { hidingRule } from "../../index.ts";
import type { Hub, ToolEntry, View } from "../../index.ts";
import { findTool } from "../find.ts";
import { prepareLists, reportLists } from "../known-lists.ts";
import { showList, withServers } from "../list-verb.ts";
import type { ListOptions, Shown } from "../list-verb.ts";
import { listedText } from "../views/listed.ts";
import type { Listed } from "../views/listed.ts";
import { statusWords } from "../views/tool-status.ts";
import { printLines } from "../terminal/live-area.ts";
import { count, json } from "../terminal/print.ts";
import { assertAccounts, profileOption } from "../arguments/profile.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { verb } from "../verb.ts";

interface ToolsOptions extends ListOptions {
  all?: boolean;
}

export function command(terminal: Terminal): Command {
  return verb(
    "tools",
    "List the tools, or show one with its parameters and an example call. Uses remembered lists and asks only servers without one.",
    ["tools", "tools files", "tools files.read_file", "tools --refresh", "tools --all --json"],
  )
    .argument("[name]", "a server, to list its tools, or a tool")
    .option("--refresh", "ask the servers instead of using remembered lists")
    .option("--all", "include tools that are hidden or set aside, with the reason")
    .addOption(profileOption())
    .action(async (name: string | undefined, options: ToolsOptions) =>
      withServers({ options, server: name }, terminal, (hub) => {
        if (name !== undefined && !hub.config.servers.has(name))
          return showTool(hub, name, options, terminal);
        const show = (view: View) => listTools(hub, view, options, terminal);
        return showList(hub, { server: name, options, kinds: ["tools"], show }, terminal);
      }),
    );
}

/** What is deferred is decided for all servers together, also if only those of one are listed. */
async function listTools(hub: Hub, view: View, { all }: ToolsOptions, terminal: Terminal): Promise<Shown> {
  const every = await view.allTools({ wait: false });
  const shown = every.filter(({ status }) => all || status === "available");
  const { deferral, tools: loaded } = await hub.offer({ wait: false });
  const whole = new Set(loaded.map(({ id }) => id));
  const isDeferred = ({ id, status }: ToolEntry) =>
    status === "available" && deferral.deferred && !whole.has(id);
  const listed = shown.map((tool): Listed => {
    const { server, id: name, title, description, status } = tool;
    const words = description ?? title ?? "";
    if (status === "available")
      return { server, name, about: isDeferred(tool) ? `(deferred) ${words}` : words };
    const about = statusWords(tool, hidingRule(tool, hub.config), terminal.cwd);
    return { server, name, about, style: "yellow" };
  });
  const hidden = every.length - shown.length;
  const more =
    hidden === 0
      ? ""
      : `${count(hidden, "tool is", "tools are")} hidden or set aside. Use --all to see why.\n`;
  const found =
    deferral.deferred && shown.some(isDeferred)
      ? `Models search for deferred tools: ${deferral.because}.\n`
      : "";
  const text = listedText(listed, "tool", terminal) + more + found;
  const tools = shown.map((tool) => (isDeferred(tool) ? { ...tool, deferred: true } : tool));
  return { value: { tools }, text };
}

async function showTool(hub: Hub, query: string, options: ToolsOptions, terminal: Terminal): Promise<void> {
  const found = await findTool(hub, query);
  const { refresh, profile } = options;
  assertAccounts(hub.config.servers.get(found.server), profile);
  const outcome = await prepareLists(hub, { kinds: ["tools"], server: found.server, refresh }, terminal);
  const tool = refresh ? await findTool(hub, query) : found;
  const { pin, flags, decidedBy } = await hub.explainTool(tool.id, { wait: false });
  if (options.json) return terminal.out(json({ ...tool, ...(pin && { changes: pin.changes }), flags }));
  const { toolPage } = await import("../views/tool.ts");
  const status = statusWords(tool, decidedBy, terminal.cwd);
  const { pinLines } = await import("../views/tool-explanation.ts");
  const width = terminal.isLive ? terminal.columns - 1 : 100;
  const { server, name } = tool;
  const lines = pinLines({ server, name, flags, ...(pin && { pin }) }, width);
  terminal.out(
    printLines([...toolPage(tool, width, status), ...(lines.length > 0 ? [[]] : []), ...lines], terminal),
  );
  reportLists(hub, outcome, terminal);
}
