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
import { estimateTokens, guessTokens } from "./token-estimate.ts";

export interface Weighed {
  parts: { part: ContentPart; tokens: number }[];
  /** `tokens` is 0 if the text parts contain the same value. */
  structured: { tokens: number; mirrored: { value: unknown } | undefined } | undefined;
  total: number;
}

/** Estimates the tokens of a result. Structured content that the text repeats is counted once. */
export function weigh(result: ToolResult, { maxTokens }: { maxTokens?: number } = {}): Weighed {
  // What is far above the limit is cut anyway, so it need not be measured exactly.
  const exactBelow = maxTokens === undefined || maxTokens === Infinity ? undefined : 2 * maxTokens;
  const tokensOf = (text: string) => estimateTokens(text, exactBelow);
  const parts = contentParts(result).map((part) => ({ part, tokens: partTokens(part, tokensOf) }));
  const structured = weighStructured(result, parts, tokensOf);
  const total = parts.reduce((sum, { tokens }) => sum + tokens, structured?.tokens ?? 0);
  return { parts, structured, total };
}

/**
 * A cheap check that settles nearly every call: true if no estimate could reach the limit at which a result is cut, and
 * it is not so large that it needs a note. `bytes` is the size of the server's message, if it is known.
 */
export function isSurelyBelow(
  result: ToolResult,
  { warnTokens, maxTokens }: { warnTokens: number; maxTokens: number },
  bytes?: number,
): boolean {
  const parts = contentParts(result);
  let characters = 0;
  for (const part of parts) {
    if (part.kind !== "text") return false;
    characters += part.text.length;
  }
  const written = result.structuredContent === undefined ? 0 : structuredSize(result, bytes, characters);
  const most = (characters + written) * maxTokensPerCharacter;
  if (most < Math.min(warnTokens, maxTokens)) return true;
  if (most >= maxTokens) return false;
  const guess = parts.reduce((sum, part) => sum + (part.kind === "text" ? guessTokens(part.text) : 0), 0);
  const density = characters === 0 ? maxTokensPerCharacter : guess / characters;
  return (guess + written * density) * guessMargin < warnTokens;
}

const guessMargin = 1.25;

/** At most how many characters structured content has as JSON. A message is never shorter than what is in it. */
function structuredSize(result: ToolResult, bytes: number | undefined, textLength: number): number {
  return bytes === undefined ? jsonText(result.structuredContent).length : Math.max(0, bytes - textLength);
}

/** Reached by single punctuation characters between letters. */
const maxTokensPerCharacter = 1.1;

function weighStructured(
  result: ToolResult,
  parts: Weighed["parts"],
  tokensOf: (text: string) => number,
): Weighed["structured"] {
  if (result.structuredContent === undefined) return undefined;
  const contents = parts.map(({ part }) => part);
  const mirrored = mirroredValue(contents, result.structuredContent);
  return { mirrored, tokens: mirrored ? 0 : tokensOf(jsonText(result.structuredContent)) };
}

function partTokens(part: ContentPart, tokensOf: (text: string) => number): number {
  if (isMedia(part)) return mediaTokens(part);
  if (part.kind === "text" || part.kind === "resource") return tokensOf(part.text);
  if (part.kind === "link") return estimateTokens(`${part.uri} ${part.name ?? ""}`) + 4;
  return tokensOf(jsonText(part.value));
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
