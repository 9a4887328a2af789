import type { Dialect } from "./dialect.ts";
import type { ToolResult } from "./script.ts";

interface Body {
  model?: string;
  stream?: boolean;
  tools?: { name: string; defer_loading?: boolean }[];
  messages?: { role: string; content: string | Block[] }[];
}
interface Block {
  type: string;
  text?: string;
  tool_use_id?: string;
  is_error?: boolean;
  content?: string | Block[];
}

/** Anthropic Messages. */
export const anthropic: Dialect<Body> = {
  path: /^\/v1\/messages$/,
  read(body, text) {
    const blocks = (body.messages ?? []).flatMap(({ content }) =>
      typeof content === "string" ? [] : content,
    );
    const results = new Map<string, ToolResult>();
    for (const block of blocks) {
      if (block.type !== "tool_result" || !block.tool_use_id) continue;
      results.set(block.tool_use_id, { text: textOf(block.content), isError: block.is_error === true });
    }
    // What is deferred is sent along, but the model cannot call it before it was searched for.
    const found = new Set(
      text.match(/"tool_reference","tool_name":"([^"]+)"/g)?.map((match) => match.split('"').at(-2)),
    );
    const tools = (body.tools ?? []).filter(({ name, defer_loading }) => !defer_loading || found.has(name));
    return { tools: tools.map(({ name }) => ({ name })), results, text };
  },
  write(turn, body) {
    const content =
      turn.kind === "text"
        ? { type: "text", text: turn.text }
        : { type: "tool_use", id: turn.id, name: turn.tool.name, input: turn.args };
    const stop_reason = turn.kind === "text" ? "end_turn" : "tool_use";
    const usage = { input_tokens: 10, output_tokens: 10 };
    const model = body.model ?? "scripted";
    const message = { id: "msg_scripted", type: "message", role: "assistant", model, stop_sequence: null };
    if (!body.stream) return { json: { ...message, content: [content], stop_reason, usage } };
    const delta =
      turn.kind === "text"
        ? { type: "text_delta", text: turn.text }
        : { type: "input_json_delta", partial_json: JSON.stringify(turn.args) };
    const start = turn.kind === "text" ? { type: "text", text: "" } : { ...content, input: {} };
    return {
      events: [
        { type: "message_start", message: { ...message, content: [], stop_reason: null, usage } },
        { type: "content_block_start", index: 0, content_block: start },
        { type: "content_block_delta", index: 0, delta },
        { type: "content_block_stop", index: 0 },
        { type: "message_delta", delta: { stop_reason, stop_sequence: null }, usage },
        { type: "message_stop" },
      ],
      named: true,
    };
  },
};

function textOf(content: string | Block[] | undefined): string {
  if (typeof content === "string") return content;
  return (content ?? []).map((block) => block.text ?? "").join("\n");
}
