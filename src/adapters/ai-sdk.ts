import type * as Ai from "ai";
import type { ModelMessage, Tool, ToolExecutionOptions, UserContent } from "ai";
import type { PlugboardError, SchemaTarget, View } from "../index.ts";
import { canonicalJson } from "../lib/canonical.ts";
import { AgentTools } from "./core/agent-tools.ts";
import type { Definition, SetAside } from "./core/definition.ts";
import type { Provider } from "./core/media.ts";
import { mentionParts, promptMessages } from "./core/messages.ts";
import type { MessageOptions } from "./core/messages.ts";
import type { AgentOptions } from "./core/options.ts";
import { failed, textOf } from "./core/parts.ts";
import type { ModelPart, ModelResult } from "./core/parts.ts";
import { loadSdk } from "./core/sdk.ts";
import { Turns, endsTurn } from "./core/turn.ts";

export type { AgentOptions, MessageOptions, ModelPart, ModelResult, Provider, SetAside };

/** Options of `aiSdkTools`. */
export interface AiSdkOptions extends AgentOptions {
  /** What schemas are compiled for. Default: `openai`, which other providers accept as well. */
  target?: SchemaTarget | undefined;
  /** Whose limits images and other media keep. Default: the narrowest of all. */
  provider?: Provider | undefined;
  /** The SDK itself (`import * as ai from "ai"`), for programs that bundle it. Otherwise it is loaded and its version checked. */
  sdk?: Pick<typeof Ai, "jsonSchema"> | undefined;
}

/** A view's tools in the AI SDK's shape. */
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
 * approved (`needsApproval`), and a call that was approved there is not asked about again. An answer counts once, for the
 * tool and input that it is about; if it comes back to the same `aiSdkTools`, also only while the tool is defined alike.
 */
export async function aiSdkTools(view: View, options: AiSdkOptions = {}): Promise<AiSdkTools> {
  const { jsonSchema } = options.sdk ?? (await loadSdk(sdk, () => import("ai")));
  const agent = await AgentTools.offer(view, options, {
    target: options.target ?? "openai",
    provider: options.provider,
    canGrow: true,
  });
  const asksItself = view.canApprove;
  const turns = new Turns();
  const tools: AiSdkTools["tools"] = {};
  const add = ({ name, description, schema, title, server, canAsk }: Definition): void => {
    tools[name] = {
      type: "dynamic",
      description,
      ...(title && { title }),
      ...(server && { metadata: { server } }),
      inputSchema: jsonSchema(schema),
      ...(canAsk &&
        !asksItself && {
          // The SDK also calls it about calls that were approved.
          needsApproval: (input: unknown, { toolCallId, messages }: Execution) =>
            agent.mustAsk(
              name,
              input,
              wasApproved({ toolCallId, name, input }, messages) ? undefined : toolCallId,
            ),
        }),
      execute: (input: unknown, { toolCallId, abortSignal, messages }: Execution) =>
        agent
          .call(name, input, {
            callId: toolCallId,
            signal: abortSignal,
            turn: turns.of(messages),
            isApproved: !asksItself && wasApproved({ toolCallId, name, input }, messages),
          })
          .catch(outputOfEndedTurn),
      toModelOutput: ({ output }: { output: ModelResult }) => {
        const ended = endedTurns.get(output);
        if (ended) throw ended;
        return modelOutput(output);
      },
    };
  };
  agent.definitions.forEach(add);
  agent.onAdded = add;
  const { setAside, instructions } = agent;
  return { tools, setAside, instructions };
}

/**
 * The outputs of calls by which a person ended the turn. The SDK tells the model about exceptions of tools and goes on, but
 * it ends with an exception when an output cannot be made ready for the model. An output that was stored is another
 * object, so the conversation can go on later.
 */
const endedTurns = new WeakMap<ModelResult, PlugboardError>();

function outputOfEndedTurn(error: unknown): ModelResult {
  if (!endsTurn(error)) throw error;
  const output = failed(error.message);
  endedTurns.set(output, error);
  return output;
}

/** The messages of a prompt of a server, by its id or `server.prompt`. */
export async function aiSdkPrompt(
  view: View,
  id: string,
  args: Record<string, string> = {},
  options: MessageOptions = {},
): Promise<ModelMessage[]> {
  const messages = await promptMessages(view, id, args, options, options.provider);
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
  const attached = await mentionParts(view, text, options, options.provider);
  return [{ type: "text", text }, ...attached.map(userPart)];
}

function userPart(part: ModelPart) {
  if (part.type === "text") return part;
  return { type: "file" as const, data: part.data, mediaType: part.mimeType };
}

type Execution = Pick<ToolExecutionOptions<unknown>, "toolCallId" | "messages"> & {
  abortSignal?: AbortSignal;
};
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

/** True if the conversation says that a person approved this very call, and has no result of it. */
function wasApproved(
  { toolCallId, name, input }: { toolCallId: string; name: string; input: unknown },
  messages: readonly ModelMessage[],
): boolean {
  const parts = messages.flatMap(({ content }) => (typeof content === "string" ? [] : (content as Part[])));
  const own = parts.filter((part) => part.toolCallId === toolCallId);
  const call = own.findLast(({ type }) => type === "tool-call");
  const isSame = call?.toolName === name && canonicalJson(call.input) === canonicalJson(input);
  if (!isSame || own.indexOf(call) < own.findLastIndex(({ type }) => type === "tool-result")) return false;
  const asked = own.findLast(({ type }) => type === "tool-approval-request");
  const answer = parts.findLast(
    (part) => part.type === "tool-approval-response" && part.approvalId === asked?.approvalId,
  );
  return asked !== undefined && answer?.approved === true;
}

interface Part {
  type: string;
  toolCallId?: string;
  toolName?: string;
  input?: unknown;
  approvalId?: string;
  approved?: boolean;
}
