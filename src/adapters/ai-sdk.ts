import type * as Ai from "ai";
import type { ModelMessage, Tool, ToolExecutionOptions, UserContent } from "ai";
import type { SchemaTarget, View } from "../index.ts";
import { AgentTools } from "./core/agent-tools.ts";
import type { Definition, SetAside } from "./core/definition.ts";
import { mentionParts, promptMessages } from "./core/messages.ts";
import type { MessageOptions } from "./core/messages.ts";
import type { AgentOptions } from "./core/options.ts";
import { textOf } from "./core/parts.ts";
import type { ModelPart, ModelResult } from "./core/parts.ts";
import { loadSdk } from "./core/sdk.ts";

export type { AgentOptions, MessageOptions, ModelPart, ModelResult, SetAside };

export interface AiSdkOptions extends AgentOptions {
  /** What schemas are compiled for. Default: `openai`, which other providers accept as well. */
  target?: SchemaTarget | undefined;
  /** The SDK itself (`import * as ai from "ai"`), for programs that bundle it. Otherwise it is loaded and its version checked. */
  sdk?: Pick<typeof Ai, "jsonSchema"> | undefined;
}

export interface AiSdkTools {
  /**
   * For `tools` of `generateText`, `streamText` and agents. Their outputs are `ModelResult`s. The object grows: a tool that
   * the model finds by a search is added under its own id, and `read_result` once a result was cut. Pass it as it is.
   */
  tools: Record<string, Tool<unknown, ModelResult>>;
  /** Tools that the model is not shown, and why. */
  setAside: SetAside[];
  /** For the system prompt: which servers there are, and how their tools are found. */
  instructions: string;
}

const sdk = { name: "ai", supported: /^7\./, install: "ai@7" };

/**
 * A view's tools for the AI SDK. If the view has no `interact.approve`, the SDK asks about calls that the rules want
 * approved (`needsApproval`), and a call that was approved there is not asked about again.
 */
export async function aiSdkTools(view: View, options: AiSdkOptions = {}): Promise<AiSdkTools> {
  const { jsonSchema } = options.sdk ?? (await loadSdk(sdk, () => import("ai")));
  const agent = await AgentTools.offer(view, options, { target: options.target ?? "openai", canGrow: true });
  const asksItself = view.canApprove;
  const tools: AiSdkTools["tools"] = {};
  const add = ({ name, description, schema, title, server, mayAsk }: Definition): void => {
    tools[name] = {
      type: "dynamic",
      description,
      ...(title && { title }),
      ...(server && { metadata: { server } }),
      inputSchema: jsonSchema(schema),
      ...(mayAsk &&
        !asksItself && {
          needsApproval: async (input: unknown) => (await agent.check(name, input)).outcome === "asked",
        }),
      execute: (input: unknown, { toolCallId, abortSignal, messages }: Execution) =>
        agent.call(name, input, {
          callId: toolCallId,
          signal: abortSignal,
          isApproved: !asksItself && wasApproved(toolCallId, messages),
        }),
      toModelOutput: ({ output }: { output: ModelResult }) => modelOutput(output),
    };
  };
  agent.definitions.forEach(add);
  agent.onAdded = add;
  const { setAside, instructions } = agent;
  return { tools, setAside, instructions };
}

/** The messages of a prompt of a server, by its id or `server.prompt`. */
export async function aiSdkPrompt(
  view: View,
  id: string,
  args: Record<string, string> = {},
  options: MessageOptions = {},
): Promise<ModelMessage[]> {
  const messages = await promptMessages(view, id, args, options);
  return messages.map(({ role, parts }) =>
    role === "user"
      ? { role, content: parts.map(userPart) }
      : { role, content: parts.map((part) => ({ type: "text", text: textOf([part]) })) },
  );
}

/** A user's text with what its `@server:uri` mentions stand for, as the content of a message. */
export async function aiSdkMentions(
  view: View,
  text: string,
  options: MessageOptions = {},
): Promise<Exclude<UserContent, string>> {
  const attached = await mentionParts(view, text, options);
  return [{ type: "text", text }, ...attached.map(userPart)];
}

function userPart(part: ModelPart) {
  if (part.type === "text") return part;
  return { type: "file" as const, data: part.data, mediaType: part.mimeType };
}

type Execution = Pick<ToolExecutionOptions<unknown>, "toolCallId" | "abortSignal" | "messages">;
type ModelOutput = Awaited<ReturnType<NonNullable<Tool["toModelOutput"]>>>;

function modelOutput({ parts, isError }: ModelResult): ModelOutput {
  if (isError) return { type: "error-text", value: textOf(parts) };
  if (parts.every(({ type }) => type === "text")) return { type: "text", value: textOf(parts) };
  return {
    type: "content",
    value: parts.map((part) =>
      part.type === "text"
        ? part
        : { type: "file", mediaType: part.mimeType, data: { type: "data", data: part.data } },
    ),
  };
}

/** True if the conversation says that a person approved this very call. */
function wasApproved(toolCallId: string, messages: readonly ModelMessage[]): boolean {
  const parts = messages.flatMap(({ content }) => (typeof content === "string" ? [] : (content as Part[])));
  const asked = parts.findLast(
    (part) => part.type === "tool-approval-request" && part.toolCallId === toolCallId,
  );
  if (!asked) return false;
  const answer = parts.findLast(
    (part) => part.type === "tool-approval-response" && part.approvalId === asked.approvalId,
  );
  return answer?.approved === true;
}

interface Part {
  type: string;
  toolCallId?: string;
  approvalId?: string;
  approved?: boolean;
}
