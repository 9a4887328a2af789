import { execFileSync } from "node:child_process";
import { onTestFinished } from "vitest";
import { joinArgv } from "../src/lib/argv.ts";
import type { Sandbox } from "./sandbox.ts";
import { commandLine } from "./command-line.ts";

/** A command of ours on a real terminal. */
export function onScreen(box: Sandbox, args: string[], { columns = 80, rows = 40 } = {}) {
  const socket = box.path("tmux");
  const tmux = (...words: string[]) => execFileSync("tmux", ["-S", socket, ...words], { encoding: "utf8" });
  const done = joinArgv(["tmux", "-S", socket, "wait-for", "-S", "done"]);
  const env = { ...box.env, TERM: "xterm-256color", LANG: "C.UTF-8" };
  const size = ["-x", String(columns), "-y", String(rows)];
  const line = `${joinArgv([process.execPath, commandLine, ...args])}; ${done}; cat`;
  execFileSync("tmux", ["-S", socket, "-f", "/dev/null", "-u", "new-session", "-d", ...size, line], {
    cwd: box.project,
    env,
  });
  onTestFinished(() => void tmux("kill-server"));
  return {
    /** Keys by tmux's names, such as `Enter` and `C-c`; everything else is typed as it is. */
    type: (...keys: string[]) => tmux("send-keys", ...keys),
    /** As a terminal that marks what is pasted. */
    paste: (text: string) => {
      tmux("set-buffer", text);
      tmux("paste-buffer", "-p", "-r");
    },
    end: () => tmux("wait-for", "done"),
    capture: () => tmux("capture-pane", "-p", "-S", "-"),
  };
}
