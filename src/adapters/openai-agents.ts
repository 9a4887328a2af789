import type { AgentInputItem, FunctionTool, HostedMCPTool, RunContext, Tool } from "@openai/agents";
import type { View } from "../index.ts";
import { AgentTools } from "./core/agent-tools.ts";
import type { Definition, SetAside } from "./core/definition.ts";
import { hostedServer } from "./core/hosted.ts";
import type { HostedOptions } from "./core/hosted.ts";
import { mentionParts, promptMessages } from "./core/messages.ts";
import type { MessageOptions } from "./core/messages.ts";
import type { AgentOptions } from "./core/options.ts";
import { errorText, textOf } from "./core/parts.ts";
import type { ModelPart, ModelResult } from "./core/parts.ts";
import { loadSdk } from "./core/sdk.ts";
import { errorFunctionOf } from "./openai-agents/errors.ts";
import { dataUrl, fileName, inWords, isDocument, isImage } from "./openai/media.ts";

export { openAiAgentsServer } from "./openai-agents/server.ts";
export type { AgentsServer, AgentsServerOptions } from "./openai-agents/server.ts";
export type { AgentOptions, HostedOptions, MessageOptions, SetAside };

/** Options of `openAiAgentsTools`. */
export interface OpenAiAgentsOptions<OWN extends Tool = Tool> extends AgentOptions {
  /** Your own tools. They are in `tools` as well, which grows while copies of it do not. */
  own?: readonly OWN[] | undefined;
}

/** A view's tools for OpenAI Agents. */
export interface OpenAiAgentsTools<OWN extends Tool = never> {
  /**
   * For `tools` of an agent. The list grows: a tool that the model finds by a search is added under its own id, and
   * `read_result` once a result was cut. Pass it as it is.
   */
  tools: (FunctionTool | OWN)[];
  /** Tools that the model is not shown, and why. */
  setAside: SetAside[];
  /** For the agent's instructions: which servers there are, and how their tools are found. */
  instructions: string;
}

const sdk = { name: "@openai/agents", supported: /^0\.[2-9]\d\./, install: "@openai/agents@0.20" };
const load = () => loadSdk(sdk, () => import("@openai/agents"));

/**
 * A view's tools for the OpenAI Agents SDK. If the view has no `interact.approve`, calls that the rules want approved
 * become interruptions of the run, and one that was approved there is not asked about again. `alwaysApprove` counts for all
 * calls of the tool in the run, as long as the tool is defined alike and no rule wants each call approved by itself
 * (`remember: "never"`). Through `call_tool` it counts for the tool that was asked about, and for no other.
 */
export async function openAiAgentsTools<OWN extends Tool = never>(
  view: View,
  options: OpenAiAgentsOptions<OWN> = {},
): Promise<OpenAiAgentsTools<OWN>> {
  const { tool } = await load();
  const { own = [] } = options;
  const agent = await AgentTools.offer(view, options, {
    target: "openai",
    provider: "openai",
    canGrow: true,
    own: new Map(own.map(({ name }) => [name, () => undefined])),
  });
  const asksItself = view.canApprove;
  const rephrase = errorFunctionOf(options);
  const toolOf = ({ name, description, schema, mayAsk }: Definition): FunctionTool =>
    tool({
      name,
      description,
      // The SDK's type allows no schema as servers write them; it sends them as they are.
      parameters: schema as never,
      strict: false,
      // Where there is a policy, the SDK also asks about broken JSON.
      ...(mayAsk &&
        !asksItself && {
          // The SDK also calls it about calls that were approved.
          needsApproval: async (context: RunContext, input: unknown, callId?: string) =>
            agent.mustAsk(name, input, isApproved(context, name, callId) ? undefined : callId),
        }),
      errorFunction: rephrase && ((_context, error) => rephrase(error)),
      async execute(input, context, details) {
        const callId = details?.toolCall?.callId;
        const result = await agent.call(name, input, {
          callId,
          signal: details?.signal,
          isApproved: !asksItself && isApproved(context, name, callId),
          isAboutMore: isApproved(context, name, crypto.randomUUID()),
          run: context,
        });
        return outputOf(result) as never;
      },
    });
  const tools: (FunctionTool | OWN)[] = [...agent.definitions.map(toolOf), ...own];
  agent.onAdded = (definition) => tools.push(toolOf(definition));
  const { setAside, instructions } = agent;
  return { tools, setAside, instructions };
}

/** A public server as a hosted tool: OpenAI calls it by itself, with the tools that our rules allow, and asks where they do. */
export async function openAiAgentsHostedServer(
  view: View,
  server: string,
  options: HostedOptions = {},
): Promise<HostedMCPTool> {
  const { hostedMcpTool } = await load();
  const { name, url, tools, asked } = await hostedServer(view, server, options);
  const free = tools.filter((tool) => !asked.includes(tool));
  return hostedMcpTool({
    serverLabel: name,
    serverUrl: url,
    allowedTools: tools,
    requireApproval: { always: { toolNames: asked }, never: { toolNames: free } },
    ...(options.authorization !== undefined && { authorization: options.authorization }),
  });
}

/** The messages of a prompt of a server, by its id or `server.prompt`, as input of a run. */
export async function openAiAgentsPrompt(
  view: View,
  id: string,
  args: Record<string, string> = {},
  options: MessageOptions = {},
): Promise<AgentInputItem[]> {
  const messages = await promptMessages(view, id, args, options, "openai");
  return messages.map(({ role, parts }) =>
    role === "user"
      ? { role, content: parts.map(inputPart) }
      : { role, status: "completed", content: [{ type: "output_text", text: textOf(parts) }] },
  );
}

/** A user's text with what its `@server:uri` mentions stand for, as one message. */
export async function openAiAgentsMentions(
  view: View,
  text: string,
  options: MessageOptions = {},
): Promise<AgentInputItem> {
  const attached = await mentionParts(view, text, options, "openai");
  return { role: "user", content: [{ type: "input_text", text }, ...attached.map(inputPart)] };
}

function isApproved(
  context: Pick<RunContext, "isToolApproved"> | undefined,
  toolName: string,
  callId: string | undefined,
): boolean {
  return callId !== undefined && context?.isToolApproved({ toolName, callId }) === true;
}

function outputOf(result: ModelResult): unknown {
  const { parts, isError } = result;
  if (isError || parts.every(({ type }) => type === "text")) return errorText(result, textOf(parts));
  return parts.map((part) => {
    if (part.type === "text") return part;
    const { data, mimeType: mediaType } = part;
    if (isImage(part)) return { type: "image", image: { data, mediaType } };
    if (isDocument(part)) return { type: "file", file: { data, mediaType, filename: fileName(part) } };
    return { type: "text", text: inWords(part) };
  });
}

function inputPart(part: ModelPart) {
  if (part.type === "text") return { type: "input_text" as const, text: part.text };
  if (isImage(part)) return { type: "input_image" as const, image: dataUrl(part) };
  if (isDocument(part)) return { type: "input_file" as const, file: dataUrl(part), filename: fileName(part) };
  return { type: "input_text" as const, text: inWords(part) };
}
