import type { Dialect } from "./dialect.ts";
import type { OfferedTool, ToolResult } from "./script.ts";

interface Body {
  model?: string;
  stream?: boolean;
  tools?: Tool[];
  input?: string | Item[];
}
interface Tool {
  type: string;
  name?: string;
  tools?: Tool[];
}
interface Item {
  type: string;
  call_id?: string;
  output?: string | { text?: string }[];
  tools?: Tool[];
}

/** OpenAI Responses. */
export const responses: Dialect<Body> = {
  path: /\/responses$/,
  read(body, text) {
    const items = typeof body.input === "string" ? [] : (body.input ?? []);
    const results = new Map<string, ToolResult>();
    for (const { call_id, output, tools } of items) {
      if (call_id && output !== undefined) results.set(call_id, { text: textOf(output), isError: false });
      if (call_id && tools) results.set(call_id, { text: "", isError: false });
    }
    const found = items.flatMap(({ tools }) => tools ?? []);
    return { tools: [...(body.tools ?? []), ...found].flatMap(offered), results, text };
  },
  write(turn, body) {
    const item = itemOf(turn);
    const usage = { input_tokens: 10, output_tokens: 10, total_tokens: 20 };
    const response = {
      id: "resp_scripted",
      object: "response",
      model: body.model ?? "scripted",
      created_at: 0,
    };
    const done = { ...response, status: "completed", output: [item], usage };
    if (!body.stream) return { json: done };
    return {
      events: [
        { type: "response.created", response: { ...response, status: "in_progress", output: [] } },
        { type: "response.output_item.added", output_index: 0, item },
        { type: "response.output_item.done", output_index: 0, item },
        { type: "response.completed", response: done },
      ],
      named: true,
    };
  },
};

function offered(tool: Tool): OfferedTool[] {
  if (tool.type === "namespace") {
    return (tool.tools ?? []).flatMap(offered).map(({ name }) => ({ name, namespace: tool.name }));
  }
  return [{ name: tool.name ?? tool.type }];
}

function itemOf(turn: Parameters<typeof responses.write>[0]) {
  if (turn.kind === "text") {
    const content = [{ type: "output_text", text: turn.text, annotations: [] }];
    return { type: "message", id: "msg_scripted", role: "assistant", status: "completed", content };
  }
  const { name, namespace } = turn.tool;
  if (name === "tool_search") {
    return {
      type: "tool_search_call",
      call_id: turn.id,
      execution: "client",
      status: "completed",
      arguments: turn.args,
    };
  }
  const call = { type: "function_call", id: "fc_scripted", call_id: turn.id, name, status: "completed" };
  return { ...call, ...(namespace ? { namespace } : {}), arguments: JSON.stringify(turn.args) };
}

function textOf(output: string | { text?: string }[]): string {
  return typeof output === "string" ? output : output.map(({ text }) => text ?? "").join("\n");
}
