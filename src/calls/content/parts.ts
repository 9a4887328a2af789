import { stringifyExact } from "../../lib/exact-json.ts";
import { isRecord } from "../../lib/record.ts";

/** A server's result of a tool call. Unknown fields are passed on unchanged. */
export interface ToolResult {
  content?: unknown;
  structuredContent?: unknown;
  isError?: unknown;
  _meta?: unknown;
}

/** One parsed part of a result's content. Unknown parts become `other`, never an error. */
export type ContentPart =
  | { kind: "text"; text: string }
  | { kind: "resource"; text: string; uri: string; mimeType?: string | undefined }
  | MediaPart
  | { kind: "link"; uri: string; name?: string | undefined; mimeType?: string | undefined }
  | { kind: "other"; value: unknown };

export interface MediaPart {
  kind: "image" | "audio" | "blob";
  /** Base64 as the server sent it, not validated. */
  data: string;
  mimeType?: string | undefined;
  uri?: string | undefined;
}

/** The parts of a result, parsed. */
export function contentParts(result: ToolResult): ContentPart[] {
  return Array.isArray(result.content) ? result.content.map(parseContentPart) : [];
}

/** True for images, audio and binary resources. */
export function isMedia(part: ContentPart): part is MediaPart {
  return part.kind === "image" || part.kind === "audio" || part.kind === "blob";
}

/** The same part with its text replaced. */
export function withText(raw: unknown, text: string): unknown {
  if (!isRecord(raw)) return { type: "text", text };
  return isRecord(raw.resource) ? { ...raw, resource: { ...raw.resource, text } } : { ...raw, text };
}

/** JSON for people and models. Returns a placeholder for a value nested too deeply to serialize. */
export function jsonText(value: unknown, indent?: number): string {
  try {
    return stringifyExact(value, indent) ?? "null";
  } catch {
    return "[a value that cannot be serialized as JSON]";
  }
}

function parseContentPart(value: unknown): ContentPart {
  if (!isRecord(value)) return { kind: "other", value };
  const { type, text, data, resource, uri } = value;
  const mimeType = optionalText(value.mimeType);
  if (type === "text" && typeof text === "string") return { kind: "text", text };
  if ((type === "image" || type === "audio") && typeof data === "string")
    return { kind: type, data, mimeType };
  if (type === "resource_link" && typeof uri === "string") {
    return { kind: "link", uri, mimeType, name: optionalText(value.title) ?? optionalText(value.name) };
  }
  return type === "resource" && isRecord(resource)
    ? parseResource(value, resource)
    : { kind: "other", value };
}

function parseResource(value: unknown, resource: Record<string, unknown>): ContentPart {
  const uri = optionalText(resource.uri) ?? "";
  const mimeType = optionalText(resource.mimeType);
  if (typeof resource.text === "string") return { kind: "resource", text: resource.text, uri, mimeType };
  if (typeof resource.blob !== "string") return { kind: "other", value };
  const kind = mimeType?.startsWith("image/") ? "image" : mimeType?.startsWith("audio/") ? "audio" : "blob";
  return { kind, data: resource.blob, uri, mimeType };
}

function optionalText(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}
