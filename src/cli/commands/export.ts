import type { Command } from "commander";
import { PlugboardError, exportServers, formatById, formats } from "../../index.ts";
import { shellWord } from "../../lib/argv.ts";
import { json, safe } from "../terminal/print.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { collect, verb, withWorkspace } from "../verb.ts";
import type { CommonOptions } from "../verb.ts";

interface ExportOptions extends CommonOptions {
  server?: string[];
}

export function command(terminal: Terminal): Command {
  const writable = formats.filter(({ write }) => write).map(({ id }) => id);
  return verb(
    "export",
    "Print the servers in another client's format. Reports on stderr what that format cannot express.",
    ["export codex >> ~/.codex/config.toml", "export vscode --server files > .vscode/mcp.json"],
  )
    .argument("<client>", `one of ${writable.join(", ")}`)
    .option("--server <name>", "only this server (repeatable)", collect)
    .action(async (client: string, options: ExportOptions) =>
      withWorkspace(terminal, options, async (workspace) => {
        const format = formatById(client);
        const config = await workspace.load();
        const chosen = options.server
          ? options.server.map((name) => workspace.require(config, name))
          : [...config.servers.values()];
        const usable = chosen.flatMap(({ name, config: server, status }) => {
          const isOurs =
            status.kind === "ready" || status.reason === "config" || status.reason === "missing-value";
          return server && isOurs ? [{ name, config: server }] : [];
        });
        if (usable.length === 0) throw new PlugboardError("server-unknown", "No server to export.");
        const { text, notes } = await exportServers(format, usable);
        const left = chosen
          .filter(({ name }) => !usable.some((server) => server.name === name))
          .map(({ name }) => name);
        if (options.json) return terminal.out(json({ client: format.id, text, notes, left }));
        terminal.out(text);
        for (const { server, kind, field, message } of notes)
          terminal.err(`${safe(server)}: ${kind}: ${safe(field)}: ${safe(message)}\n`);
        for (const name of left)
          terminal.err(
            `${safe(name)}: skipped because it cannot be used (plugboard explain ${safe(shellWord(name))})\n`,
          );
      }),
    );
}
