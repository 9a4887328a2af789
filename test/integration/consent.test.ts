import { execFileSync } from "node:child_process";
import { chmodSync } from "node:fs";
import { describe, expect, it, onTestFinished } from "vitest";
import { joinArgv } from "../../src/lib/argv.ts";
import { deceptive, labelled, scripts } from "../cli/deceptive-entries.ts";
import { lacks } from "../machine.ts";
import { createSandbox } from "../sandbox.ts";
import type { Sandbox } from "../sandbox.ts";
import { commandLine } from "../command-line.ts";

/** Runs a command line in a terminal of 80 columns and returns what a person sees, from the first line on. */
function onScreen(box: Sandbox, args: string[]): string {
  const socket = box.path("tmux");
  const tmux = (...words: string[]) => execFileSync("tmux", ["-S", socket, ...words], { encoding: "utf8" });
  const done = `${joinArgv(["tmux", "-S", socket, "wait-for", "-S", "done"])}; cat`;
  const command = `cd ${joinArgv([box.project])}; ${joinArgv([process.execPath, commandLine, ...args])}; ${done}`;
  execFileSync(
    "tmux",
    ["-S", socket, "-f", "/dev/null", "new-session", "-d", "-x", "80", "-y", "40", command],
    {
      env: { ...box.env, TERM: "xterm-256color", LANG: "C.UTF-8", SHELL: "/bin/sh" },
    },
  );
  onTestFinished(() => void tmux("kill-server"));
  tmux("wait-for", "done");
  return tmux("capture-pane", "-p", "-S", "-");
}

describe.skipIf(lacks("tmux"))(
  "M11 what a person sees before entries that look like something else are allowed",
  () => {
    const named = Object.values(deceptive).map((one, index) => ({ ...one, name: `entry${index}` }));
    const files = Object.fromEntries(scripts.map((name) => [`project/${name}`, "1+1"]));
    const blocks = (out: string, start: RegExp) =>
      new Map(out.split(start).map((block) => [/^\w+/.exec(block)?.[0] ?? "", block]));

    it.each([
      ["trust --list", "project/.mcp.json", /^(?=entry\d+ )/m],
      ["import cursor --dry-run", "project/.cursor/mcp.json", /^ {2}add {3}(?=entry)/m],
    ])("%s shows the true host and program on lines of their own", (verb, file, start) => {
      const isImport = verb.startsWith("import");
      const chosen = named.filter(({ client }) => !isImport || client === undefined);
      const entries = Object.fromEntries(chosen.map(({ name, entry }) => [name, entry]));
      const box = createSandbox({ ...files, [file]: { mcpServers: entries } });
      chmodSync(box.path("project/bin/git"), 0o755);
      const found = blocks(onScreen(box, verb.split(" ")), start);
      for (const { name, lines, imported = lines, warning } of chosen) {
        const block = found.get(name) ?? "";
        const shown = labelled(block, isImport ? "        " : "  ");
        expect(shown, name).toEqual(expect.arrayContaining(isImport ? imported : lines));
        expect(
          shown.filter(([label]) => label === "program" || label === "host"),
          name,
        ).toHaveLength(1);
        const words = block.replaceAll(/\s+/g, " ");
        if (warning && !(isImport && imported !== lines)) expect(words, name).toMatch(warning);
      }
    });
  },
);
