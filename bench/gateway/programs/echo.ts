/**
 * The stdio server behind every gateway: legacy, no SDK, and answers that are prepared beforehand, so that it costs as
 * little as possible beside what is measured. Run: node echo.ts <tools> [hang]; with `hang` it never answers anything.
 */
import { createInterface } from "node:readline";
import { listOf, toolsNamed } from "../../echo-server.ts";

interface Message {
  id?: string | number;
  method?: string;
  params?: { cursor?: string; name?: string; arguments?: { text?: string; size?: number } };
}

const [count = "1", mode] = process.argv.slice(2);
const list = listOf([tool("echo"), ...toolsNamed(Number(count) - 1)], 1_000);
const large = new Map<number, Buffer>();

if (mode === "hang") process.stdin.resume();
else createInterface({ input: process.stdin }).on("line", (line) => answer(JSON.parse(line) as Message));

function answer({ id, method, params }: Message): void {
  if (id === undefined) return;
  const size = params?.arguments?.size;
  if (method === "tools/call" && size !== undefined) return answerLarge(id, size);
  const result = resultOf(method, params);
  const outcome = result ? { result } : { error: { code: -32_601, message: "Method not found" } };
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...outcome })}\n`);
}

function resultOf(method: string | undefined, params: Message["params"]): object | undefined {
  if (method === "tools/call") return { content: [{ type: "text", text: params?.arguments?.text ?? "" }] };
  if (method === "tools/list") return list(params?.cursor);
  if (method === "ping") return {};
  if (method !== "initialize") return undefined;
  return {
    protocolVersion: "2025-06-18",
    capabilities: { tools: {} },
    serverInfo: { name: "echo", version: "1" },
  };
}

function answerLarge(id: string | number, size: number): void {
  const result =
    large.get(size) ?? Buffer.from(JSON.stringify({ content: [{ type: "text", text: prose(size) }] }));
  large.set(size, result);
  process.stdout.cork();
  process.stdout.write(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":`);
  process.stdout.write(result);
  process.stdout.write("}\n");
  process.stdout.uncork();
}

/** Text as tools return it: lines, with something to escape now and then. */
function prose(size: number): string {
  const line =
    'A line of an ordinary document, with a "quoted" word, a number (42) and a path/to/some/file.\n';
  return line.repeat(Math.ceil(size / line.length)).slice(0, size);
}

function tool(name: string): object {
  return {
    name,
    description: "Returns the text, or a text of the given size.",
    inputSchema: {
      type: "object",
      properties: { text: { type: "string" }, size: { type: "integer", minimum: 1 } },
      required: ["text"],
    },
    annotations: { readOnlyHint: true },
  };
}
