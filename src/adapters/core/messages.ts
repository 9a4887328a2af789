import { contentParts } from "../../index.ts";
import type { View } from "../../index.ts";
import { isRecord } from "../../lib/record.ts";
import { fromOutside, partsFromOutside } from "./outside.ts";
import { modelPart } from "./parts.ts";
import type { ModelPart } from "./parts.ts";

/** How prompts and mentions are turned into messages. */
export interface MessageOptions {
  /** False for models without eyes and ears: media are described in words. Default: true. */
  media?: boolean | undefined;
  signal?: AbortSignal | undefined;
}

export interface AgentMessage {
  role: "user" | "assistant";
  parts: ModelPart[];
}

/** The messages of a prompt, by its id or `server.prompt`. */
export async function promptMessages(
  view: View,
  id: string,
  args: Record<string, string>,
  { media = true, signal }: MessageOptions,
): Promise<AgentMessage[]> {
  const { id: found, server } = await view.findPrompt(id, { signal });
  const { messages } = await view.getPrompt(found, args, { signal });
  const isUntrusted = view.isUntrusted(server);
  return messages.map(({ role, content }) => {
    const given = Array.isArray(content) ? content : [content];
    const parts = contentParts({ content: given }).map((part) => modelPart(part, media));
    return {
      role: role === "assistant" ? "assistant" : "user",
      parts: isUntrusted ? partsFromOutside(server, parts) : parts,
    };
  });
}

/** What every `@server:uri` in a text stands for. One that cannot be read is said to be so. */
export async function mentionParts(
  view: View,
  text: string,
  { media = true, signal }: MessageOptions,
): Promise<ModelPart[]> {
  const mentions = await view.mentions(text, { signal });
  return mentions.flatMap(({ server, uri, contents, error }): ModelPart[] => {
    const name = `@${server}:${uri}`;
    const isUntrusted = view.isUntrusted(server);
    const marked = (said: string) => (isUntrusted ? fromOutside(server, said) : said);
    if (!contents)
      return [
        {
          type: "text",
          text: `${name} could not be read: ${marked(error?.message ?? "it has no contents")}`,
        },
      ];
    const resources = contents.contents.filter(isRecord).map((resource) => ({ type: "resource", resource }));
    const parts = contentParts({ content: resources }).map((part) => modelPart(part, media));
    return parts.map((part) =>
      part.type === "text" ? { type: "text", text: `${name}:\n${marked(part.text)}` } : part,
    );
  });
}
