/** One service of the made-up catalog over stdio. Run: node server.ts SERVICE TOTAL */
import { createHash } from "node:crypto";
import { createInterface } from "node:readline";
import { toolsOf } from "./catalog.ts";
import type { ServiceName } from "./catalog.ts";

const pageSize = 500;

interface Request {
  id?: number | string;
  method?: string;
  params?: { name?: string; cursor?: string; arguments?: unknown; protocolVersion?: string };
}

/** What a tool answers; nobody who has not called it knows. */
export function proofOf(tool: string, args: unknown): string {
  return `proof-${createHash("sha256")
    .update(JSON.stringify([tool, args]))
    .digest("hex")
    .slice(0, 12)}`;
}

function serve(service: ServiceName, total: number) {
  const tools = toolsOf(service, total);
  const results: Record<string, (params: NonNullable<Request["params"]>) => object> = {
    initialize: ({ protocolVersion }) => ({
      protocolVersion,
      capabilities: { tools: {} },
      serverInfo: { name: service, version: "1" },
    }),
    ping: () => ({}),
    "tools/list": ({ cursor }) => {
      const at = Number(cursor ?? 0);
      const next = at + pageSize < tools.length ? { nextCursor: String(at + pageSize) } : {};
      return { tools: tools.slice(at, at + pageSize), ...next };
    },
    "tools/call": ({ name = "", arguments: args }) => ({
      content: [{ type: "text", text: proofOf(name, args) }],
    }),
  };
  createInterface({ input: process.stdin }).on("line", (line) => {
    const { id, method = "", params = {} } = JSON.parse(line) as Request;
    if (id === undefined) return;
    const result = results[method]?.(params);
    const answer = result ? { result } : { error: { code: -32_601, message: `Method not found: ${method}` } };
    process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...answer })}\n`);
  });
}

if (import.meta.main) serve(process.argv[2] as ServiceName, Number(process.argv[3]));
