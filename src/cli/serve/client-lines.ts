import { exportServers, formatById } from "../../config.ts";
import type { Format, Workspace } from "../../config.ts";
import type { ServerConfig } from "../../index.ts";
import { joinArgv } from "../../lib/argv.ts";

/** How one client is told about the gateway. */
export interface ClientLine {
  id: string;
  title: string;
  /** The file that the text belongs into; absent if it is a command to run. */
  file?: string;
  text: string;
  note?: string;
}

export interface Connection {
  url: string;
  /** The variable with the token; absent if none is needed. The token itself is in no line. */
  tokenVariable?: string | undefined;
  /** The command of a client that can only start programs. */
  stdio: readonly string[];
  /** Servers that only a Plugboard in this folder and with this environment has. */
  onlyHere: readonly string[];
}

const name = "plugboard";

/** The clients, in the order in which they are shown, and how they reach the gateway. */
const clients: Record<string, (connection: Connection) => ServerConfig> = {
  "claude-code": remote,
  "claude-desktop": ({ stdio: [command = "", ...args] }) => ({ command, args }),
  codex: remote,
  cursor: remote,
  // It does not expand variables of the environment in headers, but asks for values and keeps them.
  vscode: ({ url, tokenVariable }) => ({
    type: "http",
    url,
    ...(tokenVariable !== undefined && { headers: { Authorization: `Bearer \${secret:${tokenVariable}}` } }),
  }),
  opencode: remote,
  gemini: remote,
};

/** One line for each client, in the client's own notation. */
export async function clientLines(
  connection: Connection,
  machine: Workspace["machine"],
): Promise<ClientLine[]> {
  return Promise.all(
    Object.entries(clients).map(async ([id, toConfig]) => {
      const format = formatById(id);
      const server = { name, config: toConfig(connection) };
      const { title } = format;
      if (id === "claude-code") return { id, title, text: addJson(format, server.config) };
      const text =
        format.syntax === "toml"
          ? (await exportServers(format, [server])).text.trimEnd()
          : JSON.stringify(format.write?.([server]).value);
      const files = format.files(machine).filter(({ scope }) => scope === "user");
      const file = (files.find(({ main }) => main) ?? files[0])?.path;
      const isElsewhere = "command" in server.config && connection.onlyHere.length > 0;
      const note = `It starts a Plugboard of its own, without the servers that only this one has: ${connection.onlyHere.join(", ")}.`;
      return { id, title, text, ...(file !== undefined && { file }), ...(isElsewhere && { note }) };
    }),
  );
}

function remote({ url, tokenVariable }: Connection): ServerConfig {
  return { type: "http", url, ...(tokenVariable !== undefined && { bearerTokenEnv: tokenVariable }) };
}

function addJson(format: Format, config: ServerConfig): string {
  const { entry } = format.merging?.writeServer({ name, config }, {}) ?? {};
  return joinArgv(["claude", "mcp", "add-json", "--scope", "user", name, JSON.stringify(entry)]);
}
