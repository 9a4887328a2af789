// A legacy stdio server whose only tool writes one file when it is called, and answers as soon as another one exists.
import { existsSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline";

const [file, began] = process.argv.slice(2);
const answers = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: "waiting", version: "1" },
  }),
  "tools/list": () => ({ tools: [{ name: "wait", inputSchema: { type: "object" } }] }),
};

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  const say = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...message })}\n`);
  if (id === undefined) continue;
  if (method === "tools/call") {
    writeFileSync(began, "");
    const timer = setInterval(() => {
      if (!existsSync(file)) return;
      clearInterval(timer);
      say({ result: { content: [{ type: "text", text: "done" }] } });
    }, 20);
  } else if (answers[method]) say({ result: answers[method](params) });
  else say({ error: { code: -32601, message: "Method not found" } });
}
process.exit(0);
