import { estimateTokens } from "../../host.ts";
import { PlugboardError } from "../../index.ts";
import type { Hub } from "../../index.ts";
import { nearest } from "../../lib/suggest.ts";
import { count, hanging, painter, safe, table } from "../terminal/print.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { spinWhile } from "../terminal/waiting.ts";
import { printable } from "../../lib/printable.ts";
import { isRecord } from "../../lib/record.ts";
import { argumentLines } from "../views/argument-lines.ts";
import { listedText } from "../views/listed.ts";
import { noServersText } from "../views/server.ts";
import type { StatusBoard } from "../views/status/board.ts";
import type { Conversations } from "./conversations.ts";
import { mcpScreen } from "./mcp-screen.ts";
import type { ShownCall } from "./screen/turn-screen.ts";
import type { ChatSession } from "./session.ts";

export interface SlashContext {
  hub: Hub;
  board: StatusBoard;
  session: ChatSession;
  conversations: Conversations;
  calls: readonly ShownCall[];
  terminal: Terminal;
  signal: AbortSignal;
  exit(): void;
}

interface SlashCommand {
  usage: string;
  summary: string;
  run(context: SlashContext, words: string[]): Promise<void> | void;
}

/** The commands of a chat; `/mcp__server__prompt` are prompts of servers. */
export const slashCommands: Readonly<Record<string, SlashCommand>> = {
  help: { usage: "/help", summary: "show this", run: help },
  mcp: {
    usage: "/mcp",
    summary: "the servers: connect, disconnect, log in, log out, enable, disable",
    run: ({ hub, board, terminal, signal }, words) => mcpScreen(hub, board, words, terminal, signal),
  },
  tools: { usage: "/tools [server]", summary: "the tools that the model may call", run: tools },
  context: { usage: "/context", summary: "what fills the model's context, by server", run: showContext },
  show: { usage: "/show [number]", summary: "a call with its arguments and its result", run: show },
  clear: { usage: "/clear", summary: "begin a new conversation", run: clear },
  resume: { usage: "/resume [id]", summary: "go on with an earlier conversation", run: resume },
  exit: { usage: "/exit", summary: "leave; Ctrl-D does the same", run: ({ exit }) => exit() },
};

export async function runSlashCommand(line: string, context: SlashContext): Promise<void> {
  const [name = "", ...words] = line.slice(1).trim().split(/\s+/);
  const command = Object.hasOwn(slashCommands, name) ? slashCommands[name] : undefined;
  if (command) return command.run(context, words);
  const near = nearest(name, Object.keys(slashCommands));
  throw new PlugboardError("usage-invalid", `Unknown command: /${name}`, {
    hint: near ? `Did you mean /${near}?` : "/help lists the commands.",
  });
}

async function help({ hub, terminal }: SlashContext): Promise<void> {
  const paint = painter(terminal);
  const prompts = await hub.commands({ wait: false });
  const rows = Object.values(slashCommands).map(({ usage, summary }) => [usage, summary] as const);
  const asked = prompts
    .slice(0, 20)
    .map(({ command, description, title }) => [command, firstLine(description ?? title ?? "")] as const);
  const width = Math.min(40, Math.max(...[...rows, ...asked].map(([usage]) => usage.length))) + 2;
  const line = ([usage, summary]: readonly [string, string]) =>
    `  ${paint("cyan", safe(usage).padEnd(width))}${hanging(safe(summary), width + 2, terminal)}\n`;
  terminal.out(rows.map(line).join(""));
  if (asked.length > 0) terminal.out(`\nPrompts of the servers:\n${asked.map(line).join("")}`);
  if (prompts.length > asked.length)
    terminal.out(`  … and ${prompts.length - asked.length} more; Tab completes them\n`);
  const keys = [
    "@server:uri in a message attaches a resource. Tab completes commands, prompts, arguments and resources.",
    "Ctrl-C cancels what the model is doing; a second one leaves. A \\ at the end of a line continues it.",
  ];
  terminal.out(`\n${keys.map((text) => `${hanging(text, 0, terminal)}\n`).join("")}`);
}

function firstLine(text: string): string {
  return text.trim().split("\n", 1)[0]?.slice(0, 200) ?? "";
}

async function tools({ hub, terminal, signal }: SlashContext, [server]: string[]): Promise<void> {
  if (server !== undefined && !hub.config.servers.has(server))
    throw new PlugboardError("server-unknown", `There is no server "${server}".`, { server });
  if (hub.config.servers.size === 0) return terminal.out(noServersText);
  const view = server === undefined ? hub : hub.view({ servers: [server] });
  const found = await spinWhile(
    terminal,
    () => ({ words: "listing the tools" }),
    () => view.tools({ signal }),
  );
  const listed = found.map((tool) => ({
    server: tool.server,
    name: tool.id,
    about: tool.description ?? tool.title ?? "",
  }));
  terminal.out(listed.length === 0 ? "There are no tools.\n" : listedText(listed, "tool", terminal));
}

async function showContext({ hub, session, terminal }: SlashContext): Promise<void> {
  const { tools: offered, deferral, meta } = await hub.offer({ wait: false });
  const size = (tool: { id: string; description?: string | undefined; inputSchema: unknown }) =>
    estimateTokens(JSON.stringify([tool.id, tool.description, tool.inputSchema]));
  const byServer = Map.groupBy(offered, ({ server }) => server);
  const rows = [...byServer].map(([server, list]) => {
    const tokens = list.reduce((sum, tool) => sum + size(tool), 0);
    return { what: server, about: count(list.length, "tool"), tokens };
  });
  const metaRow = {
    what: "search",
    about: count(meta.length, "tool"),
    tokens: estimateTokens(JSON.stringify(meta)),
  };
  const { messages } = session.conversation;
  const said = {
    what: "conversation",
    about: count(messages.length, "message"),
    tokens: estimateTokens(JSON.stringify(messages)),
  };
  const all = [
    ...rows.toSorted((one, other) => other.tokens - one.tokens),
    ...(meta.length > 0 ? [metaRow] : []),
    said,
  ];
  const text = all.map(({ what, about, tokens }) => [what, about, `about ${tokens.toLocaleString("en-US")}`]);
  terminal.out(table(["WHAT", "", "TOKENS"], text, painter(terminal)));
  if (deferral.deferred) terminal.out(`${safe(`Tools are searched for, because ${deferral.because}.`)}\n`);
  const { inputTokens, outputTokens } = session.usage;
  terminal.out(
    `Used so far: ${inputTokens.toLocaleString("en-US")} tokens read, ${outputTokens.toLocaleString("en-US")} written.\n`,
  );
}

const mostLines = 200;

function show({ calls, terminal }: SlashContext, [typed]: string[]): void {
  const number = typed === undefined ? calls.length : Number(typed);
  const call = calls[number - 1];
  if (!call)
    throw new PlugboardError(
      "usage-invalid",
      calls.length === 0 ? "There was no call yet." : `There is no call ${typed}.`,
      {
        hint:
          calls.length === 0
            ? "The numbers are those in front of the calls."
            : `Use a number from 1 to ${calls.length}.`,
      },
    );
  const { name, arguments: args, result } = call;
  const given = isRecord(args)
    ? argumentLines(args, { width: terminal.columns - 1, isWhole: true }).lines
    : [`Arguments: ${safe(JSON.stringify(args) ?? "")}`];
  const lines = printable(result?.text ?? "").split("\n");
  const rest = lines.length - mostLines;
  terminal.out(`${painter(terminal)("bold", safe(name))}\n${given.join("\n")}\n`);
  if (!result) return terminal.out("No result.\n");
  terminal.out(
    `${result.isError ? "Error:" : "Result:"}\n${lines
      .slice(0, mostLines)
      .map((line) => `  ${line}\n`)
      .join("")}`,
  );
  if (rest > 0) terminal.out(`  … (${rest.toLocaleString("en")} more lines)\n`);
}

function clear({ session, terminal }: SlashContext): void {
  session.clear();
  terminal.out("A new conversation. /resume brings back the last one.\n");
}

async function resume(
  { conversations, session, terminal, signal }: SlashContext,
  [typed]: string[],
): Promise<void> {
  const id = typed ?? (await chooseConversation(conversations, terminal, signal));
  if (id === undefined) return;
  session.conversation = await conversations.load(id);
  terminal.out(`${resumedText(session)}\n`);
}

export function resumedText({ conversation }: ChatSession): string {
  return `Resumed ${conversation.id}, ${count(conversation.messages.length, "message")}.`;
}

/** Lets a person choose one of the last conversations; undefined if they do not want any. */
export async function chooseConversation(
  conversations: Conversations,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<string | undefined> {
  const all = (await conversations.list()).slice(0, 20);
  if (all.length === 0) {
    terminal.out("There is no earlier conversation.\n");
    return undefined;
  }
  const choices = all.map(({ id, at, title, folder }) => ({
    value: id,
    label: `${new Date(at).toLocaleString("sv-SE").slice(0, 16)}  ${safe(title).slice(0, Math.max(20, terminal.columns - 40))}`,
    hint: `${id} in ${safe(folder)}`,
  }));
  return terminal.ask?.choose({ message: "Which conversation?", choices }, signal);
}
