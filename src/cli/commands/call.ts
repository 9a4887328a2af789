import { resolve } from "node:path";
import type { Command } from "commander";
import { PlugboardError, isPlugboardError } from "../../index.ts";
import type { Workspace } from "../../config.ts";
import type { CallResult, Hub, Interact } from "../../index.ts";
import { withCorrection } from "../arguments/mistakes.ts";
import { readArguments } from "../arguments/call-arguments.ts";
import { toolWord } from "../arguments/call-line.ts";
import { findTool, serverIn } from "../find.ts";
import { oneOffServer, repeatedOptions } from "../one-off.ts";
import { json } from "../terminal/print.ts";
import { assertAccounts } from "../arguments/profile.ts";
import { timeoutOption } from "../arguments/timeout.ts";
import { wholeNumber } from "../arguments/whole-number.ts";
import { reportOutput, saveMedia, showResult } from "../views/result.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { terminalAnswers } from "../terminal/answers.ts";
import { serverVerb } from "../server-verb.ts";
import type { ServerOptions } from "../server-verb.ts";
import { withWorkspace } from "../verb.ts";
import { sayWhatWaits } from "../waiting-approvals.ts";
import { showStarts, yieldingSpinner } from "../terminal/waiting.ts";
import type { Waiting } from "../terminal/waiting.ts";
import { loadForUse, withHub } from "../with-hub.ts";

interface CallVerbOptions extends ServerOptions {
  timeout?: number;
  yes?: boolean;
  whole?: boolean;
  maxTokens?: number;
  output?: string;
}

export function command(terminal: Terminal): Command {
  return (
    serverVerb(
      "call",
      "Call a tool and show its result. Values are converted to the types in the tool's schema. Running the command counts as approval, unless the configuration says to ask. On a terminal a large result is cut; a file or a pipe gets it whole, unless a limit is set.",
      [
        "call files.read_file path=README.md",
        "call files.read_text_file --path README.md --head 10",
        "call --command 'npx -y @modelcontextprotocol/server-everything' echo message=hello",
        "call --url https://issues.example/mcp search query=bugs",
        "call issues.search query='open bugs' labels=bug,urgent filter.since=2026-01-01",
        "call issues.create title='It broke' body=@report.md extra:='{\"a\": [1, 2]}'",
        'call files.write_file \'{"path": "a.txt", "content": "hello"}\'',
        "call files.write_file @arguments.json",
        "call files.write_file path=a.txt content=@result:r_abcdefghijklmnopqrst#/items/0/body",
        "call issues.search query=bugs --profile work",
        "call files.write_file - --json < arguments.json",
      ],
    )
      .argument("<tool>", "the tool's ID, server.tool, or its name if it is unique")
      .argument(
        "[arguments...]",
        "key=value, --key value, key:=json, key=@file or key=@result:handle; or a single '{json}', @file or -",
      )
      .addOption(timeoutOption())
      .option("-y, --yes", "approve the call even if the configuration says to ask")
      .option("--whole", "show the whole result, whatever its size and the limits")
      .option(
        "--max-tokens <number>",
        "cut the result to about this many tokens, also in a pipe",
        wholeNumber,
      )
      .option("--output <folder>", "save images and other files here (default: the current folder)")
      // What is no option of ours may be a parameter of the tool.
      .allowUnknownOption()
      .action(async (query: string, words: string[], options: CallVerbOptions) =>
        withWorkspace(terminal, options, async (workspace) => {
          assertToolFirst(query);
          await assertNoParameter(query, options, workspace);
          const config = await loadForUse(workspace, options);
          const { waiting, onAsking, spinWhile } = yieldingSpinner(query);
          // Arguments on standard input leave no way to type an answer.
          const offersLogin = !options.json && !words.includes("-");
          const isQueued = config.settings.approvals?.queue === true;
          const said: { answer?: "no" | "cancel" } = {};
          const answers = terminalAnswers({
            terminal,
            yes: options.yes ?? false,
            isQueued,
            offersLogin,
            onAsking,
          });
          const interact = terminal.ask ? withAnswer(answers, said) : answers;
          await withHub(
            terminal,
            { config, tolerant: true, interact, profile: options.profile, insight: options },
            workspace,
            async (hub, signal) => {
              if (!interact.approve) sayWhatWaits(hub, terminal);
              showStarts(hub, waiting);
              const result = await spinWhile(
                terminal,
                () => callTool(hub, query, words, { ...options, signal, waiting }, terminal),
                signal,
              ).catch((error: unknown) => {
                if (isPlugboardError(error, "call-cancelled") && !error.endsTurn)
                  terminal.err("Cancelled. The server was notified.\n");
                throw forPerson(error, said);
              });
              const folder = resolve(terminal.cwd, options.output ?? ".");
              if (!options.json) return showResult(result, folder, terminal);
              if (options.output !== undefined) await saveMedia(result, folder, terminal);
              if (result.isError) terminal.exitCode = 1;
              const text = json(result);
              terminal.out(text);
              if (!terminal.isScreen) reportOutput(result, Buffer.byteLength(text), terminal);
            },
          );
        }),
      )
  );
}

/** Notes what the person at the terminal answered. */
function withAnswer(answers: Interact, said: { answer?: "no" | "cancel" }): Interact {
  const { approve } = answers;
  if (!approve) return answers;
  return {
    ...answers,
    approve: async (question, signal) => {
      const given = await approve(question, signal);
      if (given.decision !== "allow") said.answer = given.decision === "deny" ? "no" : "cancel";
      return given;
    },
  };
}

/** The errors of refused calls are written for agents. The person who refused it knows why. */
function forPerson(error: unknown, { answer }: { answer?: "no" | "cancel" }): unknown {
  if (!isPlugboardError(error) || answer === undefined) return error;
  const { code, server, tool, executed, data } = error;
  const about = { server, tool, executed, data, cause: error };
  if (answer === "no" && code === "approval-denied")
    return new PlugboardError(code, `${tool ?? "The tool"} was not called: you answered No.`, {
      ...about,
      hint: "To skip the question, add --yes.",
    });
  if (answer === "cancel" && error.endsTurn)
    return new PlugboardError(code, "Cancelled. The tool was not called.", { ...about, hint: "" });
  return error;
}

function assertToolFirst(query: string): void {
  if (!query.startsWith("-")) return;
  const [flag] = query.split("=");
  throw new PlugboardError("usage-invalid", `Unknown option ${flag}.`, {
    hint: "Options of `plugboard call` are listed by --help. Parameters of a tool come after its name.",
  });
}

/** Many tools have a parameter called url. Whoever means that one must not connect to what it says. */
async function assertNoParameter(
  query: string,
  options: CallVerbOptions,
  workspace: Workspace,
): Promise<void> {
  if (!oneOffServer(options)) return;
  const config = await workspace.load().catch(() => undefined);
  const server = config && serverIn(query, { config });
  if (server === undefined) return;
  const flag = options.url === undefined ? "command" : "url";
  const message = `--${flag} names a server that is not configured, but ${query} is a tool of the configured server "${server}".`;
  throw new PlugboardError("usage-invalid", message, {
    server,
    hint: `To pass a parameter of the tool, write ${flag}=<value>.`,
  });
}

async function callTool(
  hub: Hub,
  query: string,
  words: string[],
  options: CallVerbOptions & { signal: AbortSignal; waiting: Waiting },
  terminal: Terminal,
): Promise<CallResult> {
  const { signal, waiting, timeout, profile, maxTokens } = options;
  // A person and a model can read only so much; a program gets what it asked for.
  const isForProgram = !terminal.isScreen || options.json;
  const whole = options.whole ?? (isForProgram ? "unless-limited" : false);
  const tool = await findTool(hub, query, words);
  assertAccounts(hub.config.servers.get(tool.server), profile);
  waiting.words = toolWord(tool);
  const args = await readArguments(words, tool.inputSchema, {
    cwd: terminal.cwd,
    readInput: () => terminal.readInput(),
    readResult: (handle, selection) => hub.resultValue(handle, selection),
  });
  try {
    return await hub.callTool(tool.id, args, {
      signal,
      whole,
      maxTokens,
      approval: "approve",
      ...(timeout !== undefined && { timeoutMs: timeout * 1000 }),
      onProgress: ({ progress, total, message }) => {
        waiting.share = total === undefined || total <= 0 ? undefined : progress / total;
        if (message !== undefined) waiting.message = message;
      },
    });
  } catch (error) {
    if (timeout !== undefined && isPlugboardError(error, "call-timeout"))
      throw error.with({ hint: "Allow more time with --timeout." });
    throw withCorrection(error, tool, { args, words, options: repeatedOptions(options) });
  }
}
