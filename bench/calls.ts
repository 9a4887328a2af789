/**
 * Measures the cost of a call: the hub with its whole pipeline, both generations of the SDK's client, and raw JSON over
 * a pipe or a socket, all against the same two echo servers in their own processes. They take turns of a few calls, so
 * that load on the machine affects them equally. Core placement matters more than any code, so `taskset` puts callers on
 * one core and servers on another, and then all on one. Every round uses new processes, and the best round counts.
 * Requires Linux with two cores. Run: node bench/calls.ts [rounds]
 */
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { Client as OldClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as OldStdio } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport as OldHttp } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { execFileSync, fork, spawn } from "node:child_process";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createInterface } from "node:readline";
import { Pool } from "undici";
import { createHub } from "../src/index.ts";

type Call = () => Promise<unknown>;

interface Figures {
  p50: number;
  p99: number;
  perSecond: number;
  cpu: number;
}

/** By client. */
type Best = Map<string, Figures>;

interface Message {
  id?: string | number;
  method?: string;
  params?: { arguments?: { text?: string } };
}

const inFlight = 32;
const serialTurns = 40;
const turnCalls = 50;
const burstMs = 500;
const info = { name: "bench", version: "1" };
const params = { name: "echo", arguments: { text: "hello" } };
const callerCore = 0;
const serverCore = 1;

if (process.argv[2] === "stdio") serveStdio();
else if (process.argv[2] === "http") serveHttp();
else await measure(Number(process.argv[2] ?? 8));

async function measure(rounds: number): Promise<void> {
  place(process.pid, callerCore);
  const [stdio, shared, http] = [1, 2, 3].map(() => new Map<string, Figures>()) as [Best, Best, Best];
  for (let round = 0; round < rounds; round++) {
    await stdioRound(stdio, serverCore);
    await stdioRound(shared, callerCore);
    await httpRound(http);
    process.stderr.write(".");
  }
  const overStdio = report("stdio", stdio);
  judge("p50 relative to the floor", overStdio("hub").p50 / overStdio("floor").p50, 1.2, "at most");
  const timesSdk = overStdio("hub").perSecond / overStdio("SDK v2").perSecond;
  judge("throughput relative to SDK v2", timesSdk, 1.5, "at least");
  const onOneCore = report("stdio, one core", shared);
  const timesFloor = onOneCore("hub").p50 / onOneCore("floor").p50;
  console.log(`  p50 relative to the floor: ${timesFloor.toFixed(2)} (no bar)`);
  const overHttp = report("http", http);
  const bestSdk = Math.max(overHttp("SDK v2").perSecond, overHttp("SDK v1").perSecond);
  judge("throughput relative to the better SDK", overHttp("hub").perSecond / bestSdk, 3, "at least");
}

async function stdioRound(best: Best, core: number): Promise<void> {
  const [command = "", ...args] = onCore(core);
  const echo = { command, args };
  const hub = await createHub({ servers: { pipe: echo } });
  await hub.tools();
  const v2 = new Client(info);
  await v2.connect(new StdioClientTransport(echo));
  const v1 = new OldClient(info);
  await v1.connect(new OldStdio(echo));
  const pipe = rawPipe(echo, false);
  const grouped = rawPipe(echo, true);
  await compare(best, {
    floor: pipe.call,
    "floor, our way": grouped.call,
    hub: () => hub.callTool("mcp__pipe__echo", params.arguments),
    "SDK v2": () => v2.callTool(params),
    "SDK v1": () => v1.callTool(params),
  });
  pipe.end();
  grouped.end();
  await Promise.all([hub.close(), v2.close(), v1.close()]);
}

async function httpRound(best: Best): Promise<void> {
  const server = fork(import.meta.filename, ["http"]);
  const port = await new Promise<number>((resolve) => server.once("message", resolve));
  place(server.pid ?? 0, serverCore);
  const url = new URL(`http://127.0.0.1:${port}/mcp`);
  const hub = await createHub({ servers: { web: { url: url.href } } });
  await hub.tools();
  const v2 = new Client(info);
  await v2.connect(new StreamableHTTPClientTransport(url));
  const v1 = new OldClient(info);
  const oldHttp: Pick<OldHttp, "start" | "send" | "close"> = new OldHttp(url);
  await v1.connect(oldHttp);
  const pool = new Pool(url.origin);
  await compare(best, {
    floor: rawHttp(pool),
    hub: () => hub.callTool("mcp__web__echo", params.arguments),
    "SDK v2": () => v2.callTool(params),
    "SDK v1": () => v1.callTool(params),
  });
  await Promise.all([hub.close(), v2.close(), v1.close(), pool.destroy()]);
  server.disconnect();
}

/** The command that runs the echo server on one core. */
function onCore(core: number): string[] {
  return ["taskset", "-c", String(core), process.execPath, import.meta.filename, "stdio"];
}

function place(pid: number, core: number): void {
  execFileSync("taskset", ["-apc", String(core), String(pid)], { stdio: "ignore" });
}

async function compare(best: Best, calls: Record<string, Call>): Promise<void> {
  for (const call of Object.values(calls)) await throughput(call);
  const serial = await latencies(calls);
  for (const [name, call] of Object.entries(calls)) {
    const now = { ...percentiles(serial.get(name) ?? []), ...(await throughput(call)) };
    const { p50, p99, perSecond, cpu } = best.get(name) ?? now;
    best.set(name, {
      p50: Math.min(p50, now.p50),
      p99: Math.min(p99, now.p99),
      perSecond: Math.max(perSecond, now.perSecond),
      cpu: Math.min(cpu, now.cpu),
    });
  }
}

function report(kind: string, figures: ReadonlyMap<string, Figures>): (name: string) => Figures {
  print([kind, "p50 µs", "p99 µs", `calls/s, ${inFlight} in flight`, "CPU µs per call"]);
  for (const [name, { p50, p99, perSecond, cpu }] of figures)
    print([name, p50.toFixed(0), p99.toFixed(0), perSecond.toFixed(0), cpu.toFixed(1)]);
  return (name) => figures.get(name) ?? { p50: NaN, p99: NaN, perSecond: NaN, cpu: NaN };
}

function print([name = "", ...cells]: string[]): void {
  console.log(name.padEnd(16), ...cells.map((cell) => cell.padStart(22)));
}

function judge(what: string, ratio: number, bar: number, direction: "at most" | "at least"): void {
  const isMet = direction === "at most" ? ratio <= bar : ratio >= bar;
  console.log(`  ${what}: ${ratio.toFixed(2)} (bar: ${direction} ${bar}, ${isMet ? "met" : "MISSED"})`);
  if (!isMet) process.exitCode = 1;
}

/** Sequential calls, in microseconds. */
async function latencies(calls: Record<string, Call>): Promise<Map<string, number[]>> {
  const took = new Map(Object.keys(calls).map((name) => [name, [] as number[]]));
  for (let turn = 0; turn < serialTurns; turn++) {
    for (const [name, call] of Object.entries(calls)) {
      for (let i = 0; i < turnCalls; i++) {
        const from = performance.now();
        await call();
        took.get(name)?.push((performance.now() - from) * 1000);
      }
    }
  }
  return took;
}

function percentiles(took: number[]): Pick<Figures, "p50" | "p99"> {
  const sorted = took.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.floor(sorted.length * share)] ?? NaN;
  return { p50: at(0.5), p99: at(0.99) };
}

/** Concurrent calls: calls per second, and this process's CPU time for each. */
async function throughput(call: Call): Promise<Pick<Figures, "perSecond" | "cpu">> {
  const from = performance.now();
  const cpuBefore = process.cpuUsage();
  let calls = 0;
  const work = async () => {
    while (performance.now() < from + burstMs) {
      await call();
      calls++;
    }
  };
  await Promise.all(Array.from({ length: inFlight }, work));
  const { user, system } = process.cpuUsage(cpuBefore);
  return { perSecond: (calls * 1000) / (performance.now() - from), cpu: (user + system) / calls };
}

/**
 * The minimum: one line out and one line in, matched by ID. `ourWay` adds what we give every server: its own process
 * group, so that it can be stopped with everything it started, and a progress token in every call.
 */
function rawPipe(
  { command, args }: { command: string; args: string[] },
  ourWay: boolean,
): { call: Call; end(): void } {
  const child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"], detached: ourWay });
  const waiting = new Map<number, (message: unknown) => void>();
  let issued = 0;
  let rest = "";
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      const message = JSON.parse(line) as { id: number };
      waiting.get(message.id)?.(message);
      waiting.delete(message.id);
    }
  });
  const call = () =>
    new Promise((resolve) => {
      const id = ++issued;
      waiting.set(id, resolve);
      const own = ourWay ? { ...params, _meta: { progressToken: `p${id}` } } : params;
      child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params: own })}\n`);
    });
  return { call, end: () => child.stdin.end() };
}

function rawHttp(pool: Pool): Call {
  const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
  let issued = 0;
  return async () => {
    const body = JSON.stringify({ jsonrpc: "2.0", id: ++issued, method: "tools/call", params });
    const { body: answer } = await pool.request({ path: "/mcp", method: "POST", headers, body });
    return answer.json();
  };
}

function serveStdio(): void {
  createInterface({ input: process.stdin }).on("line", (line) => {
    const answer = respond(JSON.parse(line) as Message);
    if (answer !== undefined) process.stdout.write(`${answer}\n`);
  });
}

function serveHttp(): void {
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk: Buffer) => (body += chunk.toString()));
    request.on("end", () => {
      const answer = body === "" ? undefined : respond(JSON.parse(body) as Message);
      if (answer === undefined) return void response.writeHead(request.method === "POST" ? 202 : 405).end();
      response.writeHead(200, {
        "content-type": "application/json",
        "content-length": Buffer.byteLength(answer),
      });
      response.end(answer);
    });
  });
  server.listen(0, "127.0.0.1", () => process.send?.((server.address() as AddressInfo).port));
  process.on("disconnect", () => process.exit());
}

function respond({ id, method, params: asked }: Message): string | undefined {
  if (id === undefined) return undefined;
  const result = answers[method ?? ""]?.(asked?.arguments?.text);
  const body = result === undefined ? { error: { code: -32_601, message: "Method not found" } } : { result };
  return JSON.stringify({ jsonrpc: "2.0", id, ...body });
}

const answers: Record<string, (text?: string) => object> = {
  initialize: () => ({ protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo: info }),
  "tools/list": () => ({
    tools: [
      {
        name: "echo",
        inputSchema: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
      },
    ],
  }),
  "tools/call": (text = "") => ({ content: [{ type: "text", text }] }),
};
