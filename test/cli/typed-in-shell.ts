import { spawn } from "node:child_process";
import { chmodSync } from "node:fs";
import { onTestFinished } from "vitest";
import { joinArgv } from "../../src/lib/argv.ts";
import type { Sandbox } from "../sandbox.ts";
import { commandLine } from "../command-line.ts";

const prompt = "ready> ";

/** How each shell is started, and the files of a person who followed `plugboard completion --help`. */
const shells = {
  bash: {
    line: "bash --noprofile --rcfile ~/.bashrc -i",
    files: { "home/.bashrc": `PS1='${prompt}'\neval "$(plugboard completion bash)"\n` },
  },
  zsh: {
    line: "zsh -d -i",
    files: {
      "home/.zshrc": `PS1='${prompt}'\nmkdir ~/.zfunc\nplugboard completion zsh > ~/.zfunc/_plugboard\nfpath=(~/.zfunc $fpath)\nautoload -Uz compinit\ncompinit -u -D\n`,
    },
  },
  fish: {
    line: "fish -i",
    files: {
      "home/.config/fish/config.fish": `set -g fish_greeting\nfunction fish_prompt; echo -n '${prompt}'; end\nmkdir -p ~/.config/fish/completions\nplugboard completion fish > ~/.config/fish/completions/plugboard.fish\n`,
    },
  },
};

export type Shell = keyof typeof shells;

/** A shell on a pseudo-terminal, in which every command but `completion` only shows the words it gets. */
export async function openShell(shell: Shell, box: Sandbox) {
  const { line, files } = shells[shell];
  for (const [name, text] of Object.entries(files)) box.write(name, text);
  const show = 'console.log("typed:" + JSON.stringify(process.argv.slice(1)))';
  const own = joinArgv([process.execPath, commandLine]);
  const shown = joinArgv([process.execPath, "-e", show, "--"]);
  const program = `#!/bin/sh\nif [ "$1" = completion ]; then exec ${own} "$@"; else exec ${shown} "$@"; fi\n`;
  chmodSync(box.write("bin/plugboard", program), 0o755);
  const child = spawn("script", ["-qec", `stty cols 200 rows 50; exec ${line}`, "/dev/null"], {
    cwd: box.project,
    env: {
      ...box.env,
      PATH: `${box.path("bin")}:${box.env["PATH"] ?? ""}`,
      TERM: "xterm",
      SHELL: "/bin/sh",
      LANG: "C.UTF-8",
    },
    stdio: ["pipe", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  let out = "";
  let look = (_isOver: boolean): void => undefined;
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    out += text;
    look(false);
  });
  child.once("close", () => look(true));
  const found = (pattern: RegExp) =>
    new Promise<string>((resolve, reject) => {
      look = (isOver) => {
        const [, match] = pattern.exec(out) ?? [];
        if (isOver) reject(new Error(`${shell} ended: ${out}`));
        if (match === undefined) return;
        out = out.slice(out.indexOf(match) + match.length);
        look = () => undefined;
        resolve(match);
      };
      look(false);
    });
  await found(/(ready> )/);
  return {
    /** The words that a command gets if these keys are typed, then Tab and Enter. */
    async tab(keys: string): Promise<string[]> {
      child.stdin.write(`plugboard ${keys}\t\r`);
      const words = JSON.parse(await found(/typed:(\[.*\])\r?\n/)) as string[];
      await found(/(ready> )/);
      return words;
    },
  };
}
