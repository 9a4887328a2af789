import type { Command, Option } from "commander";

/** What is typed after a verb, up to the cursor. */
export interface TypedLine {
  /** The verb or its subcommand. */
  command: Command;
  /** Everything before the cursor that is neither an option of the command nor the value of one. */
  words: string[];
  /** The values of the options that were given, by their long names. */
  options: Map<string, string>;
  /** The word at the cursor, without `start`. */
  last: string;
  /** `--scope=` if a value is typed right after it. */
  start: string;
  /** The option whose value is typed. */
  option?: Option | undefined;
  /** True after `--`: nothing more is an option. */
  isPlain: boolean;
}

export function readLine(verb: Command, typed: readonly string[]): TypedLine {
  const sub = typed.length > 1 ? verb.commands.find((one) => one.name() === typed[0]) : undefined;
  const command = sub ?? verb;
  const before = typed.slice(sub ? 1 : 0, -1);
  const last = typed.at(-1) ?? "";
  const words: string[] = [];
  const options = new Map<string, string>();
  let option: Option | undefined;
  let isPlain = false;
  for (const word of before) {
    if (option) {
      options.set(option.long ?? "", word);
      option = undefined;
    } else if (isPlain) words.push(word);
    else if (word === "--") isPlain = true;
    else {
      const { found, value } = findOption(command, word);
      if (!found) words.push(word);
      else if (value === undefined && found.required) option = found;
      else options.set(found.long ?? "", value ?? "");
    }
  }
  const line = { command, words, options, isPlain };
  if (option) return { ...line, last, start: "", option };
  const { found, value } = isPlain ? {} : findOption(command, last);
  if (!found || value === undefined) return { ...line, last, start: "" };
  return { ...line, last: value, start: last.slice(0, last.length - value.length), option: found };
}

function findOption(command: Command, word: string): { found?: Option | undefined; value?: string } {
  const [, name = word, value] = /^(--[^=]+)=([\s\S]*)$/.exec(word) ?? [];
  const found = command.options.find(({ long, short }) => name === long || name === short);
  return { found, ...(value !== undefined && { value }) };
}
