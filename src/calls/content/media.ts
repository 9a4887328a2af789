import { formatBytes } from "../../lib/format-bytes.ts";
import { printable } from "../../lib/printable.ts";
import { contentParts, isMedia, type MediaPart, type ToolResult } from "./parts.ts";

/** An image, audio or binary resource, to save as a file. */
export interface MediaFile {
  kind: MediaPart["kind"];
  mimeType: string;
  extension: string;
  /** A safe file name: no folders, no leading dot, no characters that a shell or terminal interprets. */
  name: string;
  /** The decoded bytes; `undefined` if the data is not valid base64. */
  bytes(): Buffer | undefined;
}

/** The images, audio and binary resources of a result, to save as files. Decodes nothing until `bytes()` is called. */
export function mediaParts(result: ToolResult): MediaFile[] {
  return contentParts(result)
    .filter(isMedia)
    .map((part, index) => {
      const { data, mimeType = fallbackTypes[part.kind] } = splitDataUrl(part);
      const extension = extensionOf(mimeType);
      const name = fileName(part.uri) ?? `${part.kind}-${index + 1}.${extension}`;
      return { kind: part.kind, mimeType, extension, name, bytes: () => decodeBase64(data) };
    });
}

/** The placeholder for a part that is not shown: `image image/png 12 KB`. */
export function describeMedia(part: MediaPart): string {
  const { data, mimeType } = splitDataUrl(part);
  const from = part.uri ? ` ${oneLine(part.uri, 200)}` : "";
  return `${part.kind} ${oneLine(mimeType ?? "of unknown type", 80)} ${formatBytes(base64Bytes(data))}${from}`;
}

export function base64Bytes(data: string): number {
  const padding = data.endsWith("==") ? 2 : data.endsWith("=") ? 1 : 0;
  return Math.max(0, Math.floor((data.length * 3) / 4) - padding);
}

/** Accepts standard and URL-safe base64, with or without padding and line ends; `undefined` for anything else. */
export function decodeBase64(data: string): Buffer | undefined {
  const compact = /\s/.test(data) ? data.replaceAll(/\s+/g, "") : data;
  if (compact === "" || /[^A-Za-z0-9+/_=-]/.test(compact)) return undefined;
  const end = compact.indexOf("=");
  const digits = end === -1 ? compact.length : end;
  if (digits % 4 === 1 || compact.length - digits > 2 || !/^=*$/.test(compact.slice(digits)))
    return undefined;
  return Buffer.from(compact, "base64");
}

export function oneLine(text: string, limit: number): string {
  const safe = printable(text.slice(0, limit), { oneLine: true });
  return text.length > limit ? `${safe}…` : safe;
}

const fallbackTypes = {
  image: "application/octet-stream",
  audio: "application/octet-stream",
  blob: "application/octet-stream",
};

/** Some servers send a `data:` URL instead of plain base64. */
function splitDataUrl(part: MediaPart): { data: string; mimeType?: string | undefined } {
  const prefix = /^data:([\w.+/-]{0,100})(?:;[^,;]{1,100}){0,4};base64,/.exec(part.data.slice(0, 600));
  if (!prefix) return part;
  return { data: part.data.slice(prefix[0].length), mimeType: part.mimeType ?? (prefix[1] || undefined) };
}

const extensions: Record<string, string> = {
  "image/jpeg": "jpg",
  "image/svg+xml": "svg",
  "image/x-icon": "ico",
  "audio/mpeg": "mp3",
  "audio/x-wav": "wav",
  "audio/mp4": "m4a",
  "text/plain": "txt",
  "text/markdown": "md",
  "application/gzip": "gz",
  "application/octet-stream": "bin",
};

function extensionOf(mimeType: string): string {
  const type = (mimeType.split(";")[0] ?? "").trim().toLowerCase();
  const known = Object.hasOwn(extensions, type) ? extensions[type] : undefined;
  return known ?? /^[a-z]+\/(?:x-)?([a-z0-9]{1,8})$/.exec(type)?.[1] ?? "bin";
}

function fileName(uri: string | undefined): string | undefined {
  const last =
    uri
      ?.split(/[?#]/, 1)[0]
      ?.slice(-200)
      .split(/[/\\:]/)
      .at(-1) ?? "";
  const safe = last
    .replaceAll(/[^A-Za-z0-9._-]+/g, "_")
    .replace(/^[._-]+/, "")
    .slice(-80);
  return /[A-Za-z0-9]\.[A-Za-z0-9]+$/.test(safe) ? safe : undefined;
}
