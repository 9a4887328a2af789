import { streamText } from "ai";
import type { FinishReason, LanguageModel, ModelMessage, TextStreamPart, ToolSet } from "ai";
import { PlugboardError } from "../../../index.ts";
import type { Endpoint } from "../endpoint.ts";
import type { EmitChat, Usage } from "../events.ts";
import { brokenOff, modelFailure, tooSilent } from "./failure.ts";
import { PartialStep } from "./step.ts";

export interface TurnOptions {
  endpoint: Endpoint;
  model: LanguageModel;
  /** Gets what is said in the turn, also if it fails in the middle. */
  messages: ModelMessage[];
  instructions: string;
  tools(): ToolSet;
  maxSteps: number;
  /** How long the endpoint may be silent. */
  timeoutMs: number;
  maxOutputTokens?: number | undefined;
  signal: AbortSignal;
  emit: EmitChat;
  /** What people see of a tool's output. */
  show(output: unknown): Promise<ShownResult>;
}

export interface ShownResult {
  isError: boolean;
  text: string;
  files: string[];
}

/** Lets the model speak and call tools until it has nothing more to do. Throws what stopped it. */
export async function runTurn(options: TurnOptions, usage: Usage): Promise<number> {
  const { maxSteps, emit } = options;
  for (let step = 1; step <= maxSteps; step++) {
    const { reason, hasCalls } = await runStep(options, usage);
    if (reason === "length") emit({ type: "notice", message: "The model stopped at its output limit." });
    if (reason === "content-filter")
      emit({ type: "notice", message: "The endpoint's content filter stopped the model." });
    // Some endpoints say "stop" although the model waits for results.
    if (!hasCalls || reason === "content-filter") return step;
  }
  throw new PlugboardError(
    "turn-too-long",
    `The model called tools in ${maxSteps} steps, so the turn ends here.`,
  );
}

async function runStep(
  options: TurnOptions,
  usage: Usage,
): Promise<{ reason: FinishReason; hasCalls: boolean }> {
  // The SDK would print what it thinks of the request in the middle of the screen.
  globalThis.AI_SDK_LOG_WARNINGS = false;
  const { endpoint, messages, timeoutMs, signal } = options;
  const partial = new PartialStep();
  using silence = new Silence(timeoutMs);
  const failed = new AbortController();
  try {
    const result = streamText({
      model: options.model,
      messages: [...messages],
      instructions: options.instructions,
      tools: options.tools(),
      maxRetries: 0,
      abortSignal: AbortSignal.any([signal, silence.signal, failed.signal]),
      ...(options.maxOutputTokens !== undefined && { maxOutputTokens: options.maxOutputTokens }),
      // Errors are parts of the stream; the default prints them.
      onError: () => undefined,
    });
    let reason: FinishReason | undefined;
    for await (const part of result.stream) {
      partial.take(part);
      if (part.type === "error") throw part.error;
      if (part.type === "finish-step") {
        reason = part.finishReason;
        usage.inputTokens += part.usage.inputTokens ?? 0;
        usage.outputTokens += part.usage.outputTokens ?? 0;
      }
      await tell(part, partial, options);
      // Only the endpoint is timed: a tool may take as long as its server allows.
      silence.restart(!partial.isCalling);
    }
    silence.signal.throwIfAborted();
    signal.throwIfAborted();
    const isOver = reason !== "error" && reason !== "interrupted";
    if (reason === undefined || !isOver || partial.hasHalfCall || (reason === "other" && partial.isEmpty))
      throw brokenOff(undefined, endpoint);
    messages.push(...(await result.response).messages);
    return { reason, hasCalls: partial.hasCalls };
  } catch (error) {
    // Calls that still run, or are asked about, are for nobody any more.
    failed.abort();
    messages.push(
      ...partial.messages(signal.aborted ? "The user cancelled this." : "The turn ended before."),
    );
    signal.throwIfAborted();
    if (silence.signal.aborted) throw tooSilent(timeoutMs, endpoint);
    throw modelFailure(error, endpoint, partial);
  }
}

async function tell(part: TextStreamPart<ToolSet>, partial: PartialStep, { emit, show }: TurnOptions) {
  if (part.type === "text-delta") emit({ type: "text", text: part.text });
  else if (part.type === "tool-call")
    emit({ type: "tool-call", id: part.toolCallId, tool: part.toolName, arguments: part.input });
  else if (part.type === "tool-result" || part.type === "tool-error") {
    const { toolCallId: id, toolName: tool } = part;
    const shown =
      part.type === "tool-result"
        ? await show(part.output)
        : { isError: true, text: errorText(part.error), files: [] };
    partial.takeResult(id, tool, shown);
    emit({ type: "tool-result", id, tool, ...shown });
  }
}

function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Aborts its signal when nothing was heard for too long. */
class Silence implements Disposable {
  readonly #abort = new AbortController();
  readonly #ms: number;
  #timer: NodeJS.Timeout | undefined;

  constructor(ms: number) {
    this.#ms = ms;
    this.restart(true);
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  restart(isTimed: boolean): void {
    clearTimeout(this.#timer);
    if (isTimed) this.#timer = setTimeout(() => this.#abort.abort(), this.#ms);
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
  }
}
