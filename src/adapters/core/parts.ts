import { isMedia, mirroredValue, partToText } from "../../host.ts";
import { contentParts } from "../../index.ts";
import type { CallResult, ContentPart } from "../../index.ts";
import { stringifyExact } from "../../lib/exact-json.ts";
import { mediaBudget, takenMedium } from "./media.ts";
import type { MediaBudget, Provider } from "./media.ts";

/** One part of what a model gets: a text, or a medium in base64. */
export type ModelPart =
  | { type: "text"; text: string }
  | { type: "image" | "audio" | "file"; data: string; mimeType: string; uri?: string | undefined };

/** The result of a call for a model, whatever the SDK. */
export interface ModelResult<STRUCTURED = Record<string, unknown>> {
  parts: ModelPart[];
  isError: boolean;
  /** What the server gives to programs; absent if the call failed. */
  structuredContent?: STRUCTURED;
  _meta?: Record<string, unknown>;
  /** True if an untrusted server said it. The parts are marked as data from outside, and nothing else is. */
  isFromOutside?: boolean;
}

/**
 * The parts of a result. Structured content is added as JSON unless a text part says the same. Media are described in
 * words if the model cannot see or hear them, or if they are too many or too large.
 */
export async function modelParts(
  result: Pick<CallResult, "content" | "structuredContent">,
  media = true,
  provider?: Provider,
): Promise<ModelPart[]> {
  const parsed = contentParts(result);
  const budget = mediaBudget(media, provider);
  const parts: ModelPart[] = [];
  for (const part of parsed) parts.push(await modelPart(part, budget));
  const { structuredContent } = result;
  if (structuredContent !== undefined && !mirroredValue(parsed, structuredContent))
    parts.push({ type: "text", text: stringifyExact(structuredContent) });
  // Some providers refuse a result without any text.
  return parts.length > 0 ? parts : [{ type: "text", text: "(The result is empty.)" }];
}

export function modelResult(result: CallResult, parts: ModelPart[]): ModelResult {
  const { structuredContent, _meta } = result;
  return {
    parts,
    isError: result.isError === true,
    ...(structuredContent && { structuredContent }),
    ...(_meta && { _meta }),
  };
}

/** One part of a result, a prompt or a resource. A medium that cannot be given to a model is described in words. */
export async function modelPart(part: ContentPart, media: MediaBudget): Promise<ModelPart> {
  const medium = isMedia(part) ? await takenMedium(part, media) : undefined;
  if (!medium || !isMedia(part)) return { type: "text", text: partToText(part).toWellFormed() };
  const { kind, uri } = part;
  return { type: kind === "blob" ? "file" : kind, ...medium, ...(uri && { uri }) };
}

/** All text of a result, for SDKs and errors that have only that. */
export function textOf(parts: readonly ModelPart[]): string {
  return parts
    .map((part) => (part.type === "text" ? part.text : `[${part.type} ${part.mimeType}]`))
    .join("\n");
}

export function failed(text: string): ModelResult {
  return { parts: [{ type: "text", text }], isError: true };
}

/** The text of a result for APIs that have no mark for errors. */
export function errorText({ isError }: ModelResult, text: string): string {
  return isError ? `Error: ${text}` : text;
}
