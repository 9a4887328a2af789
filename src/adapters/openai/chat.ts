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

type Tool = OpenAI.Chat.Completions.ChatCompletionFunctionTool;
type ToolCall = OpenAI.Chat.Completions.ChatCompletionMessageToolCall;
type Message = OpenAI.Chat.Completions.ChatCompletionMessageParam;
type ToolMessage = OpenAI.Chat.Completions.ChatCompletionToolMessageParam;
type UserPart = OpenAI.Chat.Completions.ChatCompletionContentPart;

/** Options of `openAiChatTools`. */
export interface OpenAiChatOptions extends AgentOptions {
  /** Your own tools, beside those of the view: they are offered with them, and `answer` runs them. */
  own?: readonly OwnTool<Tool>[] | undefined;
}

/** A view's tools for Chat Completions. */
export interface OpenAiChatTools {
  /**
   * For `tools` of each request. The list grows: a tool that the model finds by a search is added under its own id, and
   * `read_result` once a result was cut.
   */
  tools: Tool[];
  /** Answers one call. A tool message has no media; they are described in words. */
  call(call: ToolCall, options?: AnswerOptions): Promise<ToolMessage>;
  /**
   * Answers all calls of an assistant's message at once, in their order. Images and documents follow in one message of the
   * user, because tool messages cannot have them. Empty if the message has no calls. Throws if a person ended the turn
   * (`endsTurn`): the model must not go on.
   */
  answer(message: { tool_calls?: ToolCall[] | null }, options?: AnswerOptions): Promise<Message[]>;
  /** Tools that the model is not shown, and why. */
  setAside: SetAside[];
  /** For the system prompt: which servers there are, and how their tools are found. */
  instructions: string;
}

/** A view's tools for Chat Completions. Where the rules want a call approved, the view's `interact.approve` is asked. */
export async function openAiChatTools(view: View, options: OpenAiChatOptions = {}): Promise<OpenAiChatTools> {
  assertSupported(sdk);
  const { own = [] } = options;
  const agent = await AgentTools.offer(view, options, {
    target: "openai",
    provider: "openai",
    canGrow: true,
    own: ownRuns(own, (tool) => tool.function.name),
  });
  const tools = [...agent.definitions.map(toolOf), ...own.map(({ tool }) => tool)];
  agent.onAdded = (definition) => tools.push(toolOf(definition));
  const made = (call: ToolCall, { signal, meta }: AnswerOptions, turn?: Turn): Promise<ModelResult> => {
    const { name, input } =
      call.type === "function"
        ? { name: call.function.name, input: call.function.arguments }
        : { name: call.custom.name, input: call.custom.input };
    return agent.call(name, input, { callId: call.id, signal, meta, turn });
  };
  const { setAside, instructions } = agent;
  return {
    tools,
    setAside,
    instructions,
    call: async (call, given = {}) => toolMessage(call, await made(call, given), false),
    async answer({ tool_calls }, given = {}) {
      const calls = tool_calls ?? [];
      const turn = new Turn();
      const results = await Promise.all(calls.map((call) => made(call, given, turn)));
      const messages = calls.flatMap((call, at) => {
        const result = results[at];
        return result ? [toolMessage(call, result, true)] : [];
      });
      const media = results.flatMap(({ parts }) => parts).filter(isShown);
      return media.length === 0 ? messages : [...messages, { role: "user", content: media.map(userPart) }];
    },
  };
}

/** The messages of a prompt of a server, by its id or `server.prompt`. */
export async function openAiChatPrompt(
  view: View,
  id: string,
  args: Record<string, string> = {},
  options: MessageOptions = {},
): Promise<Message[]> {
  const messages = await promptMessages(view, id, args, options, "openai");
  return messages.map(({ role, parts }) =>
    role === "user" ? { role, content: parts.map(userPart) } : { role, content: textOf(parts) },
  );
}

/** A user's text with what its `@server:uri` mentions stand for, as the content of a message. */
export async function openAiChatMentions(
  view: View,
  text: string,
  options: MessageOptions = {},
): Promise<UserPart[]> {
  const attached = await mentionParts(view, text, options, "openai");
  return [{ type: "text", text }, ...attached.map(userPart)];
}

function toolOf({ name, description, schema }: Definition): Tool {
  return { type: "function", function: { name, description, parameters: schema } };
}

function toolMessage({ id }: ToolCall, result: ModelResult, hasMediaLater: boolean): ToolMessage {
  const texts = result.parts.map((part) => {
    if (part.type === "text") return part.text;
    return hasMediaLater && isShown(part) ? `[${part.type} ${part.mimeType}: see below]` : inWords(part);
  });
  return { role: "tool", tool_call_id: id, content: errorText(result, texts.join("\n")) };
}

function isShown(part: ModelPart): boolean {
  return isImage(part) || isAudio(part) || isDocument(part);
}

const audioFormats: Record<string, "wav" | "mp3"> = {
  "audio/wav": "wav",
  "audio/x-wav": "wav",
  "audio/mpeg": "mp3",
  "audio/mp3": "mp3",
};

function isAudio(part: ModelPart): boolean {
  return part.type === "audio" && audioFormats[part.mimeType] !== undefined;
}

function userPart(part: ModelPart): UserPart {
  if (part.type === "text") return part;
  if (isImage(part)) return { type: "image_url", image_url: { url: dataUrl(part) } };
  if (isDocument(part)) return { type: "file", file: { file_data: dataUrl(part), filename: fileName(part) } };
  const format = part.type === "audio" ? audioFormats[part.mimeType] : undefined;
  if (format) return { type: "input_audio", input_audio: { data: part.data, format } };
  return { type: "text", text: inWords(part) };
}
