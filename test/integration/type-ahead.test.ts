import { execFileSync } from "node:child_process";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { joinArgv } from "../../src/lib/argv.ts";
import { lacks } from "../machine.ts";
import { createSandbox } from "../sandbox.ts";
import type { Sandbox } from "../sandbox.ts";
import { commandLine } from "../command-line.ts";

/** A terminal of 80 columns in which a command starts after something was typed. */
function typeAhead(box: Sandbox, args: string[], typed: string[]) {
  const socket = box.path("tmux");
  const tmux = (...words: string[]) => execFileSync("tmux", ["-S", socket, ...words], { encoding: "utf8" });
  const wait = (...words: string[]) => joinArgv(["tmux", "-S", socket, "wait-for", ...words]);
  const command = `cd ${joinArgv([box.project])}; ${wait("go")}; ${joinArgv([process.execPath, commandLine, ...args])}; ${wait("-S", "done")}; cat`;
  const size = ["-x", "80", "-y", "40"];
  execFileSync("tmux", ["-S", socket, "-f", "/dev/null", "new-session", "-d", ...size, command], {
    env: { ...box.env, TERM: "xterm-256color", LANG: "C.UTF-8", SHELL: "/bin/sh" },
  });
  onTestFinished(() => void tmux("kill-server"));
  const press = (...keys: string[]) => void tmux("send-keys", ...keys);
  const screen = () => tmux("capture-pane", "-p");
  const shows = (words: RegExp) => vi.waitFor(() => expect(screen()).toMatch(words), 20_000);
  press(...typed);
  tmux("wait-for", "-S", "go");
  return { press, screen, shows, end: () => void tmux("wait-for", "done") };
}

describe.skipIf(lacks("tmux"))("M11 a question in a terminal", () => {
  const untrusted = { mcpServers: { theirs: { command: "evil" } } };

  it("about trust is not answered by what was typed before it, nor by a single letter", async () => {
    const box = createSandbox({ "project/.mcp.json": untrusted });
    const terminal = typeAhead(box, ["trust"], ["yes", "Enter", "y", "Enter", "Enter"]);
    await terminal.shows(/Allow theirs to run evil\? Type yes or no\.\n│ +_?\n/);
    expect((await box.cli(["list"])).out).toMatch(/theirs +untrusted/);
    terminal.press("y", "Enter");
    await terminal.shows(/Type the whole word yes, or no\./);
    terminal.press("es", "Enter");
    terminal.end();
    expect(terminal.screen()).toContain("Trusted theirs.");
    expect((await box.cli(["list"])).out).toMatch(/theirs +ready/);
  });

  it("means no if only Enter is pressed", async () => {
    const box = createSandbox({ "project/.mcp.json": untrusted });
    const terminal = typeAhead(box, ["trust"], []);
    await terminal.shows(/Type yes or no\./);
    terminal.press("Enter");
    terminal.end();
    expect(terminal.screen()).toContain("Not trusted: theirs.");
  });

  it("about an import is not answered by what was typed before it", async () => {
    const servers = { notes: { command: "notes" }, mail: { command: "mail" } };
    const box = createSandbox({ "home/.cursor/mcp.json": { mcpServers: servers } });
    const terminal = typeAhead(box, ["import"], ["Enter", "y", "Enter"]);
    await terminal.shows(/Which servers do you want to add\?\n│ +◼ notes/);
    terminal.press("Space");
    await terminal.shows(/◻ notes/);
    terminal.press("Enter");
    terminal.end();
    expect(terminal.screen()).toContain("Added 1 server.");
    expect((await box.cli(["list"])).out).not.toContain("notes");
  });
});
