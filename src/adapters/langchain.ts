import type { AIMessage, BaseMessage, ContentBlock, ToolMessage } from "@langchain/core/messages";
import type { DynamicStructuredTool } from "@langchain/core/tools";
import type { View } from "../index.ts";
import { AgentTools } from "./core/agent-tools.ts";
import type { Definition, SetAside } from "./core/definition.ts";
import type { Provider } from "./core/media.ts";
import { mentionParts, promptMessages } from "./core/messages.ts";
import type { MessageOptions } from "./core/messages.ts";
import type { AgentOptions, AnswerOptions, CallContext } from "./core/options.ts";
import { textOf } from "./core/parts.ts";
import type { ModelPart, ModelResult } from "./core/parts.ts";
import { loadSdk } from "./core/sdk.ts";
import { Turn } from "./core/turn.ts";

export type { AgentOptions, AnswerOptions, MessageOptions, Provider, SetAside };

/** Options of `langchainTools`. */
export interface LangChainOptions extends AgentOptions {
  /** Whose limits images and other media keep. Default: the narrowest of all. */
  provider?: Provider | undefined;
}

/** A view's tools for LangChain. */
export interface LangChainTools {
  /** For `bindTools` of a model, and for agents. Each returns a `ToolMessage`, marked as an error where the call failed. */
  tools: DynamicStructuredTool[];
  /**
   * Answers all calls of a model's message at once, in their order, also those that name no tool or are not valid JSON;
   * empty if it has none. For loops of your own; agents call the tools by themselves. Throws if a person ended the turn
   * (`endsTurn`): the model must not go on.
   */
  answer(
    message: Pick<AIMessage, "tool_calls" | "invalid_tool_calls">,
    options?: AnswerOptions,
  ): Promise<ToolMessage[]>;
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
  const agent = await AgentTools.offer(view, options, { target: "openai", provider: options.provider });
  const call = async (name: string, args: unknown, id: string, context: CallContext) => {
    const result = await agent.call(name, args, { ...context, callId: id });
    return new ToolMessage({
      name,
      tool_call_id: id,
      content: contentOf(result),
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
    tools: agent.definitions.map(toolOf),
    setAside,
    instructions,
    answer({ tool_calls = [], invalid_tool_calls = [] }, given = {}) {
      const calls = [...tool_calls, ...invalid_tool_calls];
      const context = { ...given, turn: new Turn() };
      return Promise.all(calls.map(({ name = "", args, id = "" }) => call(name, args, id, context)));
    },
  };
}

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

function contentOf({ parts }: ModelResult): string | ContentBlock[] {
  return parts.every(({ type }) => type === "text") ? textOf(parts) : parts.map(blockOf);
}

function blockOf(part: ModelPart): ContentBlock {
  if (part.type === "text") return part;
  const { type, data, mimeType } = part;
  return { type, source_type: "base64", data, mime_type: mimeType };
}
