/**
 * A fake server as a program: `node fake-stdio.ts '{ "versions": "legacy" }'`, or with the path of a JSON file.
 * Whatever the script says, the process is gone after ten minutes.
 */
import { appendFileSync, closeSync, readFileSync } from "node:fs";
import { FakeServer, type Stream } from "./fake-server.ts";
import type { Outlet } from "./outlet.ts";
import { isFields } from "./protocol.ts";
import type { LogLine, Script } from "./script.ts";

const script = readScript(process.argv[2]);
const server = new FakeServer(script);
let outputOpen = true;

const outlet: Outlet = {
  scope: "stdio",
  begin: () => {},
  frame: (message) => Buffer.from(JSON.stringify(message) + (server.script.lineEnd ?? "\n")),
  write: (bytes, to) => {
    if (to === "socket") throw new TypeError("fake server: there is no socket over stdio");
    if (to === "output" && !outputOpen) return Promise.resolve();
    const stream = to === "stderr" ? process.stderr : process.stdout;
    return new Promise((resolve) => stream.write(bytes, () => resolve()));
  },
  finish: () => {},
  close: (what) => {
    if (what === "input") return void process.stdin.destroy();
    // Node never closes its own stdout.
    outputOpen = false;
    return closeSync(1);
  },
  exit: (how) => (typeof how === "number" ? leave(how, "script") : void process.kill(process.pid, how)),
  child: async (ms) => {
    const { spawn } = await import("node:child_process");
    const held = spawn(process.execPath, ["-e", `setTimeout(() => {}, ${ms})`], {
      detached: true,
      stdio: ["ignore", "inherit", "inherit"],
    });
    held.unref();
  },
  head: overHttpOnly,
  open: overHttpOnly,
  drop: overHttpOnly,
};

const unsolicited: Stream = { scope: outlet.scope, era: "legacy", push: send };

process.stdout.on("error", () => leave(1, "stdout"));
process.stderr.on("error", () => {});
if (script.ignores?.includes("SIGTERM")) process.on("SIGTERM", () => {});
setTimeout(() => leave(1, "lifetime"), 600_000);
log({ event: "start", pid: process.pid, argv: process.argv, cwd: process.cwd(), env: { ...process.env } });
if (await server.start(outlet)) listen();

function listen(): void {
  let rest = "";
  process.stdin.setEncoding("utf8");
  process.stdin.on("data", (text: string) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) if (line.trim() !== "") void receive(line).catch(explain);
  });
  process.stdin.on("end", () => {
    if (!server.script.ignores?.includes("eof")) leave(0, "eof");
  });
}

async function receive(line: string): Promise<void> {
  log({ event: "received", pid: process.pid, line });
  const message = parse(line);
  if (isFields(message)) {
    if (message["method"] === "initialize") server.streams.add(unsolicited);
    return server.receive({ message }, outlet);
  }
  const error =
    message === undefined
      ? { code: -32700, message: "Parse error" }
      : { code: -32600, message: "Invalid Request: one message in a line" };
  return send({ error, id: null });
}

function send(message: object): Promise<void> {
  return outlet.write(outlet.frame({ jsonrpc: "2.0", ...message }, false), "output");
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function readScript(argument = "{}"): Script {
  return JSON.parse(
    argument.trimStart().startsWith("{") ? argument : readFileSync(argument, "utf8"),
  ) as Script;
}

function leave(code: number, why: string): never {
  log({ event: "exit", pid: process.pid, why });
  process.exit(code);
}

function explain(error: unknown): void {
  process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
  leave(70, "error");
}

function log(line: LogLine): void {
  if (script.log !== undefined) appendFileSync(script.log, `${JSON.stringify(line)}\n`);
}

function overHttpOnly(): never {
  throw new TypeError("fake server: this step needs HTTP");
}
