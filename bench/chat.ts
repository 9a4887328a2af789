/**
 * Measures how long `plugboard chat` takes until somebody can type, compared with all of `plugboard tools`, both on a
 * terminal (`script`) with the same servers, whose lists are known from an earlier run. Runs are interleaved.
 * Run: npm run build && node bench/chat.ts [runs]
 */
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { joinArgv } from "../src/lib/argv.ts";
import { median } from "./median.ts";

const runs = Math.max(1, Number(process.argv[2] ?? 20));
const bar = 1.5;
const main = join(import.meta.dirname, "..", "dist", "cli", "main.js");
const fake = join(import.meta.dirname, "..", "test", "fixtures", "fake", "fake-stdio.ts");
const root = mkdtempSync(join(tmpdir(), "plugboard-chat-"));
const env = { HOME: root, PATH: process.env["PATH"] ?? "", TERM: "xterm", SHELL: "/bin/sh", NO_COLOR: "1" };
mkdirSync(join(root, ".config", "plugboard"), { recursive: true });
const server = { command: process.execPath, args: [fake, "{}"] };
writeFileSync(
  join(root, ".config", "plugboard", "config.json"),
  JSON.stringify({ mcpServers: { one: server, two: server, three: server }, chat: { model: "none" } }),
);

try {
  const tools: number[] = [];
  const chat: number[] = [];
  for (let run = -2; run < runs; run++) {
    const listed = await timed(["tools"]);
    const ready = await timed(["chat"], "> ");
    // The first runs ask the servers, and compile the code.
    if (run >= 0) tools.push(listed);
    if (run >= 0) chat.push(ready);
  }
  const ratio = median(chat) / median(tools);
  console.log(`${runs} runs each, median ms`);
  console.log(`plugboard tools              ${median(tools).toFixed(1)}`);
  console.log(`plugboard chat, until typing ${median(chat).toFixed(1)}`);
  console.log(`ratio ${ratio.toFixed(2)}, bar ${bar}: ${ratio <= bar ? "met" : "MISSED"}`);
  if (ratio > bar) process.exitCode = 1;
} finally {
  rmSync(root, { recursive: true, force: true, maxRetries: 20 });
}

/** Milliseconds until the command shows `ready` in a line of its own, or else ends. */
async function timed(args: string[], ready?: string): Promise<number> {
  const from = performance.now();
  const line = joinArgv([process.execPath, main, ...args]);
  const child = spawn("script", ["-qec", line, "/dev/null"], {
    env,
    cwd: root,
    stdio: ["pipe", "pipe", "inherit"],
  });
  let out = "";
  let at: number | undefined;
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    out += text;
    if (
      ready === undefined ||
      at !== undefined ||
      (!out.includes(`\n${ready}`) && !out.includes(`J${ready}`))
    )
      return;
    at = performance.now() - from;
    // Ctrl-D leaves.
    child.stdin.end("\u0004");
  });
  await new Promise((resolve) => child.once("close", resolve));
  if (ready !== undefined && at === undefined) throw new Error(`It was never ready: ${out}`);
  return at ?? performance.now() - from;
}
