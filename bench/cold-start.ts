/**
 * Measures how long the command line takes from a cold start: listing the tools of a known server, compared with
 * `node -e 0`, and one call, compared with a script that only connects with the SDK and lists. Runs are interleaved.
 * Run: npm run build && node bench/cold-start.ts [runs]
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { median } from "./median.ts";

interface Contender {
  name: string;
  args: string[];
  /** Starts without remembered state. */
  afresh?: boolean;
  tookMs: number[];
}

const runs = Math.max(1, Number(process.argv[2] ?? 30));
const main = join(import.meta.dirname, "..", "dist", "cli", "main.js");
const root = mkdtempSync(join(tmpdir(), "plugboard-cold-start-"));
const server = join(root, "server.mjs");
const script = join(root, "list.mjs");
const call = ["call", "echo.echo", "text=hello"];

const serverSource = `
import { createInterface } from "node:readline";
const results = {
  initialize: { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo: { name: "echo", version: "1" } },
  "tools/list": { tools: [{ name: "echo", inputSchema: { type: "object", properties: { text: { type: "string" } } } }] },
  "tools/call": { content: [{ type: "text", text: "hello" }] },
};
createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method } = JSON.parse(line);
  if (id === undefined) return;
  const result = results[method];
  const body = result ? { result } : { error: { code: -32601, message: "Method not found" } };
  process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, ...body }) + "\\n");
});
`;

const bare: Contender = { name: "node -e 0", args: ["-e", "0"], tookMs: [] };
const tools: Contender = { name: "plugboard tools", args: [main, "tools"], tookMs: [] };
const sdk: Contender = { name: "SDK script: connect, list", args: [script], tookMs: [] };
const known: Contender = { name: "plugboard call", args: [main, ...call], tookMs: [] };
const first: Contender = {
  name: "plugboard call, first ever",
  args: [main, ...call],
  afresh: true,
  tookMs: [],
};
const contenders = [bare, tools, sdk, known, first];

try {
  prepare();
  // Run twice: the first run compiles the code and detects the server, the second one saves the compiled code.
  for (const contender of [...contenders, ...contenders]) run(contender);
  for (let turn = 0; turn < runs; turn++)
    for (const contender of contenders) contender.tookMs.push(run(contender));
  for (const { name, tookMs } of contenders)
    console.log(
      `${name.padEnd(28)} median ${median(tookMs).toFixed(0)} ms, min ${Math.min(...tookMs).toFixed(0)} ms`,
    );
  judge("tools relative to node -e 0", tools, bare, 3);
  judge("call relative to the SDK script", known, sdk, 1.3);
} finally {
  rmSync(root, { recursive: true, force: true, maxRetries: 20 });
}

function prepare(): void {
  for (const home of ["known", "afresh"]) {
    const folder = join(root, home, ".config", "plugboard");
    mkdirSync(folder, { recursive: true });
    const mcpServers = { echo: { command: process.execPath, args: [server] } };
    writeFileSync(join(folder, "config.json"), JSON.stringify({ mcpServers }));
  }
  writeFileSync(server, serverSource);
  const module = (name: string) => JSON.stringify(import.meta.resolve(name));
  writeFileSync(
    script,
    `import { Client } from ${module("@modelcontextprotocol/client")};
     import { StdioClientTransport } from ${module("@modelcontextprotocol/client/stdio")};
     const client = new Client({ name: "bench", version: "1" });
     await client.connect(new StdioClientTransport({ command: process.execPath, args: [${JSON.stringify(server)}] }));
     await client.listTools();
     await client.close();`,
  );
}

function run({ args, afresh = false }: Contender): number {
  const home = join(root, afresh ? "afresh" : "known");
  if (afresh)
    for (const state of [".local", ".cache"])
      rmSync(join(home, state), { recursive: true, force: true, maxRetries: 20 });
  const env = { HOME: home, PATH: process.env["PATH"] ?? "" };
  const from = performance.now();
  const { status, stderr } = spawnSync(process.execPath, args, { env, cwd: root, encoding: "utf8" });
  const tookMs = performance.now() - from;
  if (status !== 0) throw new Error(`${args.join(" ")} exited with ${status}: ${stderr}`);
  return tookMs;
}

function judge(what: string, ours: Contender, theirs: Contender, bar: number): void {
  const ratio = median(ours.tookMs) / median(theirs.tookMs);
  console.log(`${what}: ${ratio.toFixed(2)} (bar: at most ${bar}, ${ratio <= bar ? "met" : "MISSED"})`);
  if (ratio > bar) process.exitCode = 1;
}
