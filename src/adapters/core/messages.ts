import { contentParts, estimateTokens } from "../../index.ts";
import type { View } from "../../index.ts";
import { isRecord } from "../../lib/record.ts";
import { boundedWords } from "./failure.ts";
import { fromOutside, partsFromOutside } from "./outside.ts";
import { mediaBudget } from "./media.ts";
import { modelPart } from "./parts.ts";
import type { ModelPart } from "./parts.ts";

/** How prompts and mentions are turned into messages. */
export interface MessageOptions {
  /** False for models without eyes and ears: media are described in words. Default: true. */
  media?: boolean | undefined;
  /** How many tokens all texts from servers may have together, as estimated; the rest is cut. Default: 25,000. */
  maxTokens?: number | undefined;
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
  { media = true, maxTokens, signal }: MessageOptions,
): Promise<AgentMessage[]> {
  const { id: found, server } = await view.findPrompt(id, { signal });
  const { messages } = await view.getPrompt(found, args, { signal });
  const isUntrusted = view.isUntrusted(server);
  const budget = mediaBudget(media);
  const fitting = textBudget(maxTokens);
  return messages.map(({ role, content }) => {
    const given = Array.isArray(content) ? content : [content];
    const parts = contentParts({ content: given }).map((part) => fitting(modelPart(part, budget)));
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
  { media = true, maxTokens, signal }: MessageOptions,
): Promise<ModelPart[]> {
  const mentions = await view.mentions(text, { signal });
  const budget = mediaBudget(media);
  const fitting = textBudget(maxTokens);
  return mentions.flatMap(({ server, uri, contents, error }): ModelPart[] => {
    const name = `@${server}:${uri}`;
    const isUntrusted = view.isUntrusted(server);
    const marked = (said: string) => (isUntrusted ? fromOutside(server, said) : said);
    if (!contents)
      return [
        {
          type: "text",
          text: `${name} could not be read: ${marked(boundedWords(error?.message ?? "it has no contents"))}`,
        },
      ];
    const resources = contents.contents.filter(isRecord).map((resource) => ({ type: "resource", resource }));
    const parts = contentParts({ content: resources }).map((part) => fitting(modelPart(part, budget)));
    return parts.map((part) =>
      part.type === "text" ? { type: "text", text: `${name}:\n${marked(part.text)}` } : part,
    );
  });
}

/** As many tokens as results have by default. */
const usualTokens = 25_000;

/** Cuts texts, one after the other, so that they have no more tokens together. */
function textBudget(maxTokens = usualTokens): (part: ModelPart) => ModelPart {
  let left = maxTokens;
  return (part) => {
    if (part.type !== "text") return part;
    const { text } = part;
    const tokens = estimateTokens(text);
    const share = tokens <= left ? 1 : Math.max(left, 0) / tokens;
    left -= tokens;
    if (share === 1) return part;
    const kept = text.slice(0, Math.floor(text.length * share)).replace(/[\ud800-\udbff]$/, "");
    return { type: "text", text: `${kept}\n[Cut: ${text.length - kept.length} characters are left out]` };
  };
}
