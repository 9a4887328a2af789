import { estimateTokens } from "../../host.ts";
import { contentParts } from "../../index.ts";
import type { View } from "../../index.ts";
import { isRecord } from "../../lib/record.ts";
import { boundedWords } from "./failure.ts";
import { fromOutside, partsFromOutside } from "./outside.ts";
import { mediaBudget } from "./media.ts";
import type { Provider } from "./media.ts";
import { modelPart } from "./parts.ts";
import type { ModelPart } from "./parts.ts";

/** How prompts and mentions are turned into messages. */
export interface MessageOptions {
  /** False for models without eyes and ears: media are described in words. Default: true. */
  media?: boolean | undefined;
  /** How many tokens all texts from servers may have together, as estimated; the rest is cut. Default: 25,000. */
  maxTokens?: number | undefined;
  /** Whose limits media keep, for SDKs that talk to any provider. Default: the narrowest of all. */
  provider?: Provider | undefined;
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
  provider: Provider | undefined,
): Promise<AgentMessage[]> {
  const { id: found, server } = await view.findPrompt(id, { signal });
  const { messages } = await view.getPrompt(found, args, { signal });
  const isUntrusted = view.isUntrusted(server);
  const budget = mediaBudget(media, provider);
  const fitting = textBudget(maxTokens);
  const said: AgentMessage[] = [];
  for (const { role, content } of messages) {
    const parts: ModelPart[] = [];
    for (const part of contentParts({ content: Array.isArray(content) ? content : [content] }))
      parts.push(fitting(await modelPart(part, budget)));
    said.push({
      role: role === "assistant" ? "assistant" : "user",
      parts: isUntrusted ? partsFromOutside(server, parts) : parts,
    });
  }
  return said;
}

/** What every `@server:uri` in a text stands for. One that cannot be read is said to be so. */
export async function mentionParts(
  view: View,
  text: string,
  { media = true, maxTokens, signal }: MessageOptions,
  provider: Provider | undefined,
): Promise<ModelPart[]> {
  const mentions = await view.mentions(text, { signal });
  const budget = mediaBudget(media, provider);
  const fitting = textBudget(maxTokens);
  const attached: ModelPart[] = [];
  for (const { server, uri, contents, error } of mentions) {
    const name = `@${server}:${uri}`;
    const isUntrusted = view.isUntrusted(server);
    const marked = (said: string) => (isUntrusted ? fromOutside(server, said) : said);
    if (!contents) {
      const why = marked(boundedWords(error?.message ?? "it has no contents"));
      attached.push({ type: "text", text: `${name} could not be read: ${why}` });
      continue;
    }
    const resources = contents.contents.filter(isRecord).map((resource) => ({ type: "resource", resource }));
    for (const one of contentParts({ content: resources })) {
      const part = fitting(await modelPart(one, budget));
      attached.push(part.type === "text" ? { type: "text", text: `${name}:\n${marked(part.text)}` } : part);
    }
  }
  return attached;
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
