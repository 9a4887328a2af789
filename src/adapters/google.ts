import type { CallableTool, Content, FunctionCall, FunctionDeclaration, Part } from "@google/genai";
import type { View } from "../index.ts";
import { AgentTools } from "./core/agent-tools.ts";
import type { Definition, SetAside } from "./core/definition.ts";
import { mentionParts, promptMessages } from "./core/messages.ts";
import type { MessageOptions } from "./core/messages.ts";
import { ownRuns } from "./core/own-tools.ts";
import type { OwnTool } from "./core/own-tools.ts";
import type { AgentOptions, AnswerOptions } from "./core/options.ts";
import { textOf } from "./core/parts.ts";
import type { ModelPart, ModelResult } from "./core/parts.ts";
import { assertSupported } from "./core/sdk.ts";
import { Turn } from "./core/turn.ts";

export type { AgentOptions, OwnTool, MessageOptions, SetAside };

/** Options of `googleTools`. */
export interface GoogleOptions extends AgentOptions {
  /** Your own tools, beside those of the view: they are offered with them, and `answer` runs them. */
  own?: readonly OwnTool<FunctionDeclaration & { name: string }>[] | undefined;
}

/** A view's tools for Gemini. */
export interface GoogleTools {
  /**
   * For `config.tools` of each request. Its declarations grow: a tool that the model finds by a search is added under its
   * own id, and `read_result` once a result was cut.
   */
  tool: { functionDeclarations: FunctionDeclaration[] };
  /** Answers one call with a part for the next content of the user. */
  call(call: FunctionCall, options?: AnswerOptions): Promise<Part>;
  /**
   * Answers all calls of a response (`response.functionCalls`) at once, in their order; empty if there are none. Throws if a
   * person ended the turn (`endsTurn`): the model must not go on.
   */
  answer(response: { functionCalls?: FunctionCall[] | undefined }, options?: AnswerOptions): Promise<Part[]>;
  /**
   * The same for the SDK's automatic function calling: in place of `tool`, it runs the calls by itself. The SDK gives all
   * calls of a response to each such tool, so pass other tools as `own`.
   */
  callable(options?: AnswerOptions): CallableTool;
  /** Tools that the model is not shown, and why. */
  setAside: SetAside[];
  /** For `config.systemInstruction`: which servers there are, and how their tools are found. */
  instructions: string;
}

/** Only its types are used: the adapter makes plain objects. */
const sdk = { name: "@google/genai", supported: /^3\./, install: "@google/genai@3" };

/** A view's tools for Gemini. Where the rules want a call approved, the view's `interact.approve` is asked. */
export async function googleTools(view: View, options: GoogleOptions = {}): Promise<GoogleTools> {
  assertSupported(sdk);
  const { own = [] } = options;
  const agent = await AgentTools.offer(view, options, {
    target: "gemini",
    provider: "google",
    canGrow: true,
    own: ownRuns(own, ({ name }) => name),
  });
  const functionDeclarations = [...agent.definitions.map(declarationOf), ...own.map(({ tool }) => tool)];
  agent.onAdded = (definition) => functionDeclarations.push(declarationOf(definition));
  const { setAside, instructions } = agent;
  const made = async ({ id, name = "", args }: FunctionCall, { signal, meta }: AnswerOptions, turn?: Turn) =>
    responseOf(id, name, await agent.call(name, args ?? {}, { callId: id, signal, meta, turn }));
  const tool = { functionDeclarations };
  const answer: GoogleTools["answer"] = ({ functionCalls = [] }, given = {}) => {
    const turn = new Turn();
    return Promise.all(functionCalls.map((one) => made(one, given, turn)));
  };
  return {
    tool,
    setAside,
    instructions,
    call: (one, given = {}) => made(one, given),
    answer,
    callable: (given) => ({
      tool: async () => tool,
      callTool: (functionCalls) => answer({ functionCalls }, given),
    }),
  };
}

/** The messages of a prompt of a server, by its id or `server.prompt`. */
export async function googlePrompt(
  view: View,
  id: string,
  args: Record<string, string> = {},
  options: MessageOptions = {},
): Promise<Content[]> {
  const messages = await promptMessages(view, id, args, options, "google");
  return messages.map(({ role, parts }) => ({
    role: role === "assistant" ? "model" : "user",
    parts: parts.map(partOf),
  }));
}

/** A user's text with what its `@server:uri` mentions stand for, as the parts of a content. */
export async function googleMentions(
  view: View,
  text: string,
  options: MessageOptions = {},
): Promise<Part[]> {
  const attached = await mentionParts(view, text, options, "google");
  return [{ text }, ...attached.map(partOf)];
}

function declarationOf({ name, description, schema }: Definition): FunctionDeclaration {
  return { name, description, parametersJsonSchema: schema };
}

function responseOf(id: string | undefined, name: string, { parts, isError }: ModelResult): Part {
  const text = textOf(parts.filter(({ type }) => type === "text"));
  const media = parts.flatMap((part) => (part.type === "text" ? [] : [inline(part)]));
  return {
    functionResponse: {
      ...(id !== undefined && { id }),
      name,
      response: isError ? { error: text } : { output: text },
      ...(media.length > 0 && { parts: media }),
    },
  };
}

function partOf(part: ModelPart): Part {
  return part.type === "text" ? { text: part.text } : inline(part);
}

function inline({ data, mimeType }: Exclude<ModelPart, { type: "text" }>) {
  return { inlineData: { data, mimeType } };
}
