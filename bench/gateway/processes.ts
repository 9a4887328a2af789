import { execFileSync, fork, spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { connect, createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import type { Order, Outcome } from "./load.ts";

/**
 * Core placement matters more than any code, so the measured program has one core, and the load and the echo servers
 * have the other.
 */
const cores = { gateway: 1, rest: 0 };

/** A program that was started to be measured. */
export interface Program {
  pid: number;
  stop(): Promise<void>;
}

export interface Load {
  run(order: Order): Promise<Outcome>;
  stop(): Promise<void>;
}

/** Starts the process that makes the calls. It takes one order at a time. */
export async function startLoad(): Promise<Load> {
  const child = fork(join(import.meta.dirname, "load.ts"));
  await once(child, "spawn");
  execFileSync("taskset", ["-apc", String(cores.rest), String(child.pid)], { stdio: "ignore" });
  return {
    async run(order) {
      child.send(order);
      const [outcome] = (await once(child, "message")) as [Outcome];
      return outcome;
    },
    async stop() {
      child.disconnect();
      await once(child, "exit");
    },
  };
}

/** The command of the echo server, on its core. */
export function echoCommand(tools: number): string[] {
  return [
    ...onCore(cores.rest),
    process.execPath,
    join(import.meta.dirname, "programs", "echo.ts"),
    String(tools),
  ];
}

/** Starts a program of ours, which says on which port it listens. */
export async function startPrinting(
  args: string[],
  env: NodeJS.ProcessEnv = process.env,
): Promise<Program & { port: number }> {
  const [command = "", ...rest] = [...onCore(cores.gateway), process.execPath, ...args];
  const child = spawn(command, rest, { stdio: ["pipe", "pipe", "inherit"], env });
  for await (const line of createInterface({ input: child.stdout })) {
    const [, port] = /^port (\d+)$|"http:\/\/127\.0\.0\.1:(\d+)\//.exec(line)?.filter(Boolean) ?? [];
    if (port !== undefined) return { port: Number(port), ...ended(child) };
  }
  throw new Error(`${args[0]} ended before it listened`);
}

/** Starts a program of others, which listens on this port when it is ready. */
export async function startOnPort(args: string[], port: number, env = process.env): Promise<Program> {
  const [command = "", ...rest] = [...onCore(cores.gateway), process.execPath, ...args];
  const child = spawn(command, rest, { stdio: ["pipe", "ignore", "ignore"], env });
  const own = ended(child);
  for (const end = performance.now() + 30_000; performance.now() < end; await sleep(100)) {
    if (child.exitCode !== null) break;
    if (await listens(port)) return own;
  }
  await own.stop();
  throw new Error(`${args.find((arg) => arg.includes("node_modules"))} does not listen`);
}

function ended(child: ChildProcess): Program {
  return {
    pid: child.pid ?? 0,
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill("SIGTERM");
      const force = setTimeout(() => child.kill("SIGKILL"), 3_000);
      await once(child, "exit");
      clearTimeout(force);
    },
  };
}

async function listens(port: number): Promise<boolean> {
  const socket = connect(port, "127.0.0.1");
  try {
    await once(socket, "connect");
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

function onCore(core: number): string[] {
  return ["taskset", "-c", String(core)];
}
