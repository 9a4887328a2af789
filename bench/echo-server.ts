import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";

interface Message {
  id?: string | number;
  method?: string;
  params?: { arguments?: Record<string, unknown>; cursor?: string };
}

type ListPage = (cursor: string | undefined) => { tools: object[]; nextCursor?: string };

/** An in-process server with many tools that all echo. `onConnect` receives a function that sends notifications. */
export function echoServer({
  tools,
  pageSize = 1_000,
  onConnect,
}: {
  tools: readonly object[];
  pageSize?: number;
  onConnect?: (notify: (method: string) => void) => void;
}) {
  const list = listOf(tools, pageSize);
  return {
    async connect(transport: Transport) {
      const send = (message: object) =>
        void transport.send({ jsonrpc: "2.0", ...message } as JSONRPCMessage).catch(() => undefined);
      const onmessage = (message: JSONRPCMessage) => {
        const answer = respond(message as Message, list);
        if (answer) send(answer);
      };
      Object.assign(transport, { onmessage });
      await transport.start();
      onConnect?.((method) => send({ method }));
    },
  };
}

export function toolsNamed(count: number): object[] {
  return Array.from({ length: count }, (_, index) => ({
    name: `tool_${index}`,
    description: `Does what number ${index} does, and says so in a sentence of usual length for a tool.`,
    inputSchema: {
      type: "object",
      properties: {
        text: { type: "string" },
        count: { type: "integer", minimum: 0 },
        tags: { type: "array", items: { type: "string" } },
      },
      required: ["text"],
    },
    annotations: { readOnlyHint: true },
  }));
}

export function listOf(tools: readonly object[], pageSize: number): ListPage {
  return (cursor) => {
    const start = Number(cursor ?? 0);
    const end = start + pageSize;
    return { tools: tools.slice(start, end), ...(end < tools.length && { nextCursor: String(end) }) };
  };
}

/** The response to a request in the legacy era; nothing for notifications. */
export function respond({ id, method, params }: Message, list: ListPage): object | undefined {
  if (id === undefined) return undefined;
  const result = (value: object) => ({ jsonrpc: "2.0", id, result: value });
  if (method === "initialize")
    return result({
      protocolVersion: "2025-06-18",
      capabilities: { tools: { listChanged: true } },
      serverInfo: { name: "echo", version: "1" },
    });
  if (method === "tools/list") return result(list(params?.cursor));
  if (method === "tools/call")
    return result({ content: [{ type: "text", text: String(params?.arguments?.["text"]) }] });
  return { jsonrpc: "2.0", id, error: { code: -32601, message: "Method not found" } };
}
