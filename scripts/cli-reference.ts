import { verbs } from "../src/cli/verbs.ts";
import type { Terminal } from "../src/cli/terminal/terminal.ts";
import type { Command } from "commander";

/** Generates docs/cli.md from the help texts. */
export async function cliReference(): Promise<string> {
  const sections: string[] = [];
  for (const { name, load } of verbs) {
    const command = (await load()).command(silent);
    sections.push(section(name, command));
    for (const sub of command.commands) sections.push(section(`${name} ${sub.name()}`, sub));
  }
  return `# The command line

<!-- Written by \`npm run generate\` from src/cli/commands. Do not edit. -->

[errors.md](errors.md) lists the exit codes; 0 means success. Text from files and servers is escaped before it reaches a
terminal. Colours appear only in a terminal (\`NO_COLOR\` and \`FORCE_COLOR\` are honoured).

${sections.join("\n")}`;
}

function section(title: string, command: Command): string {
  let text = "";
  command.configureOutput({ writeOut: (chunk) => void (text += chunk), getOutHelpWidth: () => 100 });
  command.outputHelp();
  const usage = text.trimEnd().replace(/^Usage: /, "plugboard ");
  return `## ${title}\n\n\`\`\`\n${usage}\n\`\`\`\n`;
}

const silent: Terminal = {
  out: () => undefined,
  err: () => undefined,
  draw: () => undefined,
  isInteractive: false,
  isLive: false,
  isErrLive: false,
  isScreen: false,
  colors: { out: false, err: false },
  columns: 100,
  rows: 24,
  env: {},
  cwd: "/",
  readInput: async () => "",
  hasInput: async () => false,
  readLine: async () => undefined,
  confirm: async () => false,
  takePipes: () => ({ input: process.stdin, output: process.stdout }),
  catchSignals: () => ({ signal: new AbortController().signal, [Symbol.dispose]: () => undefined }),
  exitCode: 0,
};
