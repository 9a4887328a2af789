import { describeMedia } from "../content/media.ts";
import { mirroredValue } from "../content/mirror.ts";
import { partToText } from "../content/text.ts";
import { type ContentPart, contentParts, isMedia, jsonText, type ToolResult } from "../content/parts.ts";

/** One part of a kept result, and where it is in the text. */
export interface ResultPart {
  /** The part's index in `content`, or `structured`. */
  part: string;
  kind: ContentPart["kind"] | "structured";
  mimeType?: string;
  uri?: string;
  start: number;
  end: number;
}

export interface ResultDocument {
  text: string;
  /** The end of the text that is read by default; the parts after it are only read on request. */
  viewEnd: number;
  parts: ResultPart[];
}

/**
 * Converts a whole result to one text for storage: first all readable text with placeholders for media, then the media
 * themselves (base64) and structured content that the text repeats. If one text is all of it, it is stored once.
 */
export function resultDocument(
  result: ToolResult,
  mirrored = mirroredValue(contentParts(result), result.structuredContent),
): ResultDocument {
  const contents = contentParts(result);
  const pieces: string[] = [];
  const parts: ResultPart[] = [];
  let length = 0;
  const append = (text: string) => {
    pieces.push(text);
    length += text.length;
    return { start: length - text.length, end: length };
  };
  const addStructured = (place: { start: number; end: number }) => {
    parts.push({ part: "structured", kind: "structured", ...place });
  };

  const hasStructured = result.structuredContent !== undefined;
  contents.forEach((part, index) => {
    if (index > 0) append("\n");
    if (isMedia(part)) append(`[${describeMedia(part)}: part ${index}]`);
    else parts.push({ part: String(index), ...labels(part), ...append(partToText(part)) });
  });
  if (hasStructured && !mirrored) {
    if (contents.length > 0) append("\n");
    addStructured(append(jsonText(result.structuredContent, 2)));
  }
  const viewEnd = length;
  contents.forEach((part, index) => {
    if (isMedia(part)) parts.push({ part: String(index), ...labels(part), ...append(part.data) });
  });
  if (hasStructured && mirrored) {
    const [text, ...more] = parts.filter(({ kind }) => kind === "text");
    const isText = text && more.length === 0 && mirrored.value === result.structuredContent;
    addStructured(isText ? { start: text.start, end: text.end } : append(jsonText(result.structuredContent)));
  }
  return { text: pieces.join(""), viewEnd, parts };
}

function labels(part: ContentPart): Pick<ResultPart, "kind" | "mimeType" | "uri"> {
  const mimeType = "mimeType" in part ? part.mimeType : undefined;
  const uri = "uri" in part ? part.uri : undefined;
  return { kind: part.kind, ...(mimeType && { mimeType }), ...(uri && { uri }) };
}
