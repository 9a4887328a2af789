import type { Command } from "commander";
import { Argument, Option } from "commander";
import { readBashLine } from "../completion/bash-line.ts";
import { completionCandidates } from "../completion/candidates.ts";
import { completionScripts } from "../completion/scripts.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { verb } from "../verb.ts";
import type { CommonOptions } from "../verb.ts";

interface CompletionOptions extends CommonOptions {
  bash?: boolean;
}

export function command(terminal: Terminal): Command {
  return verb(
    "completion",
    "Print a shell script that completes commands, options, servers, tools, prompts, resources, and the arguments of tools with their values. Completing starts no server.",
    [
      'completion bash >> ~/.bashrc        # or: eval "$(plugboard completion bash)"',
      "completion zsh > ~/.zfunc/_plugboard",
      "completion fish > ~/.config/fish/completions/plugboard.fish",
    ],
  )
    .addArgument(new Argument("<shell>", "your shell").choices([...Object.keys(completionScripts), "words"]))
    .argument("[words...]", "with `words`: the words typed so far (used by the scripts)")
    .addOption(new Option("--bash", "the words are a line and what bash replaces of it").hideHelp())
    .action(async (shell: string, words: string[], options: CompletionOptions) => {
      if (shell !== "words") return terminal.out(completionScripts[shell as keyof typeof completionScripts]);
      const [text = "", replaced = ""] = words;
      const line = options.bash ? readBashLine(text, replaced) : undefined;
      // Whoever presses Tab sees mistakes when the command runs. Printed here, they would be offered.
      const candidates = await completionCandidates(line?.words ?? words, options, terminal).catch(() => []);
      terminal.out((line?.inserted(candidates) ?? candidates).map((word) => `${word}\n`).join(""));
    });
}
