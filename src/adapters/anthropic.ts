import type Anthropic from "@anthropic-ai/sdk";
import type { PlugboardError, View } from "../index.ts";
import { AgentTools } from "./core/agent-tools.ts";
import type { Definition, SetAside } from "./core/definition.ts";
import { hostedServer } from "./core/hosted.ts";
import type { HostedOptions } from "./core/hosted.ts";
import { mentionParts, promptMessages } from "./core/messages.ts";
import type { MessageOptions } from "./core/messages.ts";
import { ownRuns } from "./core/own-tools.ts";
import type { OwnTool } from "./core/own-tools.ts";
import type { AgentOptions, AnswerOptions } from "./core/options.ts";
import { textOf } from "./core/parts.ts";
import type { ModelPart, ModelResult } from "./core/parts.ts";
import { assertSupported } from "./core/sdk.ts";
import { Turn, endsTurn } from "./core/turn.ts";

export type { AgentOptions, OwnTool, HostedOptions, MessageOptions, SetAside };

type Tool = Anthropic.Messages.Tool;
type ToolUse = Pick<Anthropic.Messages.ToolUseBlock, "id" | "name" | "input">;
type ToolResult = Anthropic.Messages.ToolResultBlockParam;
/** One part of a message or result. */
type AnthropicPart =
  | Anthropic.Messages.TextBlockParam
  | Anthropic.Messages.ImageBlockParam
  | Anthropic.Messages.DocumentBlockParam;

/** A tool that the SDK's tool runner can run by itself. */
export interface RunnableTool extends Tool {
  run(input: unknown, context?: RunContext): Promise<string | AnthropicPart[]>;
  parse(input: unknown): unknown;
}

interface RunContext {
  toolUse?: { id: string };
  signal?: AbortSignal | null | undefined;
}

/** Options of `anthropicTools`. */
export interface AnthropicOptions extends AgentOptions {
  /** Your own tools, beside those of the view: they are offered with them, and `answer` runs them. */
  own?: readonly OwnTool<Tool>[] | undefined;
}

/** A view's tools for Anthropic Messages. */
export interface AnthropicTools {
  /**
   * For `tools` of each request, or of `client.beta.messages.toolRunner`. The list grows: a tool that the model finds by a
   * search is added under its own id, and `read_result` once a result was cut.
   */
  tools: RunnableTool[];
  /** Answers one call with a block for the next message of the user. */
  call(use: ToolUse, options?: AnswerOptions): Promise<ToolResult>;
  /**
   * Answers all calls of a message at once, in their order; empty if it has none. Throws if a person ended the turn
   * (`endsTurn`): the model must not go on.
   */
  answer(
    message: { content: readonly Anthropic.Messages.ContentBlock[] },
    options?: AnswerOptions,
  ): Promise<ToolResult[]>;
  /** Tools that the model is not shown, and why. */
  setAside: SetAside[];
  /** For `system`: which servers there are, and how their tools are found. */
  instructions: string;
}

/** Only its types are used: the adapter makes plain objects. */
const sdk = { name: "@anthropic-ai/sdk", supported: /^1\./, install: "@anthropic-ai/sdk@1" };

/** A view's tools for Anthropic Messages. Where the rules want a call approved, the view's `interact.approve` is asked. */
export async function anthropicTools(view: View, options: AnthropicOptions = {}): Promise<AnthropicTools> {
  assertSupported(sdk);
  const { own = [] } = options;
  const agent = await AgentTools.offer(view, options, {
    target: "anthropic",
    provider: "anthropic",
    canGrow: true,
    own: ownRuns(own, ({ name }) => name),
  });
  const runnable = (tool: Tool): RunnableTool => ({
    ...tool,
    parse: (input) => input,
    async run(input, { toolUse, signal } = {}) {
      const made = agent.call(tool.name, input, { callId: toolUse?.id, signal: signal ?? undefined });
      const result = await made.catch((error: unknown) => {
        throw endsTurn(error) ? unspeakable(error) : error;
      });
      // The runner has no other way to mark a failure than to say so in words.
      return result.isError ? `Error: ${textOf(result.parts)}` : contentOf(result);
    },
  });
  const toolOf = ({ name, description, schema }: Definition): RunnableTool =>
    runnable({ name, description, input_schema: schema as Tool["input_schema"] });
  const tools = [...agent.definitions.map(toolOf), ...own.map(({ tool }) => runnable(tool))];
  agent.onAdded = (definition) => tools.push(toolOf(definition));
  const { setAside, instructions } = agent;
  const made = async ({ id, name, input }: ToolUse, { signal, meta }: AnswerOptions, turn?: Turn) => {
    const result = await agent.call(name, input, { callId: id, signal, meta, turn });
    const content = contentOf(result);
    const isError = result.isError && { is_error: true };
    return { type: "tool_result" as const, tool_use_id: id, content, ...isError };
  };
  return {
    tools,
    setAside,
    instructions,
    call: (use, given = {}) => made(use, given),
    answer({ content }, given = {}) {
      const turn = new Turn();
      const uses = content.filter((block) => block.type === "tool_use");
      return Promise.all(uses.map((use) => made(use, given, turn)));
    },
  };
}

/**
 * The tool runner makes a result for the model of whatever a tool throws. This cannot be put into words: the runner
 * gets the error itself when it tries, and that ends the run.
 */
function unspeakable(error: PlugboardError): Error {
  const refuse = () => {
    throw error;
  };
  return Object.defineProperties(new Error(), {
    message: { get: refuse },
    toString: { value: refuse },
  });
}

/** The messages of a prompt of a server, by its id or `server.prompt`. */
export async function anthropicPrompt(
  view: View,
  id: string,
  args: Record<string, string> = {},
  options: MessageOptions = {},
): Promise<Anthropic.Messages.MessageParam[]> {
  const messages = await promptMessages(view, id, args, options, "anthropic");
  return messages.map(({ role, parts }) =>
    role === "user" ? { role, content: parts.map(contentPart) } : { role, content: textOf(parts) },
  );
}

/** A user's text with what its `@server:uri` mentions stand for, as the content of a message. */
export async function anthropicMentions(
  view: View,
  text: string,
  options: MessageOptions = {},
): Promise<AnthropicPart[]> {
  const attached = await mentionParts(view, text, options, "anthropic");
  return [{ type: "text", text }, ...attached.map(contentPart)];
}

/** What the Messages API (beta `mcp-client-2025-11-20`) is given about a server that Anthropic calls by itself. */
export interface AnthropicHostedServer {
  mcp_servers: Anthropic.Beta.Messages.BetaRequestMCPServerURLDefinition[];
  tools: Anthropic.Beta.Messages.BetaMCPToolset[];
}

/**
 * A public server for Anthropic's MCP connector: Anthropic calls it by itself, with the tools that our rules allow. The
 * connector asks nobody, so tools that somebody has to approve are left out.
 */
export async function anthropicHostedServer(
  view: View,
  server: string,
  options: HostedOptions = {},
): Promise<AnthropicHostedServer> {
  const { name, url, tools, asked } = await hostedServer(view, server, options);
  const { authorization } = options;
  const free = tools.filter((tool) => !asked.includes(tool));
  const definition = { type: "url" as const, name, url };
  return {
    mcp_servers: [
      authorization === undefined ? definition : { ...definition, authorization_token: authorization },
    ],
    tools: [
      {
        type: "mcp_toolset",
        mcp_server_name: name,
        default_config: { enabled: false },
        configs: Object.fromEntries(free.map((tool) => [tool, { enabled: true }])),
      },
    ],
  };
}

function contentOf({ parts }: ModelResult): string | AnthropicPart[] {
  return parts.every(({ type }) => type === "text") ? textOf(parts) : parts.map(contentPart);
}

/** The images that the models read. Others would fail the whole request. */
const images = ["image/png", "image/jpeg", "image/webp", "image/gif"] as const;

function contentPart(part: ModelPart): AnthropicPart {
  if (part.type === "text") return part;
  const { data, mimeType } = part;
  const image = part.type === "image" ? images.find((type) => type === mimeType) : undefined;
  if (image) return { type: "image", source: { type: "base64", media_type: image, data } };
  if (mimeType === "application/pdf")
    return { type: "document", source: { type: "base64", media_type: mimeType, data } };
  return { type: "text", text: textOf([part]) };
}
