// A hand-written stdio server without dependencies, so that it starts fast. Its methods misbehave on request.
import { spawn } from "node:child_process";
import { writeSync } from "node:fs";

const cancelled = [];

export const write = (message) => process.stdout.write(`${JSON.stringify(message)}\n`);

const methods = {
  "server/discover": undefined,
  initialize: (params) => ({
    protocolVersion: params.protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: "rpc", version: "1" },
  }),
  ping: () => ({}),
  "tools/list": () => ({ tools: [{ name: "echo", inputSchema: { type: "object" } }] }),
  echo: (params) => params,
  environment: () => ({
    env: process.env,
    cwd: process.cwd(),
    argv: process.argv.slice(2),
    pid: process.pid,
  }),
  cancelled: () => ({ cancelled }),
  never: () => undefined,
  exit: (params) => process.exit(params.code),
  die: (params) => void process.kill(process.pid, params.signal),
  stderr: (params) => {
    process.stderr.write(params.text);
    return {};
  },
  /** Writes bytes as they are, in pieces of any size. */
  raw: (params) => {
    const bytes = Buffer.from(params.base64, "base64");
    const size = params.chunk ?? bytes.length;
    for (let at = 0; at < bytes.length; at += size) process.stdout.write(bytes.subarray(at, at + size));
    return undefined;
  },
  big: (params) => ({ text: "x".repeat(params.bytes) }),
  stopReading: () => {
    process.stdin.pause();
    setInterval(() => undefined, 1000);
    return {};
  },
  /** Leaves a grandchild behind that holds stdout, then ends. */
  abandon: (params) => {
    const child = spawn(
      process.execPath,
      ["-e", "process.on('SIGTERM', () => 0); setInterval(() => 0, 1000)"],
      {
        stdio: ["ignore", "inherit", "inherit"],
      },
    );
    writeSync(2, `left ${child.pid}\n`);
    process.exit(params.code);
  },
  progress: (params, id) => {
    for (let step = 1; step <= params.steps; step++) {
      const progressToken = params._meta.progressToken;
      write({
        jsonrpc: "2.0",
        method: "notifications/progress",
        params: { progressToken, progress: step, total: 9 },
      });
    }
    return { id };
  },
};

export function serve({ onEnd = () => process.exit(0) } = {}) {
  let text = "";
  process.stdin.setEncoding("utf8");
  process.stdin.on("end", onEnd);
  process.stdin.on("data", (chunk) => {
    const lines = (text + chunk).split("\n");
    text = lines.pop();
    let out = "";
    for (const line of lines) {
      const { id, method, params = {} } = JSON.parse(line);
      if (method === "notifications/cancelled") cancelled.push(params.requestId);
      if (id === undefined) continue;
      const run = methods[method];
      if (run === undefined) {
        out += `${JSON.stringify({ jsonrpc: "2.0", id, error: { code: -32601, message: "Method not found" } })}\n`;
        continue;
      }
      const result = run(params, id);
      if (result !== undefined) out += `${JSON.stringify({ jsonrpc: "2.0", id, result })}\n`;
    }
    if (out !== "") process.stdout.write(out);
  });
}
