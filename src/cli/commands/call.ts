import { resolve } from "node:path";
import { InvalidArgumentError } from "commander";
import type { Command } from "commander";
import { isPlugboardError } from "../../index.ts";
import type { CallResult, Hub } from "../../index.ts";
import { withCorrection } from "../arguments/mistakes.ts";
import { readArguments } from "../arguments/call-arguments.ts";
import { toolWord } from "../arguments/call-line.ts";
import { findTool } from "../find.ts";
import { json } from "../terminal/print.ts";
import { assertAccounts, profileOption } from "../arguments/profile.ts";
import type { ProfileOptions } from "../arguments/profile.ts";
import { saveMedia, showResult } from "../views/result.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { terminalAnswers } from "../terminal/answers.ts";
import { verb, withWorkspace } from "../verb.ts";
import { sayWhatWaits } from "../waiting-approvals.ts";
import { yieldingSpinner } from "../terminal/waiting.ts";
import type { Waiting } from "../terminal/waiting.ts";
import { loadForUse, withHub } from "../with-hub.ts";

interface CallVerbOptions extends ProfileOptions {
  timeout?: number;
  yes?: boolean;
  whole?: boolean;
  output?: string;
}

export function command(terminal: Terminal): Command {
  return verb(
    "call",
    "Call a tool and show its result. Values are converted to the types in the tool's schema. Running the command counts as approval, unless the configuration says to ask.",
    [
      "call files.read_file path=README.md",
      "call issues.search query='open bugs' labels=bug,urgent filter.since=2026-01-01",
      "call issues.create title='It broke' body=@report.md extra:='{\"a\": [1, 2]}'",
      'call files.write_file \'{"path": "a.txt", "content": "hello"}\'',
      "call files.write_file @arguments.json",
      "call files.write_file path=a.txt content=@result:r_abcdefghijklmnopqrst#/items/0/body",
      "call issues.search query=bugs --profile work",
      "make-arguments | plugboard call files.write_file - --json",
    ],
  )
    .argument("<tool>", "the tool's ID, server.tool, or its name if it is unique")
    .argument(
      "[arguments...]",
      "key=value, key:=json, key=@file or key=@result:handle; or a single '{json}', @file or -",
    )
    .option("--timeout <seconds>", "fail if the server is silent for this long", seconds)
    .option("-y, --yes", "approve the call even if the configuration says to ask")
    .option("--whole", "show the whole result, whatever its size")
    .option("--output <folder>", "save images and other files here (default: the current folder)")
    .addOption(profileOption())
    .action(async (query: string, words: string[], options: CallVerbOptions) =>
      withWorkspace(terminal, options, async (workspace) => {
        const config = await loadForUse(workspace);
        const { waiting, onAsking, spinWhile } = yieldingSpinner(query);
        // Arguments on standard input leave no way to type an answer.
        const offersLogin = !options.json && !words.includes("-");
        const isQueued = config.settings.approvals?.queue === true;
        const interact = terminalAnswers({
          terminal,
          yes: options.yes ?? false,
          isQueued,
          offersLogin,
          onAsking,
        });
        await withHub(
          terminal,
          { config, tolerant: true, interact, profile: options.profile },
          workspace,
          async (hub, signal) => {
            if (!interact.approve) sayWhatWaits(hub, terminal);
            const result = await spinWhile(terminal, () =>
              callTool(hub, query, words, { ...options, signal, waiting }, terminal),
            ).catch((error: unknown) => {
              if (isPlugboardError(error, "call-cancelled") && !error.endsTurn)
                terminal.err("Cancelled. The server was notified.\n");
              throw error;
            });
            const folder = resolve(terminal.cwd, options.output ?? ".");
            if (!options.json) return showResult(result, folder, terminal);
            if (options.output !== undefined) await saveMedia(result, folder, terminal);
            if (result.isError) terminal.exitCode = 1;
            terminal.out(json(result));
          },
        );
      }),
    );
}

async function callTool(
  hub: Hub,
  query: string,
  words: string[],
  options: CallVerbOptions & { signal: AbortSignal; waiting: Waiting },
  terminal: Terminal,
): Promise<CallResult> {
  const { signal, waiting, whole, timeout, profile } = options;
  const tool = await findTool(hub, query);
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
      approval: "approve",
      ...(timeout !== undefined && { timeoutMs: timeout * 1000 }),
      onProgress: ({ progress, total, message }) => {
        waiting.share = total === undefined || total <= 0 ? undefined : progress / total;
        if (message !== undefined) waiting.message = message;
      },
    });
  } catch (error) {
    throw withCorrection(error, tool, args);
  }
}

function seconds(text: string): number {
  const value = Number(text);
  if (text.trim() !== "" && value > 0 && value <= 86_400) return value;
  throw new InvalidArgumentError("It must be a number of seconds, at most one day.");
}
