import type { Command } from "commander";
import type { Hub, View } from "../../index.ts";
import { findTool } from "../find-tool.ts";
import { prepareLists, reportLists } from "../known-lists.ts";
import { showList } from "../list-verb.ts";
import type { ListOptions, Shown } from "../list-verb.ts";
import { listedText } from "../views/listed-view.ts";
import type { Listed } from "../views/listed-view.ts";
import { printLines } from "../terminal/live-area.ts";
import { noServersText } from "../views/no-servers.ts";
import { count, json } from "../terminal/print.ts";
import { assertAccounts, profileOption } from "../arguments/profile.ts";
import { reportDiagnostics } from "../terminal/report.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { loginAnswers } from "../terminal/terminal-answers.ts";
import { verb, withWorkspace } from "../verb.ts";
import { withHub } from "../with-hub.ts";

interface ToolsOptions extends ListOptions {
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
    .addOption(profileOption())
    .action(async (name: string | undefined, options: ToolsOptions) =>
      withWorkspace(terminal, options, async (workspace) => {
        const config = await workspace.load();
        if (!options.json) reportDiagnostics(config.diagnostics, terminal);
        if (config.servers.size === 0 && !options.json) return terminal.out(noServersText);
        const interact = options.json ? {} : loginAnswers(terminal);
        await withHub(
          terminal,
          { config, tolerant: true, interact, profile: options.profile },
          workspace,
          (hub) =>
            name === undefined || config.servers.has(name)
              ? showList(hub, name, options, ["tools"], terminal, (view) =>
                  listTools(view, options, terminal),
                )
              : showTool(hub, name, options, terminal),
        );
      }),
    );
}

async function listTools(view: View, { all }: ToolsOptions, terminal: Terminal): Promise<Shown> {
  const every = await view.allTools({ wait: false });
  const shown = every.filter(({ standing }) => all || standing === "offered");
  const listed = shown.map(({ server, id: name, title, description, standing, because }): Listed => {
    if (standing === "offered") return { server, name, about: description ?? title ?? "" };
    return { server, name, about: `${standing}: ${because ?? ""}`, style: "yellow" };
  });
  const hidden = every.length - shown.length;
  const more =
    hidden === 0 ? "" : `${count(hidden, "tool is", "tools are")} hidden or set aside: --all shows why.\n`;
  const text = listedText(listed, "tool", terminal) + more;
  return { value: { tools: shown }, text };
}

async function showTool(hub: Hub, query: string, options: ToolsOptions, terminal: Terminal): Promise<void> {
  const found = await findTool(hub, query);
  const { refresh, profile } = options;
  assertAccounts(hub.config.servers.get(found.server), profile);
  const outcome = await prepareLists(hub, { kinds: ["tools"], server: found.server, refresh }, terminal);
  const tool = refresh ? await findTool(hub, query) : found;
  if (options.json) return terminal.out(json(tool));
  const { toolPage } = await import("../views/tool-view.ts");
  const width = terminal.isLive ? terminal.columns - 1 : 100;
  terminal.out(printLines(toolPage(tool, width), terminal));
  reportLists(hub, outcome, terminal);
}
