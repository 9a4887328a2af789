/**
 * Measures the wall and CPU time of closing a stdio server, with and without 300 idle processes on the machine, in
 * alternating rounds. Fails if either grows by more than 15 %.
 * Run: node bench/close-server.ts [--closes 20] [--rounds 7] [--idle 300]
 */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { ProcessTree } from "../src/servers/process/process-tree.ts";
import { Rpc } from "../src/servers/rpc/rpc.ts";
import { StdioTransport } from "../src/servers/transports/stdio/transport.ts";
import { median } from "./median.ts";

interface Cost {
  wallMs: number;
  processorMs: number;
}

const maxRatio = 1.15;
const { values } = parseArgs({
  options: {
    closes: { type: "string", default: "20" },
    rounds: { type: "string", default: "7" },
    idle: { type: "string", default: "300" },
  },
});
const closes = Number(values.closes);
const program = {
  server: "good",
  command: process.execPath,
  args: [fileURLToPath(new URL("../test/fixtures/programs/good.mjs", import.meta.url))],
};
const processes = new ProcessTree({ env: process.env });

// Load and compile the code first.
await measure();
const rounds: { alone: Cost; crowded: Cost }[] = [];
for (let round = 0; round < Number(values.rounds); round++) {
  const alone = await measure();
  const idle = await startIdle(Number(values.idle));
  try {
    rounds.push({ alone, crowded: await measure() });
  } finally {
    await endIdle(idle);
  }
}
await processes.close();

const isMet = [report("wall", "wallMs"), report("processor", "processorMs")].every(Boolean);
console.log(`bar: at most ${maxRatio} times, ${isMet ? "met" : "MISSED"}`);
if (!isMet) process.exitCode = 1;

function report(name: string, key: keyof Cost): boolean {
  const alone = median(rounds.map((round) => round.alone[key]));
  const crowded = median(rounds.map((round) => round.crowded[key]));
  // Compare adjacent rounds, so that a machine that becomes slower does not matter.
  const ratio = median(rounds.map((round) => round.crowded[key] / round.alone[key]));
  console.log(
    `${name.padEnd(10)} ${alone.toFixed(2)} ms alone, ${crowded.toFixed(2)} ms with ${values.idle} more, ` +
      `${ratio.toFixed(2)} times`,
  );
  return ratio <= maxRatio;
}

/** The medians of one round of closes. Every server has responded before it is closed. */
async function measure(): Promise<Cost> {
  const costs: Cost[] = [];
  for (let i = 0; i < closes; i++) {
    const transport = new StdioTransport({ processes, program });
    const rpc = new Rpc({ server: "it", transport, otherwise: {}, onClosed: () => undefined });
    await rpc.start();
    await rpc.requests.request("ping", {}, { timeoutMs: 60_000, maxTimeoutMs: 60_000 });
    const usage = process.cpuUsage();
    const from = performance.now();
    await transport.close();
    const wallMs = performance.now() - from;
    const { user, system } = process.cpuUsage(usage);
    costs.push({ wallMs, processorMs: (user + system) / 1000 });
  }
  return {
    wallMs: median(costs.map((cost) => cost.wallMs)),
    processorMs: median(costs.map((cost) => cost.processorMs)),
  };
}

/**
 * The idle processes are children of a shell, because Node.js checks all its own children whenever one exits. They
 * share a process group with the shell, and exit by themselves if we are killed.
 */
async function startIdle(count: number): Promise<ChildProcess> {
  const script = `trap : TERM; n=$1; while [ "$n" -gt 0 ]; do sleep 600 >/dev/null & n=$((n - 1)); done; echo; wait; wait`;
  const shell = spawn("sh", ["-c", script, "sh", String(count)], {
    detached: true,
    stdio: ["ignore", "pipe", "inherit"],
  });
  await once(shell.stdout, "data");
  return shell;
}

/** The shell exits after it has reaped all of them. */
async function endIdle(shell: ChildProcess): Promise<void> {
  const gone = once(shell, "exit");
  if (shell.pid !== undefined) process.kill(-shell.pid, "SIGTERM");
  await gone;
}
