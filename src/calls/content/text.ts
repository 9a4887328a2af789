import { describeMedia } from "./media.ts";
import { mirroredValue } from "./mirror.ts";
import { type ContentPart, contentParts, jsonText, type ToolResult } from "./parts.ts";

/**
 * What a person should see of a result, in a terminal or a log. Nothing is shown twice: where the text is only the
 * JSON of the structured content, it is shown once, indented. Not made safe for a terminal: see `printable`.
 */
export function contentToText(result: ToolResult): string {
  const parts = contentParts(result);
  const mirrored = mirroredValue(parts, result.structuredContent);
  const isWorthIndenting = mirrored !== undefined && !isPlain(mirrored.value);
  const shown = parts.filter((part) => !(isWorthIndenting && part.kind === "text")).map(partToText);
  if (isWorthIndenting) shown.unshift(jsonText(mirrored.value, 2));
  else if (result.structuredContent !== undefined && !mirrored) {
    shown.push(jsonText(result.structuredContent, 2));
  }
  return shown.join("\n");
}

export function partToText(part: ContentPart): string {
  switch (part.kind) {
    case "text":
    case "resource":
      return part.text;
    case "link":
      return part.name ? `${part.uri} (${part.name})` : part.uri;
    case "other":
      return jsonText(part.value, 2);
    default:
      return `[${describeMedia(part)}]`;
  }
}

/** Texts are better as the server wrote them, one a line. */
function isPlain(value: unknown): boolean {
  return (
    typeof value !== "object" || (Array.isArray(value) && value.every((item) => typeof item === "string"))
  );
}
