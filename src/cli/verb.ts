import { Command, Option } from "commander";
import { Workspace } from "../config.ts";
import { painter, safe } from "./terminal/print.ts";
import type { Terminal } from "./terminal/terminal.ts";

export interface CommonOptions {
  json?: boolean;
  config?: string;
}

/** Creates a verb with the common options `--json` and `--config`, and examples at the end of its help. */
export function verb(name: string, summary: string, examples: string[]): Command {
  return new Command(name)
    .description(summary)
    .option("--json", "print JSON")
    .option("--config <path>", "use this configuration file instead of the discovered ones")
    .addHelpText("after", `\nExamples:\n${examples.map((line) => `  plugboard ${line}`).join("\n")}`);
}

export function scopeOption(description: string): Option {
  return new Option("-s, --scope <scope>", description).choices(["local", "project", "user"]);
}

/** Other clients have no local scope. */
export function clientScopeOption(description: string): Option {
  return new Option("-s, --scope <scope>", description).choices(["user", "project"]);
}

/** For repeatable options. */
export function collect(value: string, list: string[] | undefined): string[] {
  return [...(list ?? []), value];
}

/** Runs `work` with the workspace of the current folder and always closes it. */
export async function withWorkspace<T>(
  terminal: Terminal,
  options: CommonOptions,
  work: (workspace: Workspace) => Promise<T>,
): Promise<T> {
  const paint = painter(terminal, "err");
  await using workspace = await Workspace.open({
    cwd: terminal.cwd,
    env: terminal.env,
    path: options.config,
    folders: terminal.folders,
    onWarning: (message) => terminal.err(`${paint("yellow", "warning:")} ${safe(message)}\n`),
  });
  return await work(workspace);
}
