import type { Dialect } from "./dialect.ts";
import type { ToolResult } from "./script.ts";

interface Body {
  tools?: { functionDeclarations?: { name: string }[] }[];
  contents?: { role?: string; parts?: Part[] }[];
  generationConfig?: { responseMimeType?: string };
}
interface Part {
  functionResponse?: { id?: string; name: string; response?: { output?: unknown; error?: unknown } };
}

/** Gemini's generateContent. */
export const gemini: Dialect<Body> = {
  path: /:(generateContent|streamGenerateContent)$/,
  read(body, text) {
    const results = new Map<string, ToolResult>();
    for (const { functionResponse: response } of (body.contents ?? []).flatMap(({ parts }) => parts ?? [])) {
      if (!response) continue;
      const { output, error } = response.response ?? {};
      const said = output ?? error ?? response.response;
      const shown = typeof said === "string" ? said : JSON.stringify(said);
      results.set(response.id ?? `call_wish_${results.size}`, { text: shown, isError: error !== undefined });
    }
    const tools = (body.tools ?? []).flatMap(({ functionDeclarations }) => functionDeclarations ?? []);
    return { tools: tools.map(({ name }) => ({ name })), results, text };
  },
  write(turn, _body, path) {
    const part =
      turn.kind === "text"
        ? { text: turn.text }
        : { functionCall: { id: turn.id, name: turn.tool.name, args: turn.args } };
    const answer = {
      candidates: [{ index: 0, content: { role: "model", parts: [part] }, finishReason: "STOP" }],
      usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 10, totalTokenCount: 20 },
      modelVersion: "scripted",
    };
    return path.includes(":stream") ? { events: [answer], named: false } : { json: answer };
  },
};
