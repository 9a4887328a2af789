// A server on standard input and output that repeats what it was given: its variable and its last argument.
import { createInterface } from "node:readline";

const [, , mode, argument] = process.argv;
const said = `${process.env.API_TOKEN} ${argument}`;
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const refusal = { error: { code: -32_000, message: said, data: { said } } };

const answers = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {}, logging: {} },
    serverInfo: { name: "canary", version: "1" },
  }),
  "tools/list": () => ({ tools: [{ name: "add", inputSchema: { type: "object" } }] }),
};

process.stderr.write(`${said}\n`);
if (mode === "dies") process.exit(3);
process.stdout.write(`${said}\n`);
createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const answer = mode === "refuses" ? undefined : answers[method];
  if (method === "tools/call") {
    send({ method: "notifications/message", params: { level: "error", data: said } });
    send({ method: "notifications/progress", params: { progressToken: id, progress: 1, message: said } });
  }
  if (method === "tools/call" && mode === "dies-later") process.exit(3);
  send({ id, ...(answer ? { result: answer(params) } : refusal) });
});
