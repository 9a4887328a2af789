import type { Dialect } from "./dialect.ts";
import type { ToolResult } from "./script.ts";

interface Body {
  model?: string;
  stream?: boolean;
  tools?: { function: { name: string } }[];
  messages?: { role: string; tool_call_id?: string; content?: string | { text?: string }[] | null }[];
}

/** OpenAI Chat Completions, which most other providers speak too. */
export const chat: Dialect<Body> = {
  path: /\/chat\/completions$/,
  read(body, text) {
    const results = new Map<string, ToolResult>();
    for (const { tool_call_id, content } of body.messages ?? []) {
      if (tool_call_id) results.set(tool_call_id, { text: textOf(content), isError: false });
    }
    return { tools: (body.tools ?? []).map((tool) => ({ name: tool.function.name })), results, text };
  },
  write(turn, body) {
    const call =
      turn.kind === "call"
        ? {
            id: turn.id,
            type: "function",
            function: { name: turn.tool.name, arguments: JSON.stringify(turn.args) },
          }
        : undefined;
    const finish_reason = call ? "tool_calls" : "stop";
    const said = turn.kind === "text" ? { content: turn.text } : { content: null };
    const usage = { prompt_tokens: 10, completion_tokens: 10, total_tokens: 20 };
    const common = { id: "chatcmpl-scripted", created: 0, model: body.model ?? "scripted" };
    if (!body.stream) {
      const message = { role: "assistant", ...said, ...(call ? { tool_calls: [call] } : {}) };
      return {
        json: {
          ...common,
          object: "chat.completion",
          choices: [{ index: 0, message, finish_reason }],
          usage,
        },
      };
    }
    const delta = { role: "assistant", ...said, ...(call ? { tool_calls: [{ index: 0, ...call }] } : {}) };
    const chunk = { ...common, object: "chat.completion.chunk" };
    return {
      events: [
        { ...chunk, choices: [{ index: 0, delta, finish_reason: null }] },
        { ...chunk, choices: [{ index: 0, delta: {}, finish_reason }] },
        { ...chunk, choices: [], usage },
      ],
      named: false,
      done: true,
    };
  },
};

function textOf(content: string | { text?: string }[] | null | undefined): string {
  return typeof content === "string" ? content : (content ?? []).map(({ text }) => text ?? "").join("\n");
}
