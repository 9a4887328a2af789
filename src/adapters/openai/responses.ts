import type OpenAI from "openai";
import type { View } from "../../index.ts";
import { AgentTools } from "../core/agent-tools.ts";
import type { Definition, SetAside } from "../core/definition.ts";
import { mentionParts, promptMessages } from "../core/messages.ts";
import type { MessageOptions } from "../core/messages.ts";
import { ownRuns } from "../core/own-tools.ts";
import type { OwnTool } from "../core/own-tools.ts";
import type { AgentOptions, AnswerOptions } from "../core/options.ts";
import { errorText, textOf } from "../core/parts.ts";
import type { ModelPart, ModelResult } from "../core/parts.ts";
import { assertSupported } from "../core/sdk.ts";
import { Turn } from "../core/turn.ts";
import { dataUrl, fileName, inWords, isDocument, isImage } from "./media.ts";
import { sdk } from "./sdk.ts";

type Tool = OpenAI.Responses.FunctionTool;
type ToolCall = Pick<OpenAI.Responses.ResponseFunctionToolCall, "name" | "arguments" | "call_id">;
type Item = OpenAI.Responses.ResponseInputItem;
type Output = OpenAI.Responses.ResponseInputItem.FunctionCallOutput;
type UserPart = OpenAI.Responses.ResponseInputContent;
type OutputPart =
  | OpenAI.Responses.ResponseInputText
  | OpenAI.Responses.ResponseInputImage
  | OpenAI.Responses.ResponseInputFile;

/** Options of `openAiResponsesTools`. */
export interface OpenAiResponsesOptions extends AgentOptions {
  /** Your own tools, beside those of the view: they are offered with them, and `answer` runs them. */
  own?: readonly OwnTool<Tool>[] | undefined;
}

/** A view's tools for Responses. */
export interface OpenAiResponsesTools {
  /**
   * For `tools` of each request. The list grows: a tool that the model finds by a search is added under its own id, and
   * `read_result` once a result was cut.
   */
  tools: Tool[];
  /** Answers one call with an item for the next request's `input`. */
  call(call: ToolCall, options?: AnswerOptions): Promise<Output>;
  /**
   * Answers all function calls of a response at once, in their order; empty if there are none. Throws if a person ended the
   * turn (`endsTurn`): the model must not go on.
   */
  answer(
    response: { output: OpenAI.Responses.ResponseOutputItem[] },
    options?: AnswerOptions,
  ): Promise<Output[]>;
  /** Tools that the model is not shown, and why. */
  setAside: SetAside[];
  /** For `instructions`: which servers there are, and how their tools are found. */
  instructions: string;
}

/** A view's tools for Responses. Where the rules want a call approved, the view's `interact.approve` is asked. */
export async function openAiResponsesTools(
  view: View,
  options: OpenAiResponsesOptions = {},
): Promise<OpenAiResponsesTools> {
  assertSupported(sdk);
  const { own = [] } = options;
  const agent = await AgentTools.offer(view, options, {
    target: "openai",
    provider: "openai",
    canGrow: true,
    own: ownRuns(own, ({ name }) => name),
  });
  const tools = [...agent.definitions.map(toolOf), ...own.map(({ tool }) => tool)];
  agent.onAdded = (definition) => tools.push(toolOf(definition));
  const { setAside, instructions } = agent;
  const made = async (
    { name, arguments: args, call_id }: ToolCall,
    { signal, meta }: AnswerOptions,
    turn?: Turn,
  ) => outputOf(call_id, await agent.call(name, args, { callId: call_id, signal, meta, turn }));
  return {
    tools,
    setAside,
    instructions,
    call: (call, given = {}) => made(call, given),
    answer({ output }, given = {}) {
      const turn = new Turn();
      const calls = output.filter((item) => item.type === "function_call");
      return Promise.all(calls.map((call) => made(call, given, turn)));
    },
  };
}

/** The messages of a prompt of a server, by its id or `server.prompt`, as items of `input`. */
export async function openAiResponsesPrompt(
  view: View,
  id: string,
  args: Record<string, string> = {},
  options: MessageOptions = {},
): Promise<Item[]> {
  const messages = await promptMessages(view, id, args, options, "openai");
  return messages.map(({ role, parts }) =>
    role === "user" ? { role, content: parts.map(inputPart) } : { role, content: textOf(parts) },
  );
}

/** A user's text with what its `@server:uri` mentions stand for, as the content of a message. */
export async function openAiResponsesMentions(
  view: View,
  text: string,
  options: MessageOptions = {},
): Promise<UserPart[]> {
  const attached = await mentionParts(view, text, options, "openai");
  return [{ type: "input_text", text }, ...attached.map(inputPart)];
}

function toolOf({ name, description, schema }: Definition): Tool {
  return { type: "function", name, description, parameters: schema, strict: false };
}

function outputOf(call_id: string, result: ModelResult): Output {
  const { parts } = result;
  const isText = parts.every(({ type }) => type === "text");
  const output = isText || result.isError ? errorText(result, textOf(parts)) : parts.map(inputPart);
  return { type: "function_call_output", call_id, output };
}

function inputPart(part: ModelPart): OutputPart {
  if (part.type === "text") return { type: "input_text", text: part.text };
  if (isImage(part)) return { type: "input_image", image_url: dataUrl(part), detail: "auto" };
  if (isDocument(part)) return { type: "input_file", file_data: dataUrl(part), filename: fileName(part) };
  return { type: "input_text", text: inWords(part) };
}
