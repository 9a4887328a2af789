import { base64Bytes } from "../content/media.ts";
import { mirroredValue } from "../content/mirror.ts";
import {
  type ContentPart,
  contentParts,
  isMedia,
  jsonText,
  type MediaPart,
  type ToolResult,
} from "../content/parts.ts";
import { estimateTokens } from "./token-estimate.ts";

export interface Weighed {
  parts: { part: ContentPart; tokens: number }[];
  /** `tokens` is 0 if the text parts contain the same value. */
  structured: { tokens: number; isMirrored: boolean } | undefined;
  total: number;
}

/** Estimates the tokens of a result. Structured content that the text repeats is counted once. */
export function weigh(result: ToolResult): Weighed {
  const parts = contentParts(result).map((part) => ({ part, tokens: partTokens(part) }));
  const structured = weighStructured(result, parts);
  const total = parts.reduce((sum, { tokens }) => sum + tokens, structured?.tokens ?? 0);
  return { parts, structured, total };
}

/** True if no estimate could reach `tokens`: a cheap check that settles nearly every call. */
export function isSurelyBelow(result: ToolResult, tokens: number): boolean {
  let characters = result.structuredContent === undefined ? 0 : jsonText(result.structuredContent).length;
  for (const part of contentParts(result)) {
    if (part.kind !== "text") return false;
    characters += part.text.length;
  }
  return characters * maxTokensPerCharacter < tokens;
}

/** Reached by single punctuation characters between letters. */
const maxTokensPerCharacter = 1.1;

function weighStructured(result: ToolResult, parts: Weighed["parts"]): Weighed["structured"] {
  if (result.structuredContent === undefined) return undefined;
  const contents = parts.map(({ part }) => part);
  const isMirrored = mirroredValue(contents, result.structuredContent) !== undefined;
  return { isMirrored, tokens: isMirrored ? 0 : estimateTokens(jsonText(result.structuredContent)) };
}

function partTokens(part: ContentPart): number {
  if (isMedia(part)) return mediaTokens(part);
  if (part.kind === "text" || part.kind === "resource") return estimateTokens(part.text);
  if (part.kind === "link") return estimateTokens(`${part.uri} ${part.name ?? ""}`) + 4;
  return estimateTokens(jsonText(part.value));
}

/**
 * Models scale images down to about 1.5 megapixels, which is about 1,600 tokens whatever the file size. Most providers
 * reject very large files, so those count more. Audio and documents count by size: a token is about 30 ms of
 * compressed speech.
 */
function mediaTokens(part: MediaPart): number {
  const bytes = base64Bytes(part.data);
  return part.kind === "image"
    ? Math.max(1600, Math.ceil(bytes / 1024))
    : Math.max(32, Math.ceil(bytes / 256));
}
