import type { Command } from "commander";
import { printable } from "../../lib/printable.ts";
import type { Terminal } from "../terminal/terminal.ts";
import type { CommonOptions } from "../verb.ts";
import { verbs } from "../verbs.ts";
import { readLine } from "./line.ts";
import type { TypedLine } from "./line.ts";
import { nameCandidates } from "./names.ts";

/** More than anybody reads; a shell would ask before it shows them. */
const mostCandidates = 1_000;
const mostCharacters = 1_000;

/** Everything that can stand in place of the last word, which may be empty. */
export async function completionCandidates(
  words: readonly string[],
  common: CommonOptions,
  terminal: Terminal,
): Promise<string[]> {
  const [name = "", ...rest] = words;
  const all = rest.length === 0 ? firstWords() : await laterWords([name, ...rest], common, terminal);
  const last = words.at(-1) ?? "";
  const fitting = all.filter((word) => word !== "" && word.startsWith(last) && canBeTyped(word));
  return [...new Set(fitting)].slice(0, mostCandidates);
}

function firstWords(): string[] {
  const names = verbs.flatMap(({ name, alias }) => [name, ...(alias === undefined ? [] : [alias])]);
  return [...names, "help", "--help", "--version"];
}

async function laterWords(
  [name, ...rest]: readonly string[],
  common: CommonOptions,
  terminal: Terminal,
): Promise<string[]> {
  if (name === "help") return rest.length === 1 ? verbs.map((one) => one.name) : [];
  const entry = verbs.find((one) => one.name === name || one.alias === name);
  if (!entry) return [];
  const configured = (await entry.load()).command(terminal);
  const line = readLine(configured, rest);
  const { command, option, start, last, words } = line;
  if (option?.argChoices) return option.argChoices.map((choice) => start + choice);
  if (option?.long === "--trace") return [`${start}json`];
  const isSub = command !== configured;
  const path = isSub ? `${entry.name} ${command.name()}` : entry.name;
  const names = () => nameCandidates(path, line, common, terminal);
  if (option) return (await names()).map((value) => start + value);
  if (last.startsWith("-") && !line.isPlain) {
    const own = ownOptions(line);
    // Our options come first, also if a tool has a parameter of that name.
    return entry.name === "call" && words.length > 0 ? [...own, ...(await names())] : own;
  }
  if (!isSub && rest.length === 1 && configured.commands.length > 0)
    return configured.commands.map((one) => one.name());
  return argumentChoices(command, words.length) ?? names();
}

function ownOptions({ command }: TypedLine): string[] {
  const names = command.options.flatMap(({ long, hidden }) => (long && !hidden ? [long] : []));
  return [...names, ...names.filter((name) => name === "--trace").map((name) => `${name}=`), "--help"];
}

function argumentChoices(command: Command, at: number): string[] | undefined {
  return command.registeredArguments[at]?.argChoices?.filter((choice) => choice !== "words");
}

/** Names come from files and servers. What a terminal must not show could not be typed, and `~` would be expanded. */
function canBeTyped(word: string): boolean {
  return (
    word.length <= mostCharacters && !word.startsWith("~") && printable(word, { oneLine: true }) === word
  );
}
