import type { Command } from "commander";
import { PlugboardError, isPlugboardError } from "../../index.ts";
import type { Hub } from "../../index.ts";
import { shellWord } from "../../lib/argv.ts";
import { readArguments } from "../arguments/call-arguments.ts";
import { assertAccounts } from "../arguments/profile.ts";
import { timeoutOption } from "../arguments/timeout.ts";
import { takeServer } from "../find.ts";
import { serverVerb } from "../server-verb.ts";
import type { ServerOptions } from "../server-verb.ts";
import { terminalAnswers } from "../terminal/answers.ts";
import { json, painter, safe } from "../terminal/print.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { showStarts, yieldingSpinner } from "../terminal/waiting.ts";
import { withWorkspace } from "../verb.ts";
import { loadForUse, withHub } from "../with-hub.ts";

interface RequestVerbOptions extends ServerOptions {
  timeout?: number;
}

export function command(terminal: Terminal): Command {
  return serverVerb(
    "request",
    "Send any request of the protocol to a server and print its answer. The rules hold: tools are called with `plugboard call`, and pinned definitions stay pinned. Exits with 1 if the server answers with an error.",
    [
      "request files resources/list",
      "request files resources/read uri=file:///notes/today.md",
      'request issues completion/complete \'{"ref": {"type": "ref/prompt", "name": "summary"}, "argument": {"name": "since", "value": ""}}\'',
      "request --command 'npx -y @modelcontextprotocol/server-everything' prompts/list --trace",
    ],
  )
    .argument("<server>", "the server; left out with --command or --url")
    .argument("[method]", "the method, for example resources/list")
    .argument("[params...]", "key=value or key:=json; or a single '{json}', @file or -")
    .addOption(timeoutOption())
    .action(
      async (first: string, second: string | undefined, others: string[], options: RequestVerbOptions) =>
        withWorkspace(terminal, options, async (workspace) => {
          const config = await loadForUse(workspace, options);
          const { entry, rest } = takeServer(config, options, [first, second, ...others]);
          const { name: server } = entry;
          const [method, ...given] = rest;
          if (method === undefined)
            throw new PlugboardError("usage-invalid", `Name a method of ${server}.`, {
              hint: `For example: plugboard request ${shellWord(server)} resources/list`,
            });
          assertAccounts(entry, options.profile);
          const params = await readArguments(
            given,
            {},
            {
              cwd: terminal.cwd,
              readInput: () => terminal.readInput(),
              readResult: () => Promise.reject(noHandles()),
            },
          );
          const { waiting, onAsking, spinWhile } = yieldingSpinner(`${method} at ${server}`);
          const interact = terminalAnswers({ terminal, offersLogin: !options.json, onAsking });
          const { profile, timeout } = options;
          await withHub(
            terminal,
            { config, tolerant: true, interact, profile, insight: options },
            workspace,
            async (hub, signal) => {
              const asked = { server, signal, ...(timeout !== undefined && { timeoutMs: timeout * 1000 }) };
              showStarts(hub, waiting);
              await spinWhile(terminal, () => send(hub, method, params, asked, options, terminal));
            },
          );
        }),
    );
}

async function send(
  hub: Hub,
  method: string,
  params: Record<string, unknown>,
  asked: { server: string; signal: AbortSignal; timeoutMs?: number },
  { json: asJson }: RequestVerbOptions,
  terminal: Terminal,
): Promise<void> {
  const { server, signal } = asked;
  if (method.startsWith("notifications/")) {
    await hub.notify(server, method, params, { signal });
    return terminal.err(`Sent ${safe(method)} to ${safe(server)}; notifications have no answer.\n`);
  }
  const answer = await hub.request(method, params, { ...asked, fulfil: true }).catch((error: unknown) => {
    throw withCommand(error, method, server);
  });
  if ("error" in answer) terminal.exitCode = 1;
  if (asJson) return terminal.out(json(answer));
  if ("result" in answer) return terminal.out(json(answer.result));
  const { code, message, data } = answer.error;
  const paint = painter(terminal, "err");
  const [first = "", ...more] = message.trim().split(/\r?\n/);
  terminal.err(`${paint("red", "error:")} ${safe(`"${server}" answered with error ${code}: ${first}`)}\n`);
  for (const line of more) terminal.err(`       ${safe(line)}\n`);
  if (data !== undefined) terminal.err(json(data));
}

const commands: Readonly<Record<string, string | undefined>> = {
  "tools/call": "call",
  "tools/list": "tools",
  "prompts/list": "prompts",
  "resources/templates/list": "resources",
};

/** The library's hints name its functions; here the command is wanted that does the same under the rules. */
function withCommand(error: unknown, method: string, server: string): unknown {
  const instead = commands[method];
  if (!isPlugboardError(error, "usage-invalid") || instead === undefined) return error;
  const words = instead === "call" ? `call ${server}.<tool> key=value` : `${instead} ${shellWord(server)}`;
  return error.with({ hint: `Run \`plugboard ${words}\`, which follows the rules for this server.` });
}

function noHandles(): PlugboardError {
  return new PlugboardError("usage-invalid", "Results behind handles can be passed only to tools.", {
    hint: "Use `plugboard call`.",
  });
}
