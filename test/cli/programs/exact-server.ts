/** A server that answers `echo` with the message that it got, as text, and `big` with a number that JavaScript cannot hold. */
import { createInterface } from "node:readline";

const big = "12345678901234567891";
const properties = `{"id":{"type":"integer","maximum":${big}},"ids":{"type":"array","items":{"type":"integer"}},"count":{"type":"integer"}}`;
const tools = ["echo", "big"].map(
  (name) =>
    `{"name":"${name}","annotations":{"readOnlyHint":true},"inputSchema":{"type":"object","properties":${properties}}}`,
);

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line) as {
    id?: unknown;
    method?: string;
    params?: { name?: string };
  };
  if (id === undefined) return;
  process.stdout.write(
    `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${answer(line, method, params?.name)}}\n`,
  );
});

function answer(line: string, method?: string, tool?: string): string {
  if (method === "initialize")
    return '{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"exact","version":"1"}}';
  if (method === "tools/list") return `{"tools":[${tools.join(",")}]}`;
  if (method !== "tools/call") return "{}";
  if (tool === "big") return `{"content":[],"structuredContent":{"id":${big},"list":[${big}]}}`;
  return `{"content":[{"type":"text","text":${JSON.stringify(line)}}]}`;
}
