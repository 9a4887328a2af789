import { contentParts, isMedia, mirroredValue, partToText } from "../../index.ts";
import type { CallResult, ContentPart } from "../../index.ts";

/** One part of what a model gets: a text, or a medium in base64. */
export type ModelPart =
  | { type: "text"; text: string }
  | { type: "image" | "audio" | "file"; data: string; mimeType: string; uri?: string | undefined };

/** The result of a call for a model, whatever the SDK. */
export interface ModelResult {
  parts: ModelPart[];
  isError: boolean;
  /** What the server gives to programs; absent if the call failed. */
  structuredContent?: Record<string, unknown>;
  _meta?: Record<string, unknown>;
}

/**
 * The parts of a result. Structured content is added as JSON unless a text part says the same. Media are described in
 * words if the model cannot see or hear them.
 */
export function modelParts(
  result: Pick<CallResult, "content" | "structuredContent">,
  media = true,
): ModelPart[] {
  const parsed = contentParts(result);
  const parts = parsed.map((part) => modelPart(part, media));
  const { structuredContent } = result;
  if (structuredContent !== undefined && !mirroredValue(parsed, structuredContent))
    parts.push({ type: "text", text: JSON.stringify(structuredContent) });
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

/** What the providers take. Anything else would fail the whole request, and every later one with it. */
const takenTypes = /^(image\/(png|jpeg|webp|gif)|audio\/(wav|x-wav|mpeg|mp3)|application\/pdf)$/;

/** One part of a result, a prompt or a resource. A medium that providers do not take is described in words. */
export function modelPart(part: ContentPart, media: boolean): ModelPart {
  const words: ModelPart = { type: "text", text: partToText(part) };
  if (!isMedia(part) || !media) return words;
  const [, given, inUrl] = /^data:([\w.+/-]*)[^,]*;base64,(.*)$/s.exec(part.data) ?? [];
  const mimeType = (part.mimeType ?? given ?? "").toLowerCase().replace("image/jpg", "image/jpeg");
  const data = plainBase64(inUrl ?? part.data);
  if (!takenTypes.test(mimeType) || data === undefined) return words;
  const { kind, uri } = part;
  return { type: kind === "blob" ? "file" : kind, data, mimeType, ...(uri && { uri }) };
}

/** Without line ends and URL-safe letters; undefined for what is no base64. */
function plainBase64(data: string): string | undefined {
  const plain = /[\s_-]/.test(data)
    ? data.replaceAll(/\s+/g, "").replaceAll("-", "+").replaceAll("_", "/")
    : data;
  return /^[A-Za-z0-9+/]+={0,2}$/.test(plain) ? plain : undefined;
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
