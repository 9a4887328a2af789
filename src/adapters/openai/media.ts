import type { ModelPart } from "../core/parts.ts";

type Medium = Exclude<ModelPart, { type: "text" }>;

/** The images that OpenAI's models read. Others would fail the whole request. */
const images = new Set(["image/png", "image/jpeg", "image/webp", "image/gif"]);

export function isImage(part: ModelPart): boolean {
  return part.type === "image" && images.has(part.mimeType);
}

export function dataUrl({ mimeType, data }: Medium): string {
  return `data:${mimeType};base64,${data}`;
}

/** A file needs a name with an ending that says what it is. */
export function fileName({ mimeType, uri }: Medium): string {
  const [, last] = /([\w.-]{1,80}\.\w{1,8})$/.exec(uri ?? "") ?? [];
  return last ?? `file.${/\/([a-z0-9]{1,8})$/.exec(mimeType)?.[1] ?? "bin"}`;
}

/** The only files that OpenAI's models take as such. */
export function isDocument(part: ModelPart): boolean {
  return part.type === "file" && part.mimeType === "application/pdf";
}

/** A medium that the model is not given. */
export function inWords({ type, mimeType, uri }: Medium): string {
  return `[${type} ${mimeType}${uri ? ` ${uri}` : ""}: not shown]`;
}
