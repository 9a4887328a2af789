/**
 * Measures how long the command line takes to start, compared with `node -e 0`. Runs are interleaved, so that load on
 * the machine affects all of them equally. Wall time is measured around the process, CPU time with bash's `times`.
 * Run: npm run build && node bench/start-up.ts [runs]
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { median } from "./median.ts";

interface Contender {
  name: string;
  args: string[];
  /** The limit, relative to `node -e 0`. */
  bar?: number;
  wallMs: number[];
  cpuMs: number[];
}

const runs = Math.max(1, Number(process.argv[2] ?? 40));
const main = join(import.meta.dirname, "..", "dist", "cli", "main.js");
const root = mkdtempSync(join(tmpdir(), "plugboard-start-up-"));
const home = join(root, "home");
const env = { HOME: home, PATH: process.env["PATH"] ?? "" };

const contenders: Contender[] = [
  { name: "node -e 0", args: ["-e", "0"], wallMs: [], cpuMs: [] },
  { name: "plugboard --version", args: [main, "--version"], bar: 1.6, wallMs: [], cpuMs: [] },
  { name: "plugboard list", args: [main, "list"], bar: 2.5, wallMs: [], cpuMs: [] },
];

try {
  configureThreeServers();
  // Run twice: the first run compiles the code, the second one saves the compiled code.
  for (const { args } of [...contenders, ...contenders]) wallTime(args);
  for (let run = 0; run < runs; run++) {
    for (const { args, wallMs } of contenders) wallMs.push(wallTime(args));
    for (const { args, cpuMs } of contenders) cpuMs.push(cpuTime(args));
  }
  report();
} finally {
  rmSync(root, { recursive: true, force: true, maxRetries: 20 });
}

function configureThreeServers(): void {
  mkdirSync(join(home, ".config", "plugboard"), { recursive: true });
  const mcpServers = {
    files: { command: "npx", args: ["-y", "@modelcontextprotocol/server-filesystem", "."] },
    memory: { command: "npx", args: ["-y", "@modelcontextprotocol/server-memory"] },
    issues: { url: "https://issues.example/mcp", headers: { Authorization: "Bearer ${TOKEN:-none}" } },
  };
  writeFileSync(join(home, ".config", "plugboard", "config.json"), JSON.stringify({ mcpServers }));
}

function wallTime(args: readonly string[]): number {
  const from = performance.now();
  run(process.execPath, args);
  return performance.now() - from;
}

/** User and system time of the command alone: the second line of `times` covers the children. */
function cpuTime(args: readonly string[]): number {
  const out = run("bash", ["-c", '"$@" >/dev/null; times', "bash", process.execPath, ...args]);
  const [user = NaN, system = NaN] = [...(out.split("\n")[1] ?? "").matchAll(/(\d+)m([\d.]+)s/g)].map(
    ([, minutes, seconds]) => Number(minutes) * 60_000 + Number(seconds) * 1000,
  );
  return user + system;
}

function run(command: string, args: readonly string[]): string {
  const { status, stdout, stderr, error } = spawnSync(command, args, { env, cwd: root, encoding: "utf8" });
  if (error) throw error;
  if (status !== 0) throw new Error(`${args.join(" ")} exited with ${status}: ${stderr}`);
  return stdout;
}

function report(): void {
  const [bare] = contenders;
  if (!bare) return;
  console.log(`${runs} runs each, ms (in brackets: relative to \`node -e 0\`)`);
  console.log(`${"".padEnd(22)}${["wall median", "wall min", "CPU median", "CPU min"].map(cell).join("")}`);
  for (const { name, wallMs, cpuMs, bar } of contenders) {
    const cells = [
      figure(median(wallMs), median(bare.wallMs)),
      figure(least(wallMs), least(bare.wallMs)),
      figure(median(cpuMs), median(bare.cpuMs)),
      figure(least(cpuMs), least(bare.cpuMs)),
    ];
    const ratio = median(wallMs) / median(bare.wallMs);
    const verdict = bar === undefined ? "" : `  bar ${bar}: ${ratio <= bar ? "met" : "MISSED"}`;
    console.log(`${name.padEnd(22)}${cells.map(cell).join("")}${verdict}`);
    if (bar !== undefined && ratio > bar) process.exitCode = 1;
  }
}

function figure(ms: number, bareMs: number): string {
  return `${ms.toFixed(1)} (${(ms / bareMs).toFixed(2)})`;
}

function cell(text: string): string {
  return text.padStart(16);
}

function least(values: readonly number[]): number {
  return Math.min(...values);
}
