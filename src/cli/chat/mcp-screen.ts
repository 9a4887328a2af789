import { PlugboardError } from "../../index.ts";
import type { Hub } from "../../index.ts";
import { accountLine } from "../views/account.ts";
import { reportError } from "../terminal/report.ts";
import { waysToLogIn } from "../terminal/login-ways.ts";
import { hanging, safe } from "../terminal/print.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { printLines } from "../terminal/live-area.ts";
import type { StatusBoard, StatusRow } from "../views/status/board.ts";
import { statusLines, summaryLine } from "../views/status/lines.ts";
import { stateLook } from "../views/status/words.ts";
import { noServersText } from "../views/server.ts";
import { spinWhile } from "../terminal/waiting.ts";

const actions = {
  connect: { label: "Connect", done: "connected" },
  disconnect: { label: "Disconnect", done: "disconnected; the next call connects it again" },
  login: { label: "Log in", done: "logged in" },
  logout: { label: "Log out", done: "logged out" },
  enable: { label: "Enable", done: "enabled for this run" },
  disable: { label: "Disable", done: "disabled for this run" },
} as const;

type Action = keyof typeof actions;

/** Shows the servers and does something with one of them, until the person has enough of it. */
export async function mcpScreen(
  hub: Hub,
  board: StatusBoard,
  words: readonly string[],
  terminal: Terminal,
  signal: AbortSignal,
): Promise<void> {
  const [action, server, ...rest] = words;
  if (action !== undefined) return doTyped(action, server, rest, hub, terminal, signal);
  const { ask } = terminal;
  for (;;) {
    const rows = board.rows();
    if (rows.length === 0) return terminal.out(noServersText);
    show(board, rows, terminal);
    if (!ask) return;
    const width = Math.max(...rows.map(({ name }) => safe(name).length));
    const choices = rows.map((row) => ({
      value: row.name,
      label: `${safe(row.name).padEnd(width)}  ${stateLook(row).word}`,
    }));
    const back = { value: "\0back", label: "Back to the conversation" };
    const chosen = await ask.choose(
      { message: "Which server?", choices: [...choices, back], initial: back.value },
      signal,
    );
    const row = rows.find(({ name }) => name === chosen);
    if (!row) return;
    const next = await ask.choose({ message: `${safe(row.name)}:`, choices: choicesFor(row, hub) }, signal);
    if (next === undefined || next === "back") continue;
    await perform(next as Action, row.name, hub, terminal, signal);
  }
}

function show(board: StatusBoard, rows: StatusRow[], terminal: Terminal): void {
  const entry = (name: string) => board.entry(name);
  const lines = statusLines({ rows, entry, width: terminal.columns - 1, now: Date.now() });
  terminal.out(`${printLines(lines, terminal)}\n${hanging(summaryLine(rows), 0, terminal)}\n`);
}

/** Only what makes sense in the server's state. */
function choicesFor(row: StatusRow, hub: Hub): { value: string; label: string }[] {
  const isRemote = hub.config.servers.get(row.name)?.config?.url !== undefined;
  const possible: Record<Action, boolean> = {
    connect: !isUp(row) && row.state !== "disabled",
    disconnect: isUp(row),
    login: isRemote && row.state !== "disabled",
    logout: isRemote && row.account !== undefined,
    enable: row.state === "disabled",
    disable: row.state !== "disabled",
  };
  const offered = (Object.keys(actions) as Action[]).filter((action) => possible[action]);
  return [
    ...offered.map((value) => ({ value, label: actions[value].label })),
    { value: "back", label: "Back" },
  ];
}

function isUp({ state }: Pick<StatusRow, "state">): boolean {
  return state === "connected" || state === "degraded" || state === "connecting";
}

/** `/mcp disable files` */
async function doTyped(
  action: string,
  server: string | undefined,
  rest: readonly string[],
  hub: Hub,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<void> {
  const isAction = Object.hasOwn(actions, action);
  if (!isAction || server === undefined || rest.length > 0)
    throw new PlugboardError("usage-invalid", `Unknown: /mcp ${action}`, {
      hint: `Usage: /mcp, or /mcp ${Object.keys(actions).join("|")} <server>`,
    });
  if (!hub.config.servers.has(server))
    throw new PlugboardError("server-unknown", `There is no server "${server}".`, { server });
  await perform(action as Action, server, hub, terminal, signal);
}

/** What fails is shown, and the screen goes on, unless the command was cancelled. */
async function perform(
  action: Action,
  server: string,
  hub: Hub,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<void> {
  try {
    const said = await run(action, server, hub, terminal, signal);
    terminal.out(`${safe(server)}: ${safe(said ?? actions[action].done)}.\n`);
  } catch (error) {
    signal.throwIfAborted();
    reportError(error, terminal, false);
  }
}

async function run(
  action: Action,
  server: string,
  hub: Hub,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<string | undefined> {
  switch (action) {
    case "connect":
      await spinWhile(
        terminal,
        () => ({ words: `connecting to ${server}` }),
        () => hub.connect(server, { signal }),
      );
      return undefined;
    case "disconnect":
      await hub.disconnect(server);
      return undefined;
    case "login": {
      const account = await hub.login(server, { ...waysToLogIn(server, {}, terminal), signal });
      // The screen shows what became of it.
      await hub.connect(server, { signal }).catch(() => undefined);
      return `logged in as ${accountLine(account, Date.now())}`;
    }
    case "logout":
      return (await hub.logout(server)).revoked
        ? undefined
        : "logged out here; the server could not be told to revoke the login";
    case "enable":
      hub.enable(server);
      return undefined;
    case "disable":
      await hub.disable(server);
      return undefined;
  }
}

/** A line about a server that works no more, or needs somebody. */
export function isTrouble({ state, disabledReason }: StatusRow): boolean {
  if (state === "disabled") return disabledReason !== "off" && disabledReason !== undefined;
  return !["connected", "connecting", "ready", "closed"].includes(state);
}
