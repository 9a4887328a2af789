import { spawn } from "node:child_process";
import { describe, expect, it } from "vitest";
import { shellWord } from "../../src/lib/argv.ts";
import { lacks } from "../machine.ts";
import { createSandbox } from "../sandbox.ts";
import type { Sandbox } from "../sandbox.ts";
import { commandLine } from "../command-line.ts";

const canary = "\u001b]0;title\u0007\u001b[2J\u009b31m\u202egpj.\u2066x\u200b";

/** Runs a command line on a pseudo-terminal and returns every byte that reaches it. */
async function onTerminal(box: Sandbox, args: string[], { keys = "", env = {} } = {}): Promise<string> {
  const line = [process.execPath, commandLine, ...args].map(shellWord).join(" ");
  const child = spawn("script", ["-qec", `stty cols 100 rows 40; ${line}`, "/dev/null"], {
    cwd: box.project,
    env: { ...box.env, TERM: "xterm", SHELL: "/bin/sh", ...env },
    stdio: ["pipe", "pipe", "inherit"],
  });
  let out = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    out += text;
    // The question is there, so the answer can be typed.
    if (keys !== "" && out.includes("\u001b[?25l")) child.stdin.end(keys);
  });
  if (keys === "") child.stdin.end();
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  child.once("close", () => resolve()).once("error", reject);
  await promise;
  return out;
}

function dangerous(out: string): string[] {
  return out.match(/[\u0080-\u009f\u200b\u202a-\u202e\u2066-\u2069]|\u001b\]|\u001b\[2J|\u0007/g) ?? [];
}

function scene(): Sandbox {
  return createSandbox({
    "project/.mcp.json": {
      mcpServers: {
        it: { command: `a${canary}`, args: [canary], env: { [`A${canary}`]: canary }, cwd: canary },
        web: { url: `https://x.example/${canary}`, headers: { A: canary }, headersHelper: [canary] },
        [`bad${canary}`]: { command: "true" },
        worse: { comand: canary, [canary]: canary },
      },
      bundles: { [canary]: { servers: ["it", canary], description: canary } },
      plugins: [`./${canary}`],
    },
    "home/.config/plugboard/config.json": {
      mcpServers: {
        gone: { command: `/nowhere/${canary}` },
        print: { command: "sh", args: ["-c", "exit 1"] },
      },
      approval: { tools: { [canary]: "deny" } },
    },
    [`project/${canary.replaceAll("/", "")}/.mcp.json`]: {},
    "home/.cursor/mcp.json": { mcpServers: { [canary]: { command: canary }, x: canary, y: { url: canary } } },
    "home/.codex/config.toml": 'a = "\u202e\n',
  });
}

describe.skipIf(lacks("script"))("M11 text of others on a terminal", () => {
  const plain = { NO_COLOR: "1", CI: "1" };
  const verbs = [
    ["list"],
    ["list", "--json"],
    ["get", "it"],
    ["get", "web", "--json"],
    ["get", `bad${canary}`],
    ["explain", "it"],
    ["explain", canary],
    ["config", "show"],
    ["config", "show", "--json"],
    ["config", "path"],
    ["config", "validate"],
    ["trust", "--list"],
    ["trust", "--list", "--json"],
    ["import", "--dry-run"],
    ["import", "--yes"],
    ["import", "--dry-run", "--json"],
    ["export", "codex"],
    ["export", "cursor", "--write", "--dry-run"],
    ["sync"],
    ["sync", "--json"],
    ["doctor"],
    ["status", "gone", "print"],
    ["call", `gone.${canary}`],
    ["completion", "words", "--", "get", ""],
    [canary],
    ["list", `--${canary}`],
    ["list", "--config", canary],
  ];

  it.each(verbs.map((verb) => [verb.join(" ").replaceAll(canary, "…"), verb] as const))(
    "never arrives with control or bidi characters: %s",
    async (_, verb) => {
      const out = await onTerminal(scene(), verb, { env: plain });
      expect(out).not.toBe("");
      expect(dangerous(out)).toEqual([]);
      expect(out).not.toContain("\u001b");
    },
  );

  it("never arrives raw in a question either", async () => {
    const out = await onTerminal(scene(), ["trust"], { keys: "\u0003" });
    expect(out).toContain("Allow");
    expect(dangerous(out)).toEqual([]);
  });
});
