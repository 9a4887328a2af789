import type { Command } from "commander";
import { hidingRule } from "../../host.ts";
import { isPlugboardError } from "../../index.ts";
import type { Hub, ToolEntry, View } from "../../index.ts";
import { findTool, findToolWithout } from "../find.ts";
import { prepareLists, reportLists } from "../known-lists.ts";
import { recentFailures } from "../left-out.ts";
import { showList, withServers } from "../list-verb.ts";
import type { Failures, ListOptions, Shown } from "../list-verb.ts";
import { listedText } from "../views/listed.ts";
import type { Listed } from "../views/listed.ts";
import { statusWords } from "../views/tool-status.ts";
import { printLines } from "../terminal/live-area.ts";
import { count, json, safe, screenWidth } from "../terminal/print.ts";
import { assertAccounts } from "../arguments/profile.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { oneOffServer } from "../one-off.ts";
import { serverVerb } from "../server-verb.ts";

interface ToolsOptions extends ListOptions {
  all?: boolean;
  grep?: string;
}

export function command(terminal: Terminal): Command {
  return serverVerb(
    "tools",
    "List the tools, or show one with its parameters and an example call. Uses remembered lists and asks only servers without one.",
    [
      "tools",
      "tools files",
      "tools files.read_file",
      "tools --grep issue",
      "tools --refresh",
      "tools --all --json",
      "tools --command 'npx -y @modelcontextprotocol/server-everything'",
      "tools --url https://issues.example/mcp -H 'Authorization: Bearer ${secret:ISSUES}'",
    ],
  )
    .argument("[name]", "a server, to list its tools, or a tool")
    .option("--refresh", "ask the servers instead of using remembered lists")
    .option("--all", "include tools that cannot be called, with the reason")
    .option("--grep <text>", "only tools with this text in their name, title or description")
    .action(async (name: string | undefined, options: ToolsOptions) =>
      withServers({ options, server: name }, terminal, (hub, failures) => {
        if (name !== undefined && !hub.config.servers.has(name))
          return showTool(hub, name, failures, options, terminal);
        const show = (view: View, mark?: string) => listTools(hub, view, { ...options, mark }, terminal);
        return showList(hub, { server: name, options, kinds: ["tools"], show }, failures, terminal);
      }),
    );
}

/** What is deferred is decided for all servers together, also if only those of one are listed. */
async function listTools(
  hub: Hub,
  view: View,
  { all, grep, mark }: ToolsOptions & { mark?: string | undefined },
  terminal: Terminal,
): Promise<Shown> {
  const every = (await view.allTools({ wait: false })).filter((tool) => hasText(tool, grep));
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
    hidden === 0 ? "" : `${count(hidden, "tool is", "tools are")} not listed. Use --all to see why.\n`;
  const found =
    deferral.deferred && shown.some(isDeferred)
      ? `Models search for deferred tools: ${deferral.because}.\n`
      : "";
  const text = listedText(listed, "tool", terminal, mark);
  const tools = shown.map((tool) => (isDeferred(tool) ? { ...tool, deferred: true } : tool));
  const nothing =
    grep === undefined ? "No tools.\n" : `No tool has "${safe(grep)}" in its name, title or description.\n`;
  return { value: { tools }, text, nothing, end: more + found };
}

function hasText({ id, name, title, description }: ToolEntry, text: string | undefined): boolean {
  if (text === undefined) return true;
  const wanted = text.toLowerCase();
  return [id, name, title, description].some((one) => one?.toLowerCase().includes(wanted));
}

async function showTool(
  hub: Hub,
  query: string,
  failures: Failures,
  options: ToolsOptions,
  terminal: Terminal,
): Promise<void> {
  const found = await knownOrAsked(hub, query, failures);
  const { profile } = options;
  const refresh = options.refresh ?? oneOffServer(options) !== undefined;
  assertAccounts(hub.config.servers.get(found.server), profile);
  const outcome = await prepareLists(hub, { kinds: ["tools"], server: found.server, refresh }, terminal);
  const tool = refresh ? await findTool(hub, query) : found;
  const { pin, flags, decidedBy } = await hub.explainTool(tool.id, { wait: false });
  if (options.json) return terminal.out(json({ ...tool, ...(pin && { changes: pin.changes }), flags }));
  const { toolPage } = await import("../views/tool.ts");
  const status = statusWords(tool, decidedBy, terminal.cwd);
  const { pinLines } = await import("../views/tool-explanation.ts");
  const width = screenWidth(terminal, 100);
  const { server, name } = tool;
  const lines = pinLines({ server, name, flags, ...(pin && { pin }) }, width);
  terminal.out(
    printLines([...toolPage(tool, width, status), ...(lines.length > 0 ? [[]] : []), ...lines], terminal),
  );
  reportLists(hub, outcome, terminal, options.config);
}

/** What is remembered can be shown although other servers have not been asked; only calls must be certain. */
async function knownOrAsked(hub: Hub, query: string, failures: Failures): Promise<ToolEntry> {
  try {
    return await hub.findTool(query, { wait: false });
  } catch (error) {
    const { unknown, near } = isPlugboardError(error, "tool-unknown") ? (error.data ?? {}) : {};
    const [only] = unknown !== undefined && Array.isArray(near) ? (near as string[]) : [];
    if (only !== undefined) return hub.findTool(only, { wait: false });
    const failed = recentFailures(await failures(), ["tools"], Date.now());
    return findToolWithout(new Set(failed.keys()), hub, query);
  }
}
