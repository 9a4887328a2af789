import type { Command } from "commander";
import { Argument } from "commander";
import { completionScripts } from "../completion-scripts.ts";
import { nameCandidates } from "../completion-words.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { verb } from "../verb.ts";
import type { CommonOptions } from "../verb.ts";
import { verbs } from "../verbs.ts";
import { formats } from "../../index.ts";

export function command(terminal: Terminal): Command {
  return verb(
    "completion",
    "Print a shell script that completes commands, options, servers, tools and their parameters.",
    [
      'completion bash >> ~/.bashrc        # or: eval "$(plugboard completion bash)"',
      "completion zsh > ~/.zfunc/_plugboard",
      "completion fish > ~/.config/fish/completions/plugboard.fish",
    ],
  )
    .addArgument(new Argument("<shell>", "your shell").choices([...Object.keys(completionScripts), "words"]))
    .argument("[words...]", "with `words`: the words typed so far (used by the scripts)")
    .action(async (shell: string, words: string[], options: CommonOptions) => {
      if (shell !== "words") return terminal.out(completionScripts[shell as keyof typeof completionScripts]);
      const candidates = await complete(words, options, terminal);
      terminal.out(candidates.map((word) => `${word}\n`).join(""));
    });
}

async function complete(words: string[], options: CommonOptions, terminal: Terminal): Promise<string[]> {
  const [name, ...rest] = words;
  const last = rest.at(-1) ?? name ?? "";
  const entry = verbs.find((one) => one.name === name || one.alias === name);
  if (!entry || rest.length === 0)
    return startingWith(
      verbs.map((one) => one.name),
      last,
    );
  const configured = (await entry.load()).command(terminal);
  const sub = configured.commands.find((one) => one.name() === rest[0]) ?? configured;
  if (last.startsWith("-"))
    return startingWith(
      sub.options.map(({ long }) => long ?? ""),
      last,
    );
  if (rest.at(-2) === "--scope" || rest.at(-2) === "-s")
    return startingWith(["local", "project", "user"], last);
  if (configured.commands.length > 0 && rest.length === 1)
    return startingWith(
      configured.commands.map((one) => one.name()),
      last,
    );
  if (entry.name === "import" || entry.name === "export")
    return startingWith(
      formats.map(({ id }) => id),
      last,
    );
  if (entry.name === "completion") return startingWith(Object.keys(completionScripts), last);
  return startingWith(await nameCandidates(entry.name, rest, options, terminal), last);
}

function startingWith(candidates: string[], start: string): string[] {
  return candidates.filter((candidate) => candidate !== "" && candidate.startsWith(start));
}
