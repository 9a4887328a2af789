import type { AIMessage, BaseMessage, ContentBlock } from "@langchain/core/messages";
import type { DynamicStructuredTool, StructuredToolInterface } from "@langchain/core/tools";
import type { View } from "../index.ts";
import { AgentTools } from "./core/agent-tools.ts";
import type { Definition, SetAside } from "./core/definition.ts";
import type { Provider } from "./core/media.ts";
import { unexpectedText } from "./core/failure.ts";
import { mentionParts, promptMessages } from "./core/messages.ts";
import type { MessageOptions } from "./core/messages.ts";
import { ownRuns } from "./core/own-tools.ts";
import type { AgentOptions, AnswerOptions, CallContext } from "./core/options.ts";
import { textOf } from "./core/parts.ts";
import type { ModelPart, ModelResult } from "./core/parts.ts";
import { loadSdk } from "./core/sdk.ts";
import { Turn, endsTurn } from "./core/turn.ts";
import { fileName, inWords, isDocument, isImage } from "./openai/media.ts";

export type { AgentOptions, MessageOptions, Provider, SetAside };

/** Options of `langchainTools`. */
export interface LangChainOptions extends AgentOptions {
  /**
   * Who gets images and other media: they keep its limits. Anthropic and Google take them in tool messages; for others,
   * they are in a message of the user behind those. Default: `unknown`, which every provider takes.
   */
  provider?: Provider | undefined;
  /** Your own tools. They are among `tools`, and `answer` runs them. */
  own?: readonly StructuredToolInterface[] | undefined;
}

/** A view's tools for LangChain. */
export interface LangChainTools {
  /** For `bindTools` of a model, and for agents. Each returns a `ToolMessage`, marked as an error where the call failed. */
  tools: StructuredToolInterface[];
  /**
   * Answers all calls of a model's message at once, in their order, also those that name no tool or are not valid JSON;
   * empty if it has none. For loops of your own; agents call the tools by themselves. Throws if a person ended the turn
   * (`endsTurn`): the model must not go on. Media that tool messages cannot have follow in one message of the user.
   */
  answer(
    message: Pick<AIMessage, "tool_calls" | "invalid_tool_calls">,
    options?: AnswerOptions,
  ): Promise<BaseMessage[]>;
  /** Tools that the model is not shown, and why. */
  setAside: SetAside[];
  /** For the system prompt: which servers there are, and how their tools are found. */
  instructions: string;
}

const sdk = { name: "@langchain/core", supported: /^1\./, install: "@langchain/core@1" };

const load = () =>
  loadSdk(sdk, async () => ({
    ...(await import("@langchain/core/messages")),
    ...(await import("@langchain/core/tools")),
  }));

/**
 * A view's tools for LangChain. An agent's tools do not change while it runs, so among very many it gets three, to search,
 * describe and call the others. Where the rules want a call approved, the view's `interact.approve` is asked.
 */
export async function langchainTools(view: View, options: LangChainOptions = {}): Promise<LangChainTools> {
  const { ToolMessage, DynamicStructuredTool, ToolInputParsingException } = await load();
  const { provider, own = [] } = options;
  const takesMedia = provider === "anthropic" || provider === "google";
  const ownTools = new Map(own.map((tool) => [tool.name, tool]));
  const agent = await AgentTools.offer(view, options, {
    target: "openai",
    provider,
    own: ownRuns(
      own.map((tool) => ({ tool, run: () => undefined })),
      ({ name }) => name,
    ),
  });
  const call = async (name: string, args: unknown, id: string, context: CallContext) => {
    const result = await agent.call(name, args, { ...context, callId: id });
    const later = takesMedia ? [] : result.parts.filter(isShown);
    return new ToolMessage({
      name,
      tool_call_id: id,
      content: takesMedia ? contentOf(result) : result.parts.map(wordsOf).join("\n"),
      ...(later.length > 0 && { metadata: { [mediaKey]: later.map(blockOf) } }),
      status: result.isError ? "error" : "success",
      ...(result.structuredContent && { artifact: result.structuredContent }),
    });
  };
  /** LangChain refuses arguments without saying what is wrong, even those that can be repaired, so ours judges them. */
  class ServerTool extends DynamicStructuredTool {
    override async call(...given: Parameters<DynamicStructuredTool["call"]>): Promise<unknown> {
      try {
        return await super.call(...given);
      } catch (error) {
        if (!(error instanceof ToolInputParsingException)) throw error;
        const [args, config] = given;
        return call(this.name, args, toolCallId(config), { signal: config?.signal });
      }
    }
  }
  const callMine = async (
    tool: StructuredToolInterface,
    asked: { name: string; args: Record<string, unknown>; id: string },
    signal: AbortSignal,
  ): Promise<BaseMessage> => {
    try {
      return (await tool.invoke({ type: "tool_call", ...asked }, { signal })) as BaseMessage;
    } catch (error) {
      if (options.errors === "throw" || endsTurn(error)) throw error;
      const { name, id } = asked;
      return new ToolMessage({ name, tool_call_id: id, content: unexpectedText(error), status: "error" });
    }
  };
  const toolOf = ({ name, description, schema }: Definition) =>
    new ServerTool({
      name,
      description,
      schema,
      func: (args: unknown, _manager, config) =>
        call(name, args, toolCallId(config), { signal: config?.signal }),
    });
  const { setAside, instructions } = agent;
  return {
    tools: [...agent.definitions.map(toolOf), ...own],
    setAside,
    instructions,
    async answer({ tool_calls = [], invalid_tool_calls = [] }, given = {}) {
      const turn = new Turn();
      const answered = await Promise.all(
        [...tool_calls, ...invalid_tool_calls].map(({ name = "", args, id = "" }) => {
          const mine = ownTools.get(name);
          if (!mine || typeof args !== "object") return call(name, args, id, { ...given, turn });
          return turn.run(given.signal, (signal) => callMine(mine, { name, args, id }, signal));
        }),
      );
      return langchainMessages(answered);
    },
  };
}

/**
 * Messages for a model that takes no media in tool messages: those of our tools follow in messages of the user. `answer`
 * does so by itself; an agent's middleware does it with the messages of each request.
 */
export async function langchainMessages(messages: readonly BaseMessage[]): Promise<BaseMessage[]> {
  const { HumanMessage, ToolMessage } = await load();
  const all: BaseMessage[] = [];
  let media: ContentBlock[] = [];
  const giveMedia = () => {
    // Providers want all tool messages directly behind the message that they answer.
    const content = [{ type: "text", text: "These came with the results above, from tools." }, ...media];
    if (media.length > 0) all.push(new HumanMessage({ content: content as never }));
    media = [];
  };
  for (const message of messages) {
    if (!ToolMessage.isInstance(message)) giveMedia();
    all.push(message);
    const parked: unknown = ToolMessage.isInstance(message) && message.metadata?.[mediaKey];
    if (Array.isArray(parked)) media.push(...(parked as ContentBlock[]));
  }
  giveMedia();
  return all;
}

/** Where tool messages keep media that the model gets later. */
const mediaKey = "plugboard/media";

/** The messages of a prompt of a server, by its id or `server.prompt`. */
export async function langchainPrompt(
  view: View,
  id: string,
  args: Record<string, string> = {},
  options: MessageOptions = {},
): Promise<BaseMessage[]> {
  const { AIMessage, HumanMessage } = await load();
  const messages = await promptMessages(view, id, args, options, options.provider);
  return messages.map(({ role, parts }) =>
    role === "assistant" ? new AIMessage(textOf(parts)) : new HumanMessage({ content: parts.map(blockOf) }),
  );
}

/** A user's text with what its `@server:uri` mentions stand for, as the content of a message. */
export async function langchainMentions(
  view: View,
  text: string,
  options: MessageOptions = {},
): Promise<ContentBlock[]> {
  const attached = await mentionParts(view, text, options, options.provider);
  return [{ type: "text", text }, ...attached.map(blockOf)];
}

function toolCallId(config: unknown): string {
  return (config as { toolCall?: { id?: string } } | undefined)?.toolCall?.id ?? "";
}

function wordsOf(part: ModelPart): string {
  if (part.type === "text") return part.text;
  return isShown(part) ? `[${part.type} ${part.mimeType}: see below]` : inWords(part);
}

/** What every provider takes from a user. */
function isShown(part: ModelPart): boolean {
  return isImage(part) || isDocument(part);
}

function contentOf({ parts }: ModelResult): string | ContentBlock[] {
  return parts.every(({ type }) => type === "text") ? textOf(parts) : parts.map(blockOf);
}

function blockOf(part: ModelPart): ContentBlock {
  if (part.type === "text") return part;
  const { type, data, mimeType } = part;
  const block = { type, source_type: "base64", data, mime_type: mimeType };
  return type === "file" ? { ...block, metadata: { filename: fileName(part) } } : block;
}
