/**
 * What nothing can beat. `http`: node:http that parses a call and answers it itself. `pipe`: node:http in front of the
 * echo server that parses nothing: bodies go in as lines, and lines come out as answers, in order.
 * Run: node floor.ts http|pipe <command of the echo server…>
 */
import { spawn } from "node:child_process";
import { createServer } from "node:http";
import type { ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

interface Call {
  id: number;
  params: { arguments: { text: string; size?: number } };
}

const [kind, command = "", ...args] = process.argv.slice(2);
const respond = kind === "pipe" ? throughPipe() : answerItself();
const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () =>
    respond(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks), response),
  );
});
process.stdin.on("end", () => process.exit()).resume();
server.listen(0, "127.0.0.1", () => console.log(`port ${(server.address() as AddressInfo).port}`));

function answerItself(): (body: Buffer, response: ServerResponse) => void {
  const large = new Map<number, Buffer>();
  return (body, response) => {
    const { id, params } = JSON.parse(body.toString()) as Call;
    const { text, size } = params.arguments;
    if (size === undefined)
      return send(
        response,
        Buffer.from(JSON.stringify({ jsonrpc: "2.0", id, result: { content: [{ type: "text", text }] } })),
      );
    const filled =
      large.get(size) ?? Buffer.from(JSON.stringify({ jsonrpc: "2.0", result: "x".repeat(size) }));
    large.set(size, filled);
    send(response, filled);
  };
}

function throughPipe(): (body: Buffer, response: ServerResponse) => void {
  const child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
  const waiting: ServerResponse[] = [];
  let parts: Buffer[] = [];
  child.stdout.on("data", (chunk: Buffer) => {
    let start = 0;
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, start)) {
      const line = chunk.subarray(start, end);
      const response = waiting.shift();
      if (response) send(response, parts.length === 0 ? line : Buffer.concat([...parts, line]));
      parts = [];
      start = end + 1;
    }
    if (start < chunk.length) parts.push(chunk.subarray(start));
  });
  return (body, response) => {
    waiting.push(response);
    child.stdin.cork();
    child.stdin.write(body);
    child.stdin.write("\n");
    child.stdin.uncork();
  };
}

function send(response: ServerResponse, body: Buffer): void {
  response.writeHead(200, { "content-type": "application/json", "content-length": body.length });
  response.end(body);
}
