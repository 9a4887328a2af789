import type { ModelMessage, TextStreamPart, ToolSet } from "ai";

type AssistantPart = Exclude<Extract<ModelMessage, { role: "assistant" }>["content"], string>[number];
type ToolPart = Extract<ModelMessage, { role: "tool" }>["content"][number];

/** What arrived of one step, for a conversation that goes on although the step did not end well. */
export class PartialStep {
  readonly #said: AssistantPart[] = [];
  readonly #results = new Map<string, ToolPart>();
  #text = "";
  /** Calls whose arguments have begun, but are not complete. */
  readonly #begun = new Set<string>();

  take(part: TextStreamPart<ToolSet>): void {
    if (part.type === "text-delta") this.#text += part.text;
    else if (part.type === "tool-input-start") this.#begun.add(part.id);
    else if (part.type === "tool-call") {
      this.#endText();
      this.#begun.delete(part.toolCallId);
      const { toolCallId, toolName, input } = part;
      this.#said.push({ type: "tool-call", toolCallId, toolName, input });
    }
  }

  takeResult(toolCallId: string, toolName: string, result: { isError: boolean; text: string }): void {
    const output = { type: result.isError ? ("error-text" as const) : ("text" as const), value: result.text };
    this.#results.set(toolCallId, { type: "tool-result", toolCallId, toolName, output });
  }

  /** True if calls wait for their results. */
  get isCalling(): boolean {
    return this.#said.some((part) => part.type === "tool-call" && !this.#results.has(part.toolCallId));
  }

  get hasCalls(): boolean {
    return this.#said.some(({ type }) => type === "tool-call");
  }

  /** True if there is an answer of which nothing visible is missing. */
  get isComplete(): boolean {
    return !this.isEmpty && !this.hasHalfCall;
  }

  get hasHalfCall(): boolean {
    return this.#begun.size > 0;
  }

  /** True if the endpoint has begun to answer. */
  get hasBegun(): boolean {
    return !this.isEmpty || this.hasHalfCall;
  }

  get isEmpty(): boolean {
    return this.#said.length === 0 && this.#text === "";
  }

  /** Every call has a result, because endpoints refuse a conversation with one that has none. */
  messages(why: string): ModelMessage[] {
    this.#endText();
    if (this.#said.length === 0) return [];
    const calls = this.#said.filter((part) => part.type === "tool-call");
    const content = calls.map(
      ({ toolCallId, toolName }): ToolPart =>
        this.#results.get(toolCallId) ?? {
          type: "tool-result",
          toolCallId,
          toolName,
          output: { type: "error-text", value: why },
        },
    );
    return [
      { role: "assistant", content: this.#said },
      ...(content.length > 0 ? [{ role: "tool" as const, content }] : []),
    ];
  }

  #endText(): void {
    if (this.#text !== "") this.#said.push({ type: "text", text: this.#text });
    this.#text = "";
  }
}
