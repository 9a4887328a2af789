// A program that holds ten servers, for tests that kill it: node holder.ts <mode> <mark> <state folder>
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { ProcessTree, type ServerProgram } from "../../../src/servers/process-tree.ts";
import { StdioTransport } from "../../../src/servers/transports/stdio.ts";

const [, , mode = "", mark = "", stateFolder = ""] = process.argv;
const processes = new ProcessTree({ env: process.env, stateFolder });
const path = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const env = { ORPHAN_MARK: mark };

function direct(name: string): ServerProgram {
  return { server: name, command: process.execPath, args: [path(name)], env };
}

/** The real npx: npm, a shell, and the server below them. */
function byNpx(name: string): ServerProgram {
  const args = ["--offline", "-c", `"${process.execPath}" "${path(name)}"`];
  return { server: `npx ${name}`, command: "npx", args, env };
}

/** A shell that runs the server as a child, without exec. */
function launched(name: string): ServerProgram {
  const args = ["-c", '"$0" "$1"; true', process.execPath, path(name)];
  return { server: `sh ${name}`, command: "sh", args, env };
}

const names = ["good.mjs", "stubborn.mjs", "daemonizing.mjs"];
const programs = [...names.map(direct), ...names.map(launched), ...names.map(byNpx), direct("stubborn.mjs")];
// In a sandbox not even a server that left its group and its environment could survive.
if (existsSync("/usr/bin/bwrap")) {
  programs.push({ ...direct("daemonizing.mjs"), sandbox: { kind: "bwrap", read: [path(".")] } });
}
const transports = programs.map((program) => new StdioTransport({ processes, program }));

async function connect(transport: StdioTransport): Promise<void> {
  await transport.start();
  // The first process exists: the moment when a careless program forgets what it has started.
  if (mode === "exit-connecting") process.exit(0);
  await transport.lane.request("ping", {}, { timeoutMs: 100_000, maxTimeoutMs: 100_000 });
}

if (mode === "exit-connecting") process.stdout.write(`${processes.owner}\n`);
await Promise.all(transports.map(connect));
process.stdout.write(`${processes.owner} ${processes.watchdogPid}\n`);
if (mode === "throw") {
  setImmediate(() => {
    throw new Error("a mistake nobody caught");
  });
}
if (mode === "exit") process.exit(0);
if (mode === "close") await processes.close();
