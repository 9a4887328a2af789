import type { Command } from "commander";
import type { LogLine } from "../../config.ts";
import { wholeNumber } from "../arguments/whole-number.ts";
import { knownServer } from "../find.ts";
import { hanging, jsonLine, painter, safe } from "../terminal/print.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { verb, withWorkspace } from "../verb.ts";
import type { CommonOptions } from "../verb.ts";
import { logLineText } from "../views/log-line.ts";

interface LogsOptions extends CommonOptions {
  follow?: boolean;
  lines?: number;
}

const usualLines = 200;

export function command(terminal: Terminal): Command {
  return verb(
    "logs",
    "Show what a server wrote to stderr and logged in its last runs, and how they began and ended. Every command that uses servers records it, `plugboard serve` too; at most one megabyte of each server is kept, without secrets. --json prints JSON lines.",
    ["logs files", "logs files --follow", "logs files --lines 1000 --json"],
  )
    .argument("<server>", "the server")
    .option("-f, --follow", "go on with every new line until Ctrl-C")
    .option("-n, --lines <number>", `how many lines to show (default: ${usualLines})`, wholeNumber)
    .action(async (server: string, options: LogsOptions) =>
      withWorkspace(terminal, options, async (workspace) => {
        const entry = knownServer(await workspace.load(), server);
        const show = printer(options, terminal);
        const known = workspace.logs.read(entry, options.lines ?? usualLines);
        for (const line of known) show(line);
        if (!options.follow) {
          if (known.length === 0 && !options.json)
            terminal.err(`There are no logs of "${safe(server)}" yet.\n`);
          return;
        }
        using caught = terminal.catchSignals();
        await workspace.logs.follow(entry, show, caught.signal);
        caught.signal.throwIfAborted();
      }),
    );
}

/** A line for each new day, and one for each entry. */
function printer({ json }: LogsOptions, terminal: Terminal): (line: LogLine) => void {
  if (json) return (line) => terminal.out(jsonLine(line));
  const paint = painter(terminal);
  let day = "";
  return (line) => {
    const today = new Date(line.at).toDateString();
    if (today !== day) terminal.out(`${paint("bold", today)}\n`);
    day = today;
    terminal.out(logLineText(line, paint, undefined, (text, indent) => hanging(text, indent, terminal)));
  };
}
