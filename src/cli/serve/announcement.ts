import { serverState } from "../../host.ts";
import type { ServerReport } from "../../index.ts";
import { shellWord } from "../../lib/argv.ts";
import { count, hanging, painter, safe } from "../terminal/print.ts";
import type { Terminal } from "../terminal/terminal.ts";
import type { ClientLine } from "./client-lines.ts";
import { usualPort } from "./settings.ts";

export interface Announcement {
  url: string;
  servers: readonly ServerReport[];
  isDemo: boolean;
  /** Absent without authentication. */
  token?: { value: string; file?: string | undefined; isNew: boolean } | undefined;
  /** The key of those who approve calls over HTTP; absent if no call waits for approval. */
  approval?: { key: string; file?: string | undefined; isNew: boolean } | undefined;
  clients: readonly ClientLine[];
  home: string;
}

/** What a person reads when the gateway has started: where it is, what it serves and how to connect. */
export function announcement(about: Announcement, terminal: Terminal): string {
  const paint = painter(terminal);
  const { servers, clients, home } = about;
  const tilde = (path: string) => (path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path);
  const what = about.isDemo ? "a demo" : howMany(servers);
  const lines = [
    `Plugboard serves ${what} at ${paint("bold", safe(about.url))}`,
    ...(about.isDemo
      ? ["No server is configured yet: `plugboard add` and `plugboard import` add some."]
      : []),
    "",
    ...servers.flatMap((server) => serverLines(server, servers, terminal)),
    "",
    ...tokenLines(about, terminal, tilde),
    "",
    ...approvalLines(about, terminal, tilde),
    `To connect a client, run \`${addLine(about.url)}\`.`,
    "By hand, run the command or add the text to the file:",
    ...clients.flatMap(({ title, file, text, note }) => [
      "",
      `${paint("bold", title)}${file === undefined ? "" : `  ${paint("dim", safe(tilde(file)))}`}`,
      ...(note === undefined ? [] : [paint("dim", hanging(note, 0, terminal))]),
      ...text.split("\n").map((line) => safe(line)),
    ]),
    "",
    ...(terminal.isScreen ? ["Press Ctrl-C to stop.", ""] : []),
  ];
  return `${lines.join("\n")}\n`;
}

/** With the URL, unless that is where a client looks for the gateway anyway. */
function addLine(url: string): string {
  const isUsual = url === `http://127.0.0.1:${usualPort}/mcp`;
  const line = "plugboard client add <client> --http";
  return isUsual ? line : `${line} ${shellWord(safe(url))}`;
}

function howMany(servers: readonly ServerReport[]): string {
  const usable = servers.filter(({ state }) => state !== "disabled").length;
  const all = count(servers.length, "server");
  return usable === servers.length ? all : `${usable} of ${all}`;
}

function serverLines(server: ServerReport, all: readonly ServerReport[], terminal: Terminal): string[] {
  const { name, state, message, hint } = server;
  const paint = painter(terminal);
  const width = Math.min(24, Math.max(...all.map((one) => safe(one.name).length)));
  const head = `  ${safe(name).padEnd(width)}  `;
  if (state !== "disabled") return [`${head}${paint("dim", "starting")}`];
  const word = serverState(server);
  if (word === "off") return [`${head}${paint("dim", word)}`];
  const why = `${word}: ${safe(message ?? "")}. ${safe(hint ?? "")}`;
  return [head + hanging(why, width + 4, terminal)];
}

/** The token itself is shown to a person only: a log or a file that others read must not have it. */
function tokenLines({ token }: Announcement, terminal: Terminal, tilde: (path: string) => string): string[] {
  if (!token)
    return ["Every program on this machine can use these servers: no token is needed (auth: none)."];
  const { value, file, isNew } = token;
  if (file === undefined) return ["Clients need the token from PLUGBOARD_TOKEN, as this process has it."];
  const age = isNew ? "this token" : "the token";
  const shown = terminal.isScreen ? [`  ${value}`] : [];
  return [
    `Clients need ${age} from ${safe(tilde(file))}:`,
    ...shown,
    `  export PLUGBOARD_TOKEN="$(cat ${shellWord(safe(file))})"`,
  ];
}

/** The key is shown like the token; clients must not get it. */
function approvalLines(
  { approval }: Announcement,
  terminal: Terminal,
  tilde: (path: string) => string,
): string[] {
  if (!approval) return [];
  const { key, file } = approval;
  const from = file === undefined ? "from PLUGBOARD_APPROVAL_KEY" : `in ${safe(tilde(file))}`;
  return [
    "Calls that need approval wait: `plugboard approvals` lists and answers them.",
    `Over HTTP that needs the key ${from}, which clients must not get${terminal.isScreen && file !== undefined ? ":" : "."}`,
    ...(terminal.isScreen && file !== undefined ? [`  ${key}`] : []),
    "",
  ];
}
