/**
 * Measures what `keepWarm` saves: `plugboard call` with a server that is started each time, and with one that stays,
 * compared with `node -e 0`. Runs are interleaved. The server is a package that is installed already; behind
 * npx it takes longer to start.
 * Run: npm run build && node bench/warm.ts [runs]
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { median } from "./median.ts";

const runs = Math.max(1, Number(process.argv[2] ?? 20));
const main = join(import.meta.dirname, "..", "dist", "cli", "main.js");
const server = fileURLToPath(import.meta.resolve("@modelcontextprotocol/server-everything/dist/index.js"));
const root = mkdtempSync(join(tmpdir(), "plugboard-warm-"));
const call = [main, "call", "everything.echo", "message=hello"];

const contenders = [
  { name: "node -e 0", home: "cold", args: ["-e", "0"], tookMs: [] as number[] },
  { name: "plugboard call, cold", home: "cold", args: call, tookMs: [] as number[] },
  { name: "plugboard call, warm", home: "warm", args: call, tookMs: [] as number[] },
];

try {
  for (const [home, keepWarm] of [
    ["cold", 0],
    ["warm", 600_000],
  ] as const) {
    const folder = join(root, home, ".config", "plugboard");
    mkdirSync(folder, { recursive: true });
    const mcpServers = { everything: { command: process.execPath, args: [server], cwd: root } };
    writeFileSync(join(folder, "config.json"), JSON.stringify({ keepWarm, mcpServers }));
  }
  // The first runs compile the code, detect the server and start the one that stays.
  for (const contender of [...contenders, ...contenders]) run(contender);
  for (let turn = 0; turn < runs; turn++)
    for (const contender of contenders) contender.tookMs.push(run(contender));
  const [bare = 1] = contenders.map(({ tookMs }) => median(tookMs));
  for (const { name, tookMs } of contenders) {
    const middle = median(tookMs);
    const fastest = Math.min(...tookMs).toFixed(0);
    console.log(
      `${name.padEnd(22)} median ${middle.toFixed(0)} ms, min ${fastest} ms, ${(middle / bare).toFixed(1)} × node -e 0`,
    );
  }
} finally {
  run({ home: "warm", args: [main, "stop"] });
  rmSync(root, { recursive: true, force: true, maxRetries: 20 });
}

function run({ home, args }: { home: string; args: string[] }): number {
  const startedAt = performance.now();
  const env = { PATH: process.env["PATH"] ?? "", HOME: join(root, home) };
  const { status, stderr } = spawnSync(process.execPath, args, { cwd: root, env, encoding: "utf8" });
  if (status !== 0) throw new Error(`${args.join(" ")} failed: ${stderr}`);
  return performance.now() - startedAt;
}
