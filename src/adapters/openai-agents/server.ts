import type { MCPServer, MCPServerWithResources } from "@openai/agents";
import type { View } from "../../index.ts";
import { AgentTools } from "../core/agent-tools.ts";
import type { AgentOptions } from "../core/options.ts";
import { errorText, textOf } from "../core/parts.ts";
import type { ModelResult } from "../core/parts.ts";
import { AgentResources } from "../core/resources.ts";
import { inWords, isImage } from "../openai/media.ts";
import { errorFunctionOf } from "./errors.ts";

/** What the SDK's own servers, such as `MCPServerStdio`, can be made with as well. */
type SdkOptions = Pick<
  MCPServer,
  | "toolFilter"
  | "toolMetaResolver"
  | "customDataExtractor"
  | "toolInputGuardrails"
  | "toolOutputGuardrails"
  | "useStructuredContent"
>;

/** Options of `openAiAgentsServer`. */
export interface AgentsServerOptions extends AgentOptions, SdkOptions {
  name?: string | undefined;
}

/** A view as a server of the SDK, with the resources of its servers. A URI that several of them have names its server. */
export type AgentsServer = MCPServerWithResources & Required<Pick<MCPServer, "callToolResult">>;

/**
 * A view as an `MCPServer` for an agent's `mcpServers`, also one that was made before. What changes in the view is there
 * in the next turn. `close` leaves the hub open. The SDK asks nobody about such tools, so the view's `interact.approve` is asked.
 */
export function openAiAgentsServer(view: View, options: AgentsServerOptions = {}): AgentsServer {
  const shape = { target: "openai", provider: "openai", canGrow: true } as const;
  let known: { digest: string; agent: AgentTools } | undefined;
  const renewed = async (): Promise<AgentTools> => {
    if (known && known.digest === (await view.digest("tools"))) return known.agent;
    const agent = await AgentTools.offer(view, options, shape, known?.agent);
    // Listing may have changed what is known.
    known = { digest: await view.digest("tools"), agent };
    return agent;
  };
  const { name = "plugboard", toolFilter, toolMetaResolver, customDataExtractor } = options;
  const { toolInputGuardrails, toolOutputGuardrails, useStructuredContent } = options;
  const rephrase = errorFunctionOf(options);
  const call: AgentsServer["callToolResult"] = async (tool, args, meta, { signal } = {}) => {
    const agent = known?.agent ?? (await renewed());
    return resultOf(await agent.call(tool, args ?? {}, { signal, meta }));
  };
  const resources = new AgentResources(view);
  return {
    name,
    cacheToolsList: false,
    ...(toolFilter && { toolFilter }),
    ...(toolMetaResolver && { toolMetaResolver }),
    ...(customDataExtractor && { customDataExtractor }),
    ...(toolInputGuardrails && { toolInputGuardrails }),
    ...(toolOutputGuardrails && { toolOutputGuardrails }),
    ...(useStructuredContent !== undefined && { useStructuredContent }),
    errorFunction: rephrase && (({ error }) => rephrase(error)),
    connect: async () => undefined,
    close: async () => undefined,
    // Nothing is listed from a cache.
    invalidateToolsCache: async () => undefined,
    async listTools() {
      const { definitions } = await renewed();
      return definitions.map(({ name, description, schema }) => ({
        name,
        description,
        inputSchema: schema as never,
      }));
    },
    callToolResult: call,
    callTool: async (...given) => (await call(...given)).content,
    listResources: async () => ({ resources: (await resources.resources()) as never }),
    listResourceTemplates: async () => ({ resourceTemplates: (await resources.templates()) as never }),
    readResource: async (uri) => (await resources.read(uri)) as never,
  };
}

/** A result as MCP has it. Words of an untrusted server are marked in the content only, so its structured content is left out. */
function resultOf(result: ModelResult): Awaited<ReturnType<AgentsServer["callToolResult"]>> {
  const { structuredContent, isError, isFromOutside, _meta } = result;
  return {
    content: contentOf(result) as never,
    ...(isError && { isError }),
    ...(structuredContent && !isFromOutside && { structuredContent }),
    ...(_meta && { _meta }),
  };
}

/** Content as MCP has it. The SDK knows texts and images. */
function contentOf(result: ModelResult): unknown[] {
  if (result.isError) return [{ type: "text", text: errorText(result, textOf(result.parts)) }];
  return result.parts.map((part) => {
    if (part.type === "text") return part;
    return isImage(part)
      ? { type: "image", data: part.data, mimeType: part.mimeType }
      : { type: "text", text: inWords(part) };
  });
}
