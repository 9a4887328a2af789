import { CommanderError } from "commander";
import type { Command } from "commander";
import { errorTable } from "../host.ts";
import { PlugboardError, isPlugboardError } from "../index.ts";
import { joinArgv } from "../lib/argv.ts";
import { asSentence } from "../lib/sentence.ts";
import { nearest } from "../lib/suggest.ts";
import { version } from "../lib/version.ts";

import { helpItem, helpText } from "./terminal/help.ts";
import { hanging, painter } from "./terminal/print.ts";
import { reportError } from "./terminal/report.ts";
import { configOf } from "./terminal/same-config.ts";
import { Interrupted } from "./terminal/signals.ts";
import { processTerminal } from "./terminal/terminal.ts";
import type { Terminal } from "./terminal/terminal.ts";
import { verbs } from "./verbs.ts";
import type { VerbEntry } from "./verbs.ts";

export async function main(argv: string[]): Promise<void> {
  process.stdout.on("error", ignoreClosedPipe);
  process.stderr.on("error", ignoreClosedPipe);
  const terminal = processTerminal();
  process.exitCode = await runCli(argv, terminal);
  // After an interrupt, do not wait for a server that never responds. Everything is saved by now.
  if (process.exitCode > 128) process.exit();
  const { exitBy } = terminal;
  // Not waited for: a process with nothing left to do ends at once.
  if (exitBy !== undefined)
    setTimeout(() => void exitWhenWritten(), Math.max(0, exitBy - performance.now())).unref();
}

async function exitWhenWritten(): Promise<void> {
  const streams = [process.stdout, process.stderr];
  await Promise.all(streams.map((stream) => new Promise((resolve) => stream.write("", resolve))));
  process.exit();
}

/** `plugboard list | head` is not an error. */
function ignoreClosedPipe(error: NodeJS.ErrnoException): void {
  if (error.code !== "EPIPE") throw error;
}

/** Runs one command line and returns the exit code. Never throws. */
export async function runCli(argv: readonly string[], terminal: Terminal): Promise<number> {
  const [name, ...rest] = withOptionsLast(argv);
  const asJson = argv.includes("--json");
  try {
    if (name === undefined || name === "--help" || name === "-h" || name === "help")
      return await help(rest[0], terminal);
    const entry = verbs.find((one) => one.name === name || one.alias === name);
    if (!entry) throw name.startsWith("-") ? optionFirst(name, rest) : unknownVerb(name);
    return await runVerb(entry.name, rest, terminal);
  } catch (error) {
    if (error instanceof Interrupted) {
      if (error.note !== undefined) terminal.err(`${error.note}\n`);
      return error.exitCode;
    }
    if (error instanceof CommanderError) return commanderExit(error, name, terminal, asJson);
    return reportError(withVerb(error, name), terminal, asJson, configOf(argv));
  }
}

/** Names the command in the general hint about wrong usage. */
function withVerb(error: unknown, name: string | undefined): unknown {
  const isGeneral =
    isPlugboardError(error, "usage-invalid") && error.hint === errorTable["usage-invalid"].hint;
  if (!isGeneral || !verbs.some((one) => one.name === name || one.alias === name)) return error;
  return error.with({ hint: `Run \`plugboard ${name} --help\` to see its options.` });
}

async function runVerb(name: string, args: string[], terminal: Terminal): Promise<number> {
  const { command } = (await verbs.find((one) => one.name === name)?.load()) ?? {};
  if (!command) throw unknownVerb(name);
  const configured = command(terminal);
  assertSubcommand(configured, args);
  configured.name(`plugboard ${name}`);
  for (const one of [configured, ...configured.commands]) {
    one
      .exitOverride()
      .helpOption("-h, --help", "show this help")
      .configureHelp({ formatItem: helpItem, minWidthToWrap: 20 })
      .configureOutput({
        writeOut: (text) => terminal.out(terminal.isScreen ? helpText(text, terminal.columns) : text),
        writeErr: () => undefined,
        getOutHelpWidth: () => Math.min(terminal.columns - 1, 100),
      });
  }
  try {
    await configured.parseAsync(withPlainTrace(args), { from: "user" });
  } catch (error) {
    // Thrown without a subcommand; the help itself went to `writeErr`.
    if (!(error instanceof CommanderError) || error.code !== "commander.help") throw error;
    const names = configured.commands.map((one) => one.name()).join(", ");
    throw new PlugboardError("usage-invalid", `\`plugboard ${name}\` needs one of: ${names}.`, {
      hint: `Run \`plugboard ${name} --help\` to see what they do.`,
    });
  }
  return terminal.exitCode;
}

/** `plugboard --config f list` means `plugboard list --config f`. */
function withOptionsLast(argv: readonly string[]): string[] {
  const [first = "", second, ...others] = argv;
  if (second === undefined) return [...argv];
  const isPair = first === "--config";
  if (!isPair && first !== "--json" && !first.startsWith("--config=")) return [...argv];
  const rest = withOptionsLast(isPair ? others : [second, ...others]);
  const end = rest.indexOf("--");
  return rest.toSpliced(end === -1 ? rest.length : end, 0, ...(isPair ? [first, second] : [first]));
}

/** A verb that works alone and has subcommands takes no other words. */
function assertSubcommand(configured: Command, [word = ""]: readonly string[]): void {
  const names = configured.commands.map((one) => one.name());
  if (names.length === 0 || configured.registeredArguments.length > 0) return;
  if (word === "" || word.startsWith("-") || word === "help" || names.includes(word)) return;
  const near = nearest(word, names);
  const line = `plugboard ${configured.name()}`;
  throw new PlugboardError("usage-invalid", `Unknown command: ${configured.name()} ${word}`, {
    hint: near ? `Did you mean \`${line} ${near}\`?` : `Run \`${line} --help\` to see the commands.`,
  });
}

/** `--trace` takes a value only after `=`: a word that follows it belongs to the command. */
function withPlainTrace(args: readonly string[]): string[] {
  const end = args.indexOf("--");
  return args.map((word, at) => (word === "--trace" && (end === -1 || at < end) ? "--trace=text" : word));
}

function commanderExit(error: CommanderError, verb = "", terminal: Terminal, asJson: boolean): number {
  if (error.exitCode === 0) return 0;
  // Commander adds a suggestion in a second line, in parentheses.
  const [first = "", suggestion] = error.message.split("\n");
  const message = first
    .replace(/^error: /, "")
    .replace("--trace=text", "--trace")
    .replace(/^\w/, (letter) => letter.toUpperCase());
  const [, value, choices] =
    /^Command-argument value '(.*)' is invalid for argument '.*'\. Allowed choices are (.*)\.$/s.exec(
      message,
    ) ?? [];
  const isOption = error.code === "commander.unknownOption" && verb === "add";
  const general = isOption
    ? `Run \`plugboard ${verb} --help\`. Put a server's command and its options after \`--\`.`
    : `Run \`plugboard ${verb} --help\`.`;
  const hint = suggestion?.replace(/^\((.*)\)$/, "$1") ?? general;
  if (value !== undefined && choices !== undefined) {
    // `words` is for the completion scripts only.
    const names = choices.split(", ").filter((one) => verb !== "completion" || one !== "words");
    const use = [names.slice(0, -1).join(", "), names.at(-1)].filter(Boolean).join(" or ");
    const unsupported = `"${value}" is not supported. Use ${use}.`;
    return reportError(new PlugboardError("usage-invalid", unsupported, { hint }), terminal, asJson);
  }
  const sentence = asSentence(message);
  return reportError(new PlugboardError("usage-invalid", sentence, { hint }), terminal, asJson);
}

/** What other tools call our commands. */
const otherWords = new Map([
  ["delete", "remove"],
  ["uninstall", "remove"],
  ["install", "add"],
  ["show", "get"],
  ["describe", "get"],
  ["run", "call"],
  ["exec", "call"],
  ["auth", "login"],
  ["server", "list"],
  ["servers", "list"],
  ["start", "serve"],
  ["ps", "status"],
]);

function unknownVerb(name: string): PlugboardError {
  const near =
    otherWords.get(name) ??
    nearest(
      name,
      verbs.map((one) => one.name),
    );
  return new PlugboardError("usage-invalid", `Unknown command: ${name}`, {
    hint: near ? `Did you mean \`plugboard ${near}\`?` : "Run `plugboard --help` to see the commands.",
  });
}

function optionFirst(option: string, rest: readonly string[]): PlugboardError {
  const verb = rest.find((word) => verbs.some((one) => one.name === word || one.alias === word));
  const near = nearest(option, ["--help", "--version"]);
  const others = rest.filter((word) => word !== verb);
  return new PlugboardError("usage-invalid", `Unknown option: ${option}`, {
    hint:
      near !== undefined
        ? `Did you mean \`plugboard ${near}\`?`
        : verb === undefined
          ? "Run `plugboard --help` to see the commands."
          : `Options follow the command: \`${joinArgv(["plugboard", verb, option, ...others])}\``,
  });
}

async function help(about: string | undefined, terminal: Terminal): Promise<number> {
  if (about !== undefined && !about.startsWith("-")) return runCli([about, "--help"], terminal);
  const paint = painter(terminal);
  const shown = ({ name, alias }: VerbEntry) => (alias === undefined ? name : `${name}, ${alias}`);
  const width = Math.max(...verbs.map((one) => shown(one).length)) + 2;
  const groups = [...new Set(verbs.map(({ group }) => group))].map((group) => {
    const lines = verbs
      .filter((one) => one.group === group)
      .map(
        (one) => `  ${paint("cyan", shown(one).padEnd(width))}${hanging(one.summary, width + 2, terminal)}`,
      );
    return `${paint("bold", group)}\n${lines.join("\n")}\n`;
  });
  const prose = (text: string) => hanging(text, 0, terminal);
  const title = `plugboard ${version} — MCP servers for agents: configure once, use everywhere`;
  terminal.out(`${prose(title)}\n\n`);
  terminal.out(`Usage: plugboard <command> [options]\n\n${groups.join("\n")}\n`);
  terminal.out(`${prose("Every command supports --help (with examples), --json and --config <path>.")}\n`);
  terminal.out("New here? Try:  plugboard add files -- npx -y @modelcontextprotocol/server-filesystem .\n");
  return 0;
}
