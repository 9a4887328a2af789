import { describeMedia } from "./media.ts";
import { mirroredValue } from "./mirror.ts";
import { type ContentPart, contentParts, jsonText, type ToolResult } from "./parts.ts";

/**
 * The text of a result for a terminal or a log. If the text parts only repeat the structured content as JSON, it is
 * shown once, indented. The output is not escaped: before you print it to a terminal, replace its control characters.
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

/** One part as text; media become a placeholder. */
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

/** Strings are better shown as the server wrote them, one per line. */
function isPlain(value: unknown): boolean {
  return (
    typeof value !== "object" || (Array.isArray(value) && value.every((item) => typeof item === "string"))
  );
}
