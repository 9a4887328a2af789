import type { Command } from "commander";
import { formatById } from "../../config.ts";
import { addToClients } from "../client/add-client.ts";
import type { AddOptions } from "../client/add-client.ts";
import { checkClient } from "../client/check.ts";
import type { ChangeOptions } from "../client/consent.ts";
import { foundClients, readClient } from "../client/found.ts";
import { removeFromClients } from "../client/remove-client.ts";
import { json, sentence } from "../terminal/print.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { clientScopeOption, collect, verb, withWorkspace } from "../verb.ts";
import type { CommonOptions } from "../verb.ts";
import { checkJson, checkView, clientsView } from "../views/wiring.ts";

export function command(terminal: Terminal): Command {
  return (
    verb(
      "client",
      "Connect other clients to Plugboard's gateway, in their own files. Without a subcommand, lists the clients on this machine and whether they are connected.",
      ["client", "client add claude-code codex", "client check", "client remove codex"],
    )
      // Options after a subcommand are its own.
      .enablePositionalOptions()
      .action((options: CommonOptions) => list(options, terminal))
      .addCommand(addCommand(terminal))
      .addCommand(removeCommand(terminal))
      .addCommand(checkCommand(terminal))
  );
}

function withConsent(command: Command): Command {
  return command
    .addOption(clientScopeOption("the client's file for you, or for this project (default: user)"))
    .option("-n, --dry-run", "only show what would change")
    .option("-y, --yes", "write without asking; required without a terminal");
}

function addCommand(terminal: Terminal): Command {
  const added = verb(
    "add",
    "Write an entry into a client's own file that starts Plugboard's gateway over stdio. Shows the change and asks. Everything else in the file stays, and `client remove` gives it back as it was. No token is ever written.",
    [
      "client add codex",
      "client add claude-code --bundle reading",
      "client add cursor --http",
      "client add gemini --server files --server issues",
    ],
  )
    .argument("<clients...>", "the clients, for example codex")
    .option("--bundle <name>", "the gateway offers only this bundle")
    .option("--server <name>", "write this server itself instead of the gateway (repeatable)", collect)
    .option(
      "--http [url]",
      "connect to a running `plugboard serve`, with the token from PLUGBOARD_TOKEN (default: where it usually is)",
    );
  return withConsent(added).action(async (clients: string[], options: AddOptions) =>
    withWorkspace(terminal, options, (workspace) => addToClients(clients, options, workspace, terminal)),
  );
}

function removeCommand(terminal: Terminal): Command {
  const removed = verb(
    "remove",
    "Take Plugboard's entries out of a client's own file. The file becomes what it was before, byte for byte; if it changed since, only the entries go.",
    ["client remove codex", "client remove claude-code cursor --yes"],
  )
    .argument("<clients...>", "the clients, for example codex")
    .option("--server <name>", "only this entry (repeatable)", collect);
  return withConsent(removed).action(async (clients: string[], options: ChangeOptions) =>
    withWorkspace(terminal, options, (workspace) => removeFromClients(clients, options, workspace, terminal)),
  );
}

function checkCommand(terminal: Terminal): Command {
  return verb(
    "check",
    "Tell whether clients lead to a gateway that can be reached, and ask the client's own command where it has one (`claude mcp get`, `codex mcp get`, `gemini mcp list`, …). Exits with 1 if something is wrong.",
    ["client check", "client check codex --no-ask"],
  )
    .argument("[clients...]", "the clients to check (default: all that are wired)")
    .addOption(clientScopeOption("the client's file for you, or for this project (default: user)"))
    .option("--no-ask", "do not run the client's own command")
    .action(
      async (clients: string[], options: CommonOptions & { scope?: "user" | "project"; ask: boolean }) =>
        withWorkspace(terminal, options, async (workspace) => {
          using caught = terminal.catchSignals();
          const { signal } = caught;
          const config = await workspace.load({ allowMissing: true });
          const scope = options.scope ?? "user";
          const found =
            clients.length > 0
              ? await Promise.all(clients.map((id) => readClient(formatById(id), scope, workspace)))
              : (await foundClients(workspace)).filter(({ state }) => state === "wired" || state === "off");
          const checked = await Promise.all(
            found.map((client) =>
              checkClient(client, { workspace, config, terminal, signal, asks: options.ask }),
            ),
          );
          if (checked.some(({ problems }) => problems.length > 0)) terminal.exitCode = 1;
          if (options.json) return terminal.out(json({ clients: checked.map(checkJson) }));
          if (checked.length === 0)
            terminal.out(sentence("No client is wired. Run `plugboard client add <client>`.", terminal));
          terminal.out(checked.map((one) => checkView(one, terminal)).join("\n"));
        }),
    );
}

async function list(options: CommonOptions, terminal: Terminal): Promise<void> {
  await withWorkspace(terminal, options, async (workspace) => {
    const clients = await foundClients(workspace);
    if (options.json) {
      const shown = clients.map(({ format, scope, file, exists, state, entries, problem }) => ({
        client: format.id,
        title: format.title,
        scope,
        file,
        exists,
        state,
        entries,
        problem,
      }));
      return terminal.out(json({ clients: shown }));
    }
    if (clients.length === 0) return terminal.out("No other client was found on this machine.\n");
    terminal.out(clientsView(clients, terminal));
    if (clients.some(({ state }) => state === "not wired"))
      terminal.out("\nRun `plugboard client add <client>` to connect one to the gateway.\n");
  });
}
