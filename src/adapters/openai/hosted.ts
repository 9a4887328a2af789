import type OpenAI from "openai";
import type { View } from "../../index.ts";
import { hostedServer } from "../core/hosted.ts";
import type { HostedOptions } from "../core/hosted.ts";

/**
 * A public server as an `mcp` tool of Responses: OpenAI calls it by itself, with the tools that our rules allow, and asks
 * for approval where they do.
 */
export async function openAiHostedServer(
  view: View,
  server: string,
  options: HostedOptions = {},
): Promise<OpenAI.Responses.Tool.Mcp> {
  const { name, url, tools, asked } = await hostedServer(view, server, options);
  const free = tools.filter((tool) => !asked.includes(tool));
  return {
    type: "mcp",
    server_label: name,
    server_url: url,
    allowed_tools: tools,
    require_approval: { always: { tool_names: asked }, never: { tool_names: free } },
    ...(options.authorization !== undefined && { authorization: options.authorization }),
  };
}
