import type * as Ai from "ai";
import type {
  FlexibleSchema,
  InferSchema,
  JSONSchema7,
  ModelMessage,
  Tool,
  ToolExecutionOptions,
  ToolSet,
  UserContent,
} from "ai";
import { PlugboardError } from "../index.ts";
import type { SchemaTarget, View } from "../index.ts";
import { canonicalJson } from "../lib/canonical.ts";
import { AgentTools } from "./core/agent-tools.ts";
import type { Definition, SetAside } from "./core/definition.ts";
import { failureText } from "./core/failure.ts";
import type { Provider } from "./core/media.ts";
import { mentionParts, promptMessages } from "./core/messages.ts";
import type { MessageOptions } from "./core/messages.ts";
import type { AgentOptions } from "./core/options.ts";
import { failed, textOf } from "./core/parts.ts";
import type { ModelPart, ModelResult } from "./core/parts.ts";
import { loadSdk } from "./core/sdk.ts";
import { Turns, endsTurn } from "./core/turn.ts";

export type { AgentOptions, MessageOptions, ModelPart, ModelResult, Provider, SetAside };

/** Schemas of the structured content of tools, by their ids. */
export type OutputSchemas = Readonly<Record<string, FlexibleSchema>>;

/** Options of `aiSdkTools`. */
export interface AiSdkOptions<
  OWN extends ToolSet = ToolSet,
  OUTPUTS extends OutputSchemas = OutputSchemas,
> extends AgentOptions {
  /** Your own tools. They are in `tools` as well, which grows while copies of it do not. */
  own?: OWN | undefined;
  /**
   * What you know of the structured content of tools, for instance as Zod schemas: their outputs are typed and checked.
   * One that does not match is a failure (`output-invalid`).
   */
  outputs?: OUTPUTS | undefined;
  /** What schemas are compiled for. Default: `openai`, which other providers accept as well. */
  target?: SchemaTarget | undefined;
  /** Whose limits images and other media keep. Default: the narrowest of all. */
  provider?: Provider | undefined;
  /** The SDK itself (`import * as ai from "ai"`), for programs that bundle it. Otherwise it is loaded and its version checked. */
  sdk?: (Pick<typeof Ai, "jsonSchema"> & Partial<Pick<typeof Ai, "asSchema">>) | undefined;
}

/** A view's tools in the AI SDK's shape. */
export interface AiSdkTools<TOOLS = Record<string, Tool<unknown, ModelResult>>> {
  /**
   * For `tools` of `generateText`, `streamText` and agents. Their outputs are `ModelResult`s. The object grows: a tool that
   * the model finds by a search is added under its own id, and `read_result` once a result was cut. Pass it as it is.
   */
  tools: TOOLS;
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
export async function aiSdkTools(view: View, options?: Untyped): Promise<AiSdkTools>;
/** With `own` or `outputs`, `tools` has the types of these. The others are there too; the SDK calls them dynamic. */
export async function aiSdkTools<OWN extends ToolSet = {}, OUTPUTS extends OutputSchemas = {}>(
  view: View,
  options: AiSdkOptions<OWN, OUTPUTS>,
): Promise<AiSdkTools<OWN & TypedTools<OUTPUTS>>>;
export async function aiSdkTools(view: View, options: AiSdkOptions = {}): Promise<AiSdkTools<ToolSet>> {
  const { own = {}, outputs = {} } = options;
  const { jsonSchema, asSchema } =
    options.sdk?.asSchema || (options.sdk && Object.keys(outputs).length === 0)
      ? { asSchema: undefined, ...options.sdk }
      : await loadSdk(sdk, () => import("ai"));
  const agent = await AgentTools.offer(view, options, {
    target: options.target ?? "openai",
    provider: options.provider,
    canGrow: true,
    own: new Map(Object.keys(own).map((name) => [name, () => undefined])),
  });
  const asksItself = view.canApprove;
  const turns = new Turns();
  const tools: ToolSet = {};
  const check = async (name: string, result: ModelResult): Promise<ModelResult> => {
    const expected = Object.hasOwn(outputs, name) ? outputs[name] : undefined;
    if (!expected || !asSchema || result.isError) return result;
    return checkedOutput(
      name,
      result,
      await asSchema(expected).validate?.(result.structuredContent),
      options,
    );
  };
  const add = (definition: Definition): void => {
    const { name, description, schema, outputSchema, title, server, canAsk } = definition;
    const tool: Tool<unknown, ModelResult> = {
      ...(Object.hasOwn(outputs, name) ? {} : { type: "dynamic" as const }),
      description,
      ...(outputSchema && { outputSchema: jsonSchema<ModelResult>(outputSchemaOf(outputSchema)) }),
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
          .then((result) => check(name, result))
          .catch(outputOfEndedTurn),
      toModelOutput: ({ output }: { output: ModelResult }) => {
        const ended = endedTurns.get(output);
        if (ended) throw ended;
        return modelOutput(output);
      },
    };
    tools[name] = tool as ToolSet[string];
  };
  agent.definitions.forEach(add);
  agent.onAdded = add;
  Object.assign(tools, own);
  const { setAside, instructions } = agent;
  return { tools, setAside, instructions };
}

type Untyped = Omit<AiSdkOptions, "own" | "outputs">;

/** The tools whose outputs have known types. */
export type TypedTools<OUTPUTS extends OutputSchemas> = {
  [ID in keyof OUTPUTS]: Tool<unknown, ModelResult<InferSchema<OUTPUTS[ID]>>>;
};

/** What a tool's output looks like, by what its server says of the structured content. */
function outputSchemaOf(structuredContent: Record<string, unknown>): JSONSchema7 {
  return {
    type: "object",
    properties: {
      parts: { type: "array", items: { type: "object" } },
      isError: { type: "boolean" },
      structuredContent,
    },
    required: ["parts", "isError"],
  };
}

function checkedOutput(
  name: string,
  result: ModelResult,
  checked: { success: true; value: unknown } | { success: false; error: Error } | undefined,
  { errors }: AgentOptions,
): ModelResult {
  if (!checked) return result;
  if (checked.success) return { ...result, structuredContent: checked.value as Record<string, unknown> };
  const message = `The structured content of ${name} is not what this program expects.`;
  const error = new PlugboardError("output-invalid", message, { tool: name, cause: checked.error });
  if (errors === "throw") throw error;
  return failed(failureText(error));
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
