import { spawn } from "node:child_process";
import { appendFileSync } from "node:fs";

/**
 * `node stdio-tee.ts <log> <command…>` runs the command on this process's standard input and output, and notes what passes:
 * `> ` before what the client wrote, `< ` before what the command wrote, `! ` before the command's process id.
 */
const [log = "", command = "", ...args] = process.argv.slice(2);
const child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
appendFileSync(log, `! ${child.pid}\n`);
const rest = { ">": "", "<": "" };

process.stdin.on("data", (chunk: Buffer) => note(">", chunk)).pipe(child.stdin);
child.stdout.on("data", (chunk: Buffer) => note("<", chunk)).pipe(process.stdout);
child.stdin.on("error", () => {});
process.stdout.on("error", () => {});
for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.on(signal, () => child.kill(signal));
child.on("exit", (code) => {
  process.exitCode = code ?? 1;
  process.stdin.destroy();
});

function note(from: ">" | "<", chunk: Buffer) {
  const lines = (rest[from] + chunk.toString("utf8")).split("\n");
  rest[from] = lines.pop() ?? "";
  appendFileSync(log, lines.map((line) => `${from} ${line}\n`).join(""));
}
